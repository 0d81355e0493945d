package lock

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
)

// noteLimit is more than a pid and a command need and keeps a wrong file from being read into memory.
const noteLimit = 4 << 10

// note is what stands in a pidfile.
type note struct {
	pid     int // 0: none that can be read
	command string
}

func (n note) String() string { return fmt.Sprintf("%d\n%s\n", n.pid, n.command) }

// newNote is the note of this process. The command stays one line whatever is in it.
func newNote(command string) note {
	oneLine := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, command)
	return note{pid: os.Getpid(), command: oneLine[:min(len(oneLine), noteLimit/2)]}
}

func parseNote(text string) note {
	first, rest, _ := strings.Cut(text, "\n")
	// 31 bits: no platform has larger pids, and no sign is accepted, since kill reads a negative pid as a group.
	pid, err := strconv.ParseUint(strings.TrimSpace(first), 10, 31)
	if err != nil || pid == 0 {
		return note{}
	}
	second, _, _ := strings.Cut(rest, "\n")
	return note{pid: int(pid), command: strings.TrimSpace(second)}
}

func readNote(f io.ReaderAt) (note, error) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, noteLimit))
	if err != nil {
		return note{}, fmt.Errorf("read the pidfile: %w", err)
	}
	return parseNote(string(b)), nil
}

// readOld reads the note of a file that is to be removed. One of the name that is ours goes whatever is in it, as the next
// holder would write over it. It returns an error for one of another name that holds something else than a pid and a
// command, or nothing: whoever named it meant another file.
func readOld(f io.ReaderAt, path string) (note, error) {
	b, err := io.ReadAll(io.NewSectionReader(f, 0, noteLimit))
	if err != nil {
		return note{}, fmt.Errorf("read the pidfile: %w", err)
	}
	text := strings.Trim(string(b), "\x00 \t\r\n") // a power cut may leave zeros
	old := parseNote(text)
	if filepath.Base(path) != File && text != "" && (old.pid == 0 || len(b) == noteLimit || strings.Count(text, "\n") > 1) {
		return note{}, fmt.Errorf("%s is not locked and is no pidfile (a pid, and a line with the command): it is left as it is; if nobody needs it, remove it with 'rm %s'",
			path, shellQuote(path))
	}
	return old, nil
}

// writeNote replaces what stands in the pidfile. Only the holder may, so that nobody reads the pid of one who lost (L4).
func writeNote(f *os.File, n note) error {
	if err := f.Truncate(0); err != nil {
		return fmt.Errorf("write the pidfile: %w", err)
	}
	if _, err := f.WriteAt([]byte(n.String()), 0); err != nil {
		return fmt.Errorf("write the pidfile: %w", err)
	}
	if err := f.Sync(); err != nil {
		return fmt.Errorf("write the pidfile: %w", err)
	}
	return nil
}

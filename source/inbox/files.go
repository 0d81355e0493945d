package inbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

const (
	// maxFile bounds a file, in bytes (P10): far more than anybody writes by
	// hand.
	maxFile = 1 << 20
	// settleTime is how long a file without a newline at its end may still grow.
	settleTime = 2 * time.Second
	// maxSaid bounds what is remembered of complaints.
	maxSaid = 1000
)

// errUnfinished says that a file is still being written.
var errUnfinished = errors.New("it is still being written; it is read again next cycle")

// full is the path of something in the inbox, for people.
func (s *Source) full(parts ...string) string {
	return filepath.Join(append([]string{s.path}, parts...)...)
}

// trusted refuses what somebody else may have written: whoever can write here
// speaks for everybody.
func trusted(info fs.FileInfo) error {
	if info.Mode()&0o002 != 0 {
		return fmt.Errorf("anybody may write it (mode %04o); run: chmod o-w", info.Mode().Perm())
	}
	if uid, mine := ownedByUs(info); !mine {
		return fmt.Errorf("it belongs to user %d, neither to us nor to root; run: chown", uid)
	}
	return nil
}

// checkFolder refuses a folder that is a link, no folder, or not trusted.
func (s *Source) checkFolder(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a folder (%s); links are not followed", s.full(name), kindOf(info))
	}
	if err := trusted(info); err != nil {
		return fmt.Errorf("%s: %w", s.full(name), err)
	}
	return nil
}

// read returns a file's bytes, if it is a plain file of ours that is not still
// being written. The file that is read is the one that was judged.
func (s *Source) read(root *os.Root, name string) ([]byte, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if err := plain(info); err != nil {
		return nil, fmt.Errorf("%s: %w", s.full(name), err)
	}
	// Without O_NONBLOCK a pipe that took the file's place would hold us.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, errors.Join(fmt.Errorf("%s changed while it was opened", s.full(name)), err)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", s.full(name), err)
	case len(text) > maxFile:
		return nil, fmt.Errorf("%s is larger than %d MiB", s.full(name), maxFile>>20)
	case s.young(info) && (len(text) == 0 || text[len(text)-1] != '\n'):
		return nil, fmt.Errorf("%s: %w", s.full(name), errUnfinished)
	}
	return text, nil
}

func plain(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is not a plain file (%s); links are not followed", kindOf(info))
	}
	return trusted(info)
}

// young reports whether something changed less than two seconds ago. A time
// that lies further ahead is a wrong clock, and would never grow old.
func (s *Source) young(info fs.FileInfo) bool {
	return s.now().Sub(info.ModTime()).Abs() < settleTime
}

func kindOf(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode.IsRegular():
		return "a file"
	default:
		return "a special file"
	}
}

// onceLog says what is wrong with a file once, until it changes its fault.
type onceLog struct {
	log  *slog.Logger
	mu   sync.Mutex
	said map[string]string
}

func (o *onceLog) warn(path string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.said[path] == err.Error() {
		return
	}
	if o.said == nil || len(o.said) >= maxSaid {
		o.said = make(map[string]string)
	}
	o.said[path] = err.Error()
	o.log.Warn("comment left out", "path", path, "error", err)
}

package eventlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// rotate begins a new file when the next line would make this one too large. The
// older ones are FILE.1 (the youngest), FILE.2 and so on. A file that cannot be
// renamed is written to as it is, and that is warned of.
func (l *Log) rotate(next int) error {
	if l.rotation == nil || l.size == 0 || l.atHome() != nil {
		return nil
	}
	most, keep := l.rotation()
	if most <= 0 || l.size+int64(next) <= most {
		return nil
	}
	if err := shift(l.path, max(1, keep)); err != nil {
		l.warn("rotate", "the event log cannot be rotated and grows on", "error", err)
		return nil
	}
	_ = l.file.Close() // every line is in it already
	l.file = nil
	return l.open()
}

// shift makes room at path: each file gets the number above its own, up to keep;
// what had that one is gone. Renaming loses no line, also of those who still have
// a file open.
func shift(path string, keep int) error {
	last := 1
	for ; last < keep; last++ {
		if _, err := os.Lstat(numbered(path, last)); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	for n := last; n > 0; n-- {
		if err := os.Rename(numbered(path, n-1), numbered(path, n)); err != nil {
			return err
		}
	}
	return nil
}

// numbered is the name of the nth file before the one at path.
func numbered(path string, n int) string {
	if n == 0 {
		return path
	}
	return fmt.Sprintf("%s.%d", path, n)
}

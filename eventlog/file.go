package eventlog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

const (
	fileMode   = 0o600 // the trail names people and paths; it is nobody else's
	folderMode = 0o700
)

// ensure makes the path lead to the open file, opening it (again) if need be.
func (l *Log) ensure() error {
	away := l.atHome()
	switch {
	case away != nil && l.file == nil:
		return away
	case away != nil:
		return nil // it has gone with its root
	case l.file == nil:
		return l.open()
	}
	info, err := os.Lstat(l.path)
	switch {
	case errors.Is(err, os.ErrNotExist), err == nil && !os.SameFile(info, l.id):
		l.leave()
		return l.open()
	case err != nil:
		// The file is still ours to write, whatever became of the way to it.
		return nil
	case info.Size() < l.size:
		l.warn("truncated", "the event log was truncated by another program, lines are lost; rotate it by renaming it")
	}
	l.size = info.Size()
	return nil
}

// atHome returns an error when the root is not there, or is another one than at
// the first event.
func (l *Log) atHome() error {
	if l.root == "" {
		return nil
	}
	info, err := os.Stat(l.root)
	switch {
	case err != nil:
		return fmt.Errorf("find the folder that the event log belongs to: %w", err)
	case l.home == nil:
		l.home = info
	case !os.SameFile(info, l.home):
		return fmt.Errorf("%s is not the folder any more that the event log belongs to", l.root)
	}
	return nil
}

// leave closes a file that no longer stands at the path.
func (l *Log) leave() {
	if removed(l.file) {
		l.warn("removed", "the event log was removed by another program, lines are lost; it is made again")
	}
	// Every line is already in the file; there is nothing to lose by closing it.
	_ = l.file.Close()
	l.file = nil
}

// open opens or makes the file, refusing anything that is not one.
func (l *Log) open() error {
	if err := os.MkdirAll(filepath.Dir(l.path), folderMode); err != nil {
		return fmt.Errorf("make the folder of the event log: %w", err)
	}
	// Asked before opening: to open a FIFO or a device can have effects.
	if info, err := os.Lstat(l.path); err == nil && !info.Mode().IsRegular() {
		return notAFile(l.path, info)
	}
	f, err := os.OpenFile(l.path, os.O_RDWR|os.O_APPEND|os.O_CREATE|guardFlags, fileMode)
	if err != nil {
		return fmt.Errorf("open the event log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notAFile(l.path, info)
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	l.file, l.id, l.size, l.torn = f, info, info.Size(), false
	return nil
}

func notAFile(path string, info os.FileInfo) error {
	return fmt.Errorf("open the event log: %s is not a regular file (%s); move it away", path, info.Mode().Type())
}

// endsInNewline reads the last byte of the file. A line that another process
// is just writing may look torn; then an empty line results, which no reader
// minds.
func (l *Log) endsInNewline() bool {
	if l.size == 0 {
		return true
	}
	var last [1]byte
	n, err := l.file.ReadAt(last[:], l.size-1)
	return err == nil && n == 1 && last[0] == '\n'
}

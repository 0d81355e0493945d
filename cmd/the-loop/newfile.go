package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"theloop/lock"
)

// A part is a file that is being written; its name has digits between these.
const partPrefix, partSuffix = ".the-loop-backup-", ".part"

// newFile makes a file that was not there, whole or not at all. What was killed while
// it made one in the same folder, before a moment, left a part there: that is removed.
func newFile(path string, before time.Time, fill func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return thereAlready(path)
	}
	dir := filepath.Dir(path)
	sweepParts(dir, before)
	tmp, err := os.CreateTemp(dir, partPrefix+"*"+partSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("make %s: there is no folder %s; make it first, or name another file", path, dir)
	}
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already when it went well
	_ = lock.HoldWhileOpen(tmp)                  // without locks a part that is left stays
	err = fill(tmp)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return giveName(tmp.Name(), path, os.Link)
}

// sweepParts removes the parts that nobody writes any more. One that cannot be removed
// does not keep the next file from being made.
func sweepParts(dir string, before time.Time) {
	entries, _ := os.ReadDir(dir) // making the file says why it cannot be read
	for _, e := range entries {
		if isPart(e.Name()) {
			_, _ = lock.RemoveLeft(filepath.Join(dir, e.Name()), before)
		}
	}
}

func isPart(name string) bool {
	rest, ours := strings.CutPrefix(name, partPrefix)
	digits, part := strings.CutSuffix(rest, partSuffix)
	return ours && part && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// giveName gives a file a name that nobody has. Unlike a rename, a second name never
// takes one away; file systems that have none (FAT, some over a network) get the
// name reserved first.
func giveName(from, to string, link func(from, to string) error) error {
	err := link(from, to)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if !errors.Is(err, fs.ErrExist) {
		var reserved *os.File
		if reserved, err = os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			if err = errors.Join(reserved.Close(), os.Rename(from, to)); err != nil {
				return errors.Join(err, os.Remove(to))
			}
			return nil
		}
	}
	if errors.Is(err, fs.ErrExist) {
		return thereAlready(to)
	}
	return err
}

func thereAlready(path string) error {
	return fmt.Errorf("%s is there already and is left as it is; name another file", path)
}

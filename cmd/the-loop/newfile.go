package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// newFile makes a file that was not there, whole or not at all.
func newFile(path string, fill func(io.Writer) error) (err error) {
	if _, err := os.Lstat(path); err == nil {
		return thereAlready(path)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".the-loop-*")
	if err != nil {
		return fmt.Errorf("make %s: %w", path, err)
	}
	defer func() { _ = os.Remove(tmp.Name()) }() // gone already when it went well
	err = fill(tmp)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err != nil {
		return err
	}
	return giveName(tmp.Name(), path, os.Link)
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

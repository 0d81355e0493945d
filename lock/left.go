//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// HoldWhileOpen marks a file that is being written: until it is closed, or its process has ended, however that came (L5),
// RemoveLeft leaves it alone. It returns an error where the file system has no locks.
func HoldWhileOpen(f *os.File) error { return newFlocker().call(f, unix.LOCK_EX|unix.LOCK_NB) }

// RemoveLeft removes a file that was being written by a process which has ended, and reports whether it did. What somebody
// holds, what was written to since a moment, and what is another user's or no regular file stays as it is.
func RemoveLeft(path string, since time.Time) (bool, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|careful, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() || int(st.Uid) != os.Geteuid() || info.ModTime().After(since) {
		return false, nil
	}
	err = HoldWhileOpen(f)
	if errors.Is(err, errBusy) {
		return false, nil
	}
	if err == nil {
		err = inPlace(f, path)
	}
	if err == nil {
		err = os.Remove(path)
	}
	return err == nil, err
}

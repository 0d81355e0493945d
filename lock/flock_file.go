//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// filePerm is the mode of every pidfile of ours (L9).
const filePerm = 0o600

// maxInterrupted bounds how often an interrupted system call is made again.
const maxInterrupted = 100

// careful are the flags of every open: never through a symlink, never waiting for the other end of a pipe. Close-on-exec is
// set by the os package, so that nothing started from here inherits the lock (L6).
const careful = unix.O_NOFOLLOW | unix.O_NONBLOCK

// errBusy says that the lock was not to be had at this instant.
var errBusy = errors.New("locked")

// openPidfile opens the pidfile for its holder-to-be and says whether it had to be made. ErrReplaced: look again.
func openPidfile(path string, create bool) (f *os.File, created bool, err error) {
	if err := checkName(path); err != nil {
		return nil, false, err
	}
	f, err = os.OpenFile(path, os.O_RDWR|careful, 0)
	if create && errors.Is(err, fs.ErrNotExist) {
		f, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|careful, filePerm)
		created = err == nil
	}
	if created || err == nil {
		return checked(f, path, created)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, false, ErrReplaced
	}
	return nil, false, fmt.Errorf("open the pidfile: %w", err)
}

func openToAsk(path string) (*os.File, error) {
	if err := checkName(path); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_RDONLY|careful, 0)
	if err != nil {
		return nil, fmt.Errorf("open the pidfile: %w", err)
	}
	f, _, err = checked(f, path, false)
	return f, err
}

// checked closes what turns out not to be a pidfile.
func checked(f *os.File, path string, created bool) (*os.File, bool, error) {
	info, err := f.Stat()
	if err == nil {
		err = checkFile(path, info, os.Geteuid())
	}
	if err != nil {
		return nil, false, errors.Join(err, f.Close())
	}
	return f, created, nil
}

// checkFile refuses, by name, an open file that is none of ours (L9). Of a file with a second name the other one may be
// anything, and our pid would be written into it.
func checkFile(path string, info fs.FileInfo, uid int) error {
	if err := checkKind(path, info); err != nil {
		return err
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("look at the pidfile %s: no owner is known", path)
	}
	switch {
	case int(st.Uid) != uid:
		return fmt.Errorf("pidfile %s belongs to user %d and this process runs as user %d: run it as that user, or remove the file with 'rm %s'", path, st.Uid, uid, shellQuote(path))
	case st.Nlink == 0:
		return ErrReplaced
	case st.Nlink > 1:
		return fmt.Errorf("pidfile %s is one of %d names of a file, and that is not written to: remove this name with 'rm %s'", path, st.Nlink, shellQuote(path))
	}
	return nil
}

// call is flock with its errors told apart.
func (k flocker) call(f *os.File, how int) error {
	err := k.flock(int(f.Fd()), how)
	for range maxInterrupted {
		if !errors.Is(err, unix.EINTR) {
			break
		}
		err = k.flock(int(f.Fd()), how)
	}
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return errBusy
	case errors.Is(err, unix.ENOLCK), errors.Is(err, unix.EIO), errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOSYS):
		return fmt.Errorf("lock the pidfile %s: %w (%w)", f.Name(), ErrNoLocks, err)
	}
	return fmt.Errorf("lock the pidfile %s: %w", f.Name(), err)
}

func inPlace(f *os.File, path string) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("look at the pidfile: %w", err)
	}
	same, err := isAt(path, info)
	if err != nil {
		return fmt.Errorf("look at the pidfile: %w", err)
	}
	if !same {
		return ErrReplaced
	}
	return nil
}

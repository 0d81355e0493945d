package store

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// place renames without replacing: a ledger that another process made meanwhile
// must not lose its name. File systems that cannot do that get a plain rename,
// where the run lock alone keeps makers apart.
func place(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return os.Rename(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

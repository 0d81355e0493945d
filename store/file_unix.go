//go:build unix

package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// noFollow makes opening a symbolic link an error, and opening a FIFO return.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// notOurs says why a regular file is not ours, and "" when it is. A second name
// would let somebody else replace or write what we hold.
func notOurs(info fs.FileInfo) string {
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok:
		return ""
	case int(stat.Uid) != os.Geteuid():
		return fmt.Sprintf("belongs to user %d, this is user %d", stat.Uid, os.Geteuid())
	case stat.Nlink != 1:
		return fmt.Sprintf("has %d names (hard links), it may have one", stat.Nlink)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Sprintf("may be written by others (mode %04o): `chmod go-w` it", info.Mode().Perm())
	}
	return ""
}

// syncFolder puts a rename in it on disk.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	err = dir.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil // a file system whose folders cannot be synced
	}
	return errors.Join(err, dir.Close())
}

package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// overNetwork returns what kind of file system a file is on, when it is one
// whose locks and maps are not to be relied on, and "" for any other.
func overNetwork(f *os.File) string {
	var info unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &info); err != nil {
		return ""
	}
	return networkKind(uint32(info.Type))
}

// networkKind is by the magic number of a file system. FUSE is also what
// virtiofs and most of what containers share with their host call themselves.
func networkKind(magic uint32) string {
	switch magic {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.FUSE_SUPER_MAGIC:
		return "FUSE"
	case unix.V9FS_MAGIC:
		return "9p"
	}
	return ""
}

//go:build unix

package inbox

import (
	"io/fs"
	"os"
	"syscall"
)

// ownedByUs reports whether a file belongs to this process's user or to root.
func ownedByUs(info fs.FileInfo) (uid int, ok bool) {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return -1, false
	}
	uid = int(stat.Uid)
	return uid, uid == os.Geteuid() || uid == 0
}

//go:build unix

package eventlog

import (
	"os"
	"syscall"
)

// guardFlags keep open from following a link and from waiting for the other
// end of a FIFO.
const guardFlags = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// readFlags let a reader follow a link, which does no harm, but not wait.
const readFlags = syscall.O_NONBLOCK

// writeOnce is one write(2). os.File.Write goes on after a short one, and what
// another process wrote meanwhile would stand inside of the line.
func writeOnce(f *os.File, line []byte) (int, error) {
	for {
		n, err := syscall.Write(int(f.Fd()), line)
		if err != syscall.EINTR {
			return max(n, 0), err
		}
	}
}

// removed reports that no path leads to f any more.
func removed(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && stat.Nlink == 0
}

//go:build unix

package daemon

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// privateUmask keeps what this process makes from everybody else.
const privateUmask = 0o077

// harden dumps no core, which could hold what people wrote and a token, and
// makes what is made private until restore is called: the socket has no mode of
// its own when it is bound. After that the user's own umask is back, since a tmux
// server that we start, and the agents in it, inherit it; our files name their
// modes.
func harden() (restore func()) {
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	before := syscall.Umask(privateUmask)
	return func() { syscall.Umask(before) }
}

//go:build unix

package daemon

import (
	"os"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// privateUmask keeps what this process makes from everybody else.
const privateUmask = 0o077

// harden keeps what it inherited to itself, dumps no core, which could hold what people wrote and a token, and
// makes what is made private until restore is called: the socket has no mode of
// its own when it is bound. After that the user's own umask is back, since a tmux
// server that we start, and the agents in it, inherit it; our files name their
// modes.
func harden() (restore func()) {
	keepInherited()
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
	before := syscall.Umask(privateUmask)
	return func() { syscall.Umask(before) }
}

// keepInherited keeps to this process what a wrapper left open in it: a tmux
// server that got the descriptor of `flock FILE the-loop …` would hold that lock
// for its whole life (L6).
func keepInherited() {
	const first = 3 // behind stdin, stdout and stderr
	open, err := os.ReadDir("/dev/fd")
	if err != nil {
		return // a system that does not list them
	}
	for _, entry := range open {
		if fd, err := strconv.Atoi(entry.Name()); err == nil && fd >= first {
			unix.CloseOnExec(fd)
		}
	}
}

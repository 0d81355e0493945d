//go:build unix

package daemon

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// privateUmask keeps what this process makes from everybody else.
const privateUmask = 0o077

// harden makes files private and dumps no core: both could hold what people
// wrote, and a token.
func harden() {
	syscall.Umask(privateUmask)
	_ = unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{})
}

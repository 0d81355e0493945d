//go:build unix

package tmux

import (
	"syscall"
	"testing"
)

func kill(t *testing.T, pid int) {
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && err != syscall.ESRCH {
		t.Error(err)
	}
}

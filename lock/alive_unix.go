//go:build unix

package lock

import (
	"errors"
	"syscall"
)

// alive says whether there is a process of that pid, whoever owns it.
func alive(pid int) bool {
	if pid <= 0 {
		return false
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

//go:build unix

package store

import (
	"os"
	"syscall"
)

// faulted reports whether a page fault ended a process.
func faulted(state *os.ProcessState) bool {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return status.Signal() == syscall.SIGBUS || status.Signal() == syscall.SIGSEGV
	}
	return state.ExitCode() == crashed
}

//go:build !unix

package store

import "os"

// faulted reports whether a page fault ended a process.
func faulted(state *os.ProcessState) bool { return state.ExitCode() == crashed }

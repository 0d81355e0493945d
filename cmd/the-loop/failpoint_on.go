//go:build failpoint

package main

import (
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
)

// failpoint kills this process at the point that THE_LOOP_FAILPOINT names, the
// n-th time that it comes there with NAME:n. It is built for tests alone.
func failpoint(env func(string) string) func(string) {
	name, times, _ := strings.Cut(env("THE_LOOP_FAILPOINT"), ":")
	if name == "" {
		return nil
	}
	var left atomic.Int64
	left.Store(1)
	if n, err := strconv.ParseInt(times, 10, 64); err == nil {
		left.Store(n)
	}
	return func(at string) {
		if at == name && left.Add(-1) == 0 {
			_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
			select {} // until it takes effect
		}
	}
}

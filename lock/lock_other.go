//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package lock

func platform() mechanism { return newPidLiveness() }

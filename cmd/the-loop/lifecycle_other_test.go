//go:build !linux

package main_test

// systemTests needs what only Linux has: strace, /proc, prlimit.
func systemTests() map[string]func(*life) { return nil }

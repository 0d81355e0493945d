//go:build !failpoint

package main

// failpoint is off in every release: see the one that is built with the tag.
func failpoint(func(string) string) func(string) { return nil }

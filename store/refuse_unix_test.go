//go:build unix

package store_test

import (
	"testing"

	"golang.org/x/sys/unix"
)

func fifo(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o600)) }

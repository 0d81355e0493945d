//go:build unix

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"theloop/store"
)

// TestNotOurs: a ledger that belongs to somebody else is not opened.
func TestNotOurs(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a file away")
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 1)
	must(t, os.Chown(path, 12345, -1))
	_, err := store.Open(t.Context(), options(path))
	var damaged *store.DamagedError
	if !errors.As(err, &damaged) || !strings.Contains(err.Error(), "user 12345") {
		t.Fatalf("%v", err)
	}
}

func fifo(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o600)) }

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

// TestWritableByOthers: a ledger that others may write to is refused, and left
// with the mode that it has.
func TestWritableByOthers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 1)
	for _, mode := range []os.FileMode{0o620, 0o602, 0o666} {
		must(t, os.Chmod(path, mode))
		_, err := store.Open(t.Context(), options(path))
		var damaged *store.DamagedError
		if !errors.As(err, &damaged) || !strings.Contains(err.Error(), "chmod go-w") {
			t.Errorf("%o: %v", mode, err)
		}
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%o became %v, %v", mode, info.Mode(), err)
		}
	}
	must(t, os.Chmod(path, 0o644))
	shut(t, open(t, path))
}

func fifo(t *testing.T, path string) { must(t, unix.Mkfifo(path, 0o600)) }

// Package storetest opens ledgers for tests. Every ledger that it opens is
// checked when its test ends, so that no test leaves a fault unseen.
package storetest

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"testing"

	"theloop/store"
)

// Writer is the release that the ledgers of tests are written by.
const Writer = "0.0.0-test"

// Open opens a new ledger in a folder of its own. When the test ends it is
// closed, if the test did not do that, and checked.
func Open(t testing.TB) *store.Ledger {
	t.Helper()
	return OpenAt(t, filepath.Join(t.TempDir(), "ledger.db"))
}

// OpenAt is Open for the ledger at a path; it is made when it is missing. A path
// may be opened again once the ledger before was closed.
func OpenAt(t testing.TB, path string) *store.Ledger {
	t.Helper()
	l, err := store.Open(t.Context(), store.Options{Path: path, Writer: Writer})
	if err != nil {
		t.Fatalf("open a ledger: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil && !errors.Is(err, fs.ErrClosed) {
			t.Errorf("close the ledger: %v", err)
		}
		Check(t, path)
	})
	return l
}

// Check fails the test when the ledger at the path, which is not open, has a
// fault. A path with nothing at it has none.
func Check(t testing.TB, path string) {
	t.Helper()
	ctx := context.Background() // t.Context is over when cleanups run
	problems, err := store.CheckFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		t.Errorf("check the ledger: %v", err)
	}
	for _, p := range problems {
		t.Errorf("ledger %s: %s", path, p)
	}
}

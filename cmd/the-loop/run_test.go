package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// What may not be done says as whom it was tried, and what to do about it.
func TestPermissionDenied(t *testing.T) {
	var stderr strings.Builder
	err := fmt.Errorf("open the ledger: %w", &os.PathError{Op: "open", Path: "/there/ledger.db", Err: syscall.EACCES})
	if code := report(&stderr, err); code != exitFailed {
		t.Errorf("exit code %d", code)
	}
	want := fmt.Sprintf("the-loop: open the ledger: open /there/ledger.db: permission denied; this process runs as user %d: "+
		"run it as the one whom that belongs to, or mend its permissions\n", os.Geteuid())
	if stderr.String() != want {
		t.Errorf("got  %q\nwant %q", stderr.String(), want)
	}
}

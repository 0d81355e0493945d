package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A file system without hard links, such as that of most USB sticks, takes a backup
// as well, and neither way takes a name away.
func TestGiveName(t *testing.T) {
	none := func(from, to string) error { return &os.LinkError{Op: "link", Old: from, New: to, Err: syscall.EPERM} }
	for name, link := range map[string]func(string, string) error{"with links": os.Link, "without": none} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			from, to := filepath.Join(dir, "from"), filepath.Join(dir, "to")
			if err := os.WriteFile(from, []byte("whole"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := giveName(from, to, link); err != nil {
				t.Fatal(err)
			}
			_ = os.Remove(from) // with links, it is the same file
			if err := os.WriteFile(from, []byte("another"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := giveName(from, to, link); err == nil || !strings.Contains(err.Error(), to+" is there already") {
				t.Errorf("a name that is taken: %v", err)
			}
			if got, err := os.ReadFile(to); err != nil || string(got) != "whole" {
				t.Errorf("it has %q (%v)", got, err)
			}
		})
	}
}

// What only looks like a part is somebody else's.
func TestIsPart(t *testing.T) {
	for name, want := range map[string]bool{
		".the-loop-backup-123.part": true, ".the-loop-backup-.part": false, ".the-loop-backup-notes.part": false, "123.part": false,
		".the-loop-backup-123": false, ".the-loop-123.part": false, ".the-loop-backup-123.part.gz": false, "x.the-loop-backup-1.part": false,
	} {
		if got := isPart(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

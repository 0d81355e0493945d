package lock

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// T1: a pid that is alive and not the holder's is found out.
func TestHasOpen(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	holder, other := startChild(t, path), startChild(t, path)
	holder.mustAcquire("poll start")
	other.do("storm")
	other.do("calm")
	for pid, want := range map[int]bool{holder.pid: true, other.pid: false, 1<<31 - 1: false} {
		if open, known := HasOpen(path, pid); !known || open != want {
			t.Errorf("pid %d: open %t, known %t, want %t", pid, open, known, want)
		}
	}
	holder.do("release")
	if _, known := HasOpen(path, holder.pid); known {
		t.Error("known without a file")
	}
}

// T4
func TestHolderCommandLine(t *testing.T) {
	if got := HolderCommandLine(os.Getpid()); !strings.HasPrefix(got, os.Args[0]) || strings.ContainsRune(got, 0) {
		t.Errorf("got %q", got)
	}
	if got := HolderCommandLine(1<<31 - 1); got != "" {
		t.Errorf("of nobody: %q", got)
	}
}

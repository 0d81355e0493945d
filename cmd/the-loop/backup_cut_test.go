package main_test

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"theloop/daemon"
	"theloop/localapi"
	"theloop/lock"
)

// A backup that is cut by a signal leaves nothing behind, however slowly it comes.
func TestBackupCut(t *testing.T) {
	t.Parallel()
	l := newLife(t, programs{loop: inPath(t, "the-loop"), agent: inPath(t, "agent")})
	l.write(".the-loop/README", "a state root\n")
	held, err := lock.Acquire(t.Context(), l.pidfile(), daemon.LockName, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Release() })
	socket, err := localapi.Listen(l.root())
	if err != nil {
		t.Fatal(err)
	}
	slow := http.NewServeMux()
	slow.HandleFunc("GET /v1/status", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("{}")) })
	slow.HandleFunc("GET /v1/backup", func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte("a part of it"))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	server := &http.Server{Handler: slow}
	go func() { _ = server.Serve(socket) }()
	t.Cleanup(func() { _ = server.Close() })
	if err := os.Mkdir(l.path("copies"), 0o700); err != nil {
		t.Fatal(err)
	}
	there := func() int {
		entries, err := os.ReadDir(l.path("copies"))
		if err != nil {
			t.Fatal(err)
		}
		return len(entries)
	}
	p := l.launch(l.command(l.bin.loop, "ledger", "backup", filepath.Join("copies", "copy.db")))
	l.until("it is being written", func() bool { return there() == 1 })
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 1 || there() != 0 {
		t.Errorf("exit code %d, %d files: %s", code, there(), &p.stderr)
	}

	// Killed, it leaves a part. A later one removes that, and neither the part of one
	// that goes on, nor what only looks like one.
	p = l.launch(l.command(l.bin.loop, "ledger", "backup", filepath.Join("copies", "copy.db")))
	l.until("it is being written", func() bool {
		parts, _ := filepath.Glob(l.path("copies/.the-loop-*"))
		return len(parts) == 1 && !empty(parts[0])
	})
	p.signal(syscall.SIGKILL)
	p.wait()
	parts, err := filepath.Glob(l.path("copies/.the-loop-*"))
	if err != nil || len(parts) != 1 {
		t.Fatalf("left behind: %q, %v", parts, err)
	}
	killed := parts[0]
	l.write("copies/.the-loop-backup-notes.part", "a person's")
	goesOn := l.launch(l.command(l.bin.loop, "ledger", "backup", filepath.Join("copies", "slow.db")))
	l.until("another is being written", func() bool {
		parts, _ = filepath.Glob(l.path("copies/.the-loop-*"))
		return len(parts) == 3 && !slices.ContainsFunc(parts, empty)
	})
	old := time.Now().Add(-time.Hour)
	for _, part := range parts {
		if err := os.Chtimes(part, old, old); err != nil {
			t.Fatal(err)
		}
	}
	p = l.launch(l.command(l.bin.loop, "ledger", "backup", filepath.Join("copies", "copy.db")))
	l.until("the part is gone", func() bool { _, err := os.Lstat(killed); return os.IsNotExist(err) })
	l.until("it is being written", func() bool { return there() == 3 })
	for _, part := range parts {
		if _, err := os.Lstat(part); err != nil && part != killed {
			t.Errorf("not its own: %v", err)
		}
	}
	for _, p := range []*process{p, goesOn} {
		p.signal(syscall.SIGTERM)
		p.wait()
	}
	if there() != 1 {
		t.Errorf("%d files are left", there())
	}
}

func empty(path string) bool {
	info, err := os.Lstat(path)
	return err != nil || info.Size() == 0
}

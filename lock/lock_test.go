package lock

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var background = context.Background()

func mustAcquire(t testing.TB, path, command string) *RunLock {
	t.Helper()
	l, err := Acquire(background, path, command, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Release() })
	return l
}

func mustProbe(t testing.TB, path string) Status {
	t.Helper()
	s, err := Probe(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func mustWrite(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func mustRead(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// fingerprint is everything below dir that a refused start could have changed.
func fingerprint(t testing.TB, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			fmt.Fprintln(h, mustRead(t, path))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// L1, L2: however many start at once, one polls, and the others say who.
func TestOfEightStartersOneWinsAndSevenNameIt(t *testing.T) {
	const roots = 5 // side by side, since a refusal waits for 200 ms
	for n := range roots {
		t.Run(fmt.Sprint("root ", n), func(t *testing.T) {
			t.Parallel()
			eightStarters(t, max(1, rounds(t, raceRounds)/roots))
		})
	}
}

func eightStarters(t *testing.T, rounds int) {
	path := filepath.Join(t.TempDir(), File)
	var all []*child
	for range 8 {
		all = append(all, startChild(t, path))
	}
	for round := range rounds {
		at := time.Now().Add(20 * time.Millisecond).UnixNano()
		for i, c := range all {
			c.begin("acquire %d poll start --once %d", at, i)
		}
		var winner *child
		var command string
		var refused []answer
		for i, c := range all {
			a := c.end()
			switch {
			case !a.OK:
				refused = append(refused, a)
			case winner != nil:
				t.Fatalf("round %d: pid %d and pid %d both hold the lock", round, winner.pid, c.pid)
			default:
				winner, command = c, fmt.Sprintf("poll start --once %d", i)
			}
		}
		if winner == nil {
			t.Fatalf("round %d: nobody holds the lock: %+v", round, refused)
		}
		for _, a := range refused {
			if a.HeldBy != winner.pid || a.Command != command {
				t.Fatalf("round %d: refused naming pid %d (%s), want pid %d (%s): %s", round, a.HeldBy, a.Command, winner.pid, command, a.Err)
			}
		}
		winner.do("release")
	}
}

// L1: the ledger and all else is as it was after a refusal.
func TestRefusalChangesNoByte(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	mustWrite(t, filepath.Join(dir, "ledger.db"), "ledger")
	startChild(t, path).mustAcquire("poll start")
	before := fingerprint(t, dir)

	_, err := Acquire(background, path, "poll start", nil)
	var held *HeldError
	if !errors.As(err, &held) {
		t.Fatalf("got %v, want a HeldError", err)
	}
	if after := fingerprint(t, dir); after != before {
		t.Error("a refused start changed something below the state root")
	}
}

// L3
func TestTwoRootsAreIndependent(t *testing.T) {
	dir := t.TempDir()
	mustAcquire(t, filepath.Join(dir, "a.pid"), "poll start")
	mustAcquire(t, filepath.Join(dir, "b.pid"), "poll start")
}

// L4
func TestPidfileFormat(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	l := mustAcquire(t, path, "ledger compact\n--evil")
	want := fmt.Sprintf("%d\nledger compact --evil\n", os.Getpid())
	if got := mustRead(t, path); got != want {
		t.Errorf("pidfile holds %q, want %q", got, want)
	}
	if l.StalePID != 0 {
		t.Errorf("took over pid %d of no file", l.StalePID)
	}
}

// L4: a shorter note leaves nothing of a longer one behind. L5: a corrupt one is no obstacle.
func TestTakeOver(t *testing.T) {
	for name, tt := range map[string]struct {
		text string
		want int
	}{
		"ours":       {"2147483647\npoll start --interval 60s --and more\n", 2147483647},
		"python's":   {"2147483646", 2147483646},
		"empty":      {"", 0},
		"garbage":    {"poller\n", 0},
		"group":      {"-1\n", 0},
		"signed":     {"+2147483646\n", 0},
		"zero":       {"0\n", 0},
		"too large":  {"99999999999\n", 0},
		"large file": {strings.Repeat("x", 1<<20), 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), File)
			mustWrite(t, path, tt.text)
			if s := mustProbe(t, path); s.Held || !s.Stale || s.PID != 0 || s.RecordedPID != tt.want || s.Corrupt != (tt.want == 0) {
				t.Errorf("before: %+v", s) // U5
			}
			l := mustAcquire(t, path, "poll start")
			if l.StalePID != tt.want {
				t.Errorf("took over pid %d, want %d", l.StalePID, tt.want)
			}
			if got, want := mustRead(t, path), fmt.Sprintf("%d\npoll start\n", os.Getpid()); got != want {
				t.Errorf("pidfile holds %q, want %q", got, want)
			}
		})
	}
}

func TestReleaseRemovesThePidfileOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	l := mustAcquire(t, path, "poll start")
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("after release the pidfile is there: %v", err)
	}
	next := mustAcquire(t, path, "poll start")
	if err := l.Release(); err != nil {
		t.Errorf("second release: %v", err)
	}
	if err := next.Check(); err != nil {
		t.Errorf("a second release took the pidfile of the next holder: %v", err)
	}
}

func TestCheckFindsAPidfileThatIsGone(t *testing.T) {
	for name, spoil := range map[string]func(path string) error{
		"removed":  os.Remove,
		"renamed":  func(path string) error { return os.Rename(path, path+".old") },
		"replaced": func(path string) error { return errors.Join(os.Remove(path), os.WriteFile(path, []byte("1\n"), 0o600)) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), File)
			l := mustAcquire(t, path, "poll start")
			if err := l.Check(); err != nil {
				t.Fatal(err)
			}
			if err := spoil(path); err != nil {
				t.Fatal(err)
			}
			before := fingerprint(t, filepath.Dir(path))
			if err := l.Check(); !errors.Is(err, ErrReplaced) || !strings.Contains(err.Error(), path) {
				t.Errorf("got %v, want ErrReplaced naming %s", err, path)
			}
			if err := l.Release(); err != nil {
				t.Errorf("release: %v", err)
			}
			if fingerprint(t, filepath.Dir(path)) != before {
				t.Error("release removed a file that was not the locked one")
			}
		})
	}
}

func TestAcquireNamesPathAndError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", File)
	_, err := Acquire(background, path, "poll start", nil)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v, want fs.ErrNotExist naming %s", err, path)
	}
}

// A start that is told to stop while it waits for the lock does so.
func TestAcquireEndsWithItsContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	startChild(t, path).mustAcquire("poll start")
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(background)
	cancel(stopped)
	if _, err := Acquire(ctx, path, "poll start", nil); !errors.Is(err, stopped) {
		t.Errorf("got %v, want the context's cause", err)
	}
}

func TestHeldErrorNames(t *testing.T) {
	for _, tt := range []struct {
		err  HeldError
		want string
	}{
		{HeldError{Path: "/r/poll.pid", PID: 7, Command: "ledger compact"}, "pidfile /r/poll.pid is locked by pid 7 (ledger compact)"},
		{HeldError{Path: "/r/poll.pid", PID: 7}, "pidfile /r/poll.pid is locked by pid 7"},
		{HeldError{Path: "/r/poll.pid"}, "pidfile /r/poll.pid is locked by a process whose pid cannot be read"},
	} {
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func BenchmarkAcquireRelease(b *testing.B) {
	path := filepath.Join(b.TempDir(), File)
	for b.Loop() {
		l, err := Acquire(background, path, "poll start", nil)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Release(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkProbeStale(b *testing.B) {
	path := filepath.Join(b.TempDir(), File)
	mustWrite(b, path, "1\n")
	benchmarkProbe(b, path)
}

func BenchmarkProbeHeld(b *testing.B) {
	path := filepath.Join(b.TempDir(), File)
	mustAcquire(b, path, "poll start")
	benchmarkProbe(b, path)
}

func benchmarkProbe(b *testing.B, path string) {
	for b.Loop() {
		if _, err := Probe(path); err != nil {
			b.Fatal(err)
		}
	}
}

package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// T4, L11
func TestWhoHoldsTheLock(t *testing.T) {
	for _, tt := range []struct {
		held    bool
		command string
		want    Holder
	}{
		{false, "", Nobody},
		{false, "poll start", Nobody},
		{true, "poll start", Poller},
		{true, "poll start --once", Poller},
		{true, "poll starter", Offline},
		{true, "ledger compact", Offline},
		{true, "", Foreign},
	} {
		if got := newStatus(tt.held, note{pid: 1, command: tt.command}).Holder(); got != tt.want {
			t.Errorf("held %t, command %q: got %d, want %d", tt.held, tt.command, got, tt.want)
		}
	}
}

// L8: asking never makes a file, nor a folder; neither is an error.
func TestProbeOfNothingCreatesNothing(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{filepath.Join(dir, File), filepath.Join(dir, "missing", WebhookFile)} {
		if s := mustProbe(t, path); s != (Status{}) {
			t.Errorf("%s: %+v", path, s)
		}
		if err := WaitFree(background, path, 0); err != nil {
			t.Errorf("wait for %s: %v", path, err)
		}
		if _, err := RemoveStale(background, path); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("remove %s: %v", path, err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

// L8, T1: a probe changes nothing, and tells the holder by the lock.
func TestProbeOfAHolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	holder := startChild(t, path)
	holder.mustAcquire("ledger compact")
	before := fingerprint(t, dir)
	want := Status{Exists: true, Held: true, PID: holder.pid, RecordedPID: holder.pid, Command: "ledger compact"}
	if got := mustProbe(t, path); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if fingerprint(t, dir) != before {
		t.Error("a probe changed something")
	}
}

// fake answers asks in turn; the last answer stays.
type fake struct {
	mechanism
	answers []Status
}

func (f *fake) ask(string) (Status, error) {
	s := f.answers[0]
	if len(f.answers) > 1 {
		f.answers = f.answers[1:]
	}
	return s, nil
}

// An answer that does not add up is asked for again: the holder is about to write its pid, or it is a probe of the Python
// version, which asks with an exclusive lock. T3: a pid that stays unreadable is corrupt.
func TestProbeSettles(t *testing.T) {
	const nobody = 1<<31 - 1
	self := os.Getpid()
	free, empty := newStatus(false, note{pid: nobody}), newStatus(true, note{})
	left, full := newStatus(true, note{pid: nobody}), newStatus(true, note{self, "poll start"})
	for name, tt := range map[string]struct {
		answers []Status
		want    Status
	}{
		"stale":             {[]Status{free, full}, free},
		"held":              {[]Status{full, free}, full},
		"about to write":    {[]Status{left, empty, full}, full},
		"asked exclusively": {[]Status{left, free}, free},
		"corrupt":           {[]Status{empty}, empty},
		"other namespace":   {[]Status{left}, left},
	} {
		got, err := settle(&fake{answers: tt.answers}, File)
		if err != nil || got != tt.want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, tt.want)
		}
	}
}

// T2
func TestWaitFree(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	holder := startChild(t, path)
	holder.mustAcquire("poll start")

	ctx, cancel := context.WithTimeout(background, 20*time.Millisecond)
	defer cancel()
	if err := WaitFree(ctx, path, holder.pid); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("while it is held: %v", err)
	}
	if err := WaitFree(background, path, holder.pid+1); err != nil {
		t.Errorf("held by another than the one that was stopped: %v", err)
	}
	done := make(chan error)
	go func() { done <- WaitFree(background, path, holder.pid) }()
	holder.begin("release")
	if err := <-done; err != nil {
		t.Error(err)
	}
	holder.end()
}

// T3
func TestRemoveStale(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	mustWrite(t, path, "2147483647\npoll start\n")
	if pid, err := RemoveStale(background, path); pid != 2147483647 || err != nil {
		t.Errorf("got pid %d, %v", pid, err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is still there: %v", err)
	}
	holder := startChild(t, path)
	holder.mustAcquire("poll start")
	_, err := RemoveStale(background, path)
	var held *HeldError
	if !errors.As(err, &held) || held.PID != holder.pid {
		t.Errorf("of a holder: got %v", err)
	}
	if s := mustProbe(t, path); !s.Held {
		t.Errorf("the holder's pidfile is gone: %+v", s)
	}
}

// T3: whoever names another file by mistake (--pidfile) does not lose it.
func TestRemoveStaleLeavesOtherFiles(t *testing.T) {
	dead := pidLiveness{self: 7, alive: func(int) bool { return false }, pause: func(context.Context, time.Duration) error { return nil }}
	for text, goes := range map[string]bool{
		"": true, "\n": true, "\x00\x00\x00": true, "2147483647": true, "2147483647\n": true, "2147483647\npoll start\n": true,
		"notes\n": false, "root:x:0:0:root:/root:/bin/sh\n": false, "0\n": false, "-1\n": false, "2147483647\na list\nof numbers\n": false,
		"2147483647\n" + strings.Repeat("x", 5000): false, "2147483647 items\n": false,
	} {
		for name, m := range map[string]mechanism{"the platform's": platform(), "by pid": dead} {
			path := filepath.Join(t.TempDir(), "file")
			mustWrite(t, path, text)
			_, err := m.clear(background, path)
			left, gone := os.ReadFile(path)
			if goes != (err == nil) || goes != errors.Is(gone, fs.ErrNotExist) || !goes && string(left) != text {
				t.Errorf("%s: %.40q: %v, and then %.40q (%v)", name, text, err, left, gone)
			}
			if !goes && !strings.Contains(fmt.Sprint(err), path+" is not locked and is no pidfile") {
				t.Errorf("%s: %.40q: %v", name, text, err)
			}
		}
	}
}

// L4: what is written is read back, on two lines, whatever the command.
func TestNoteRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNote(rapid.String().Draw(t, "command"))
		got := parseNote(n.String())
		if got.pid != os.Getpid() {
			t.Fatalf("pid %d from %q", got.pid, n.String())
		}
		if again := parseNote(got.String()); again != got {
			t.Fatalf("%+v became %+v", got, again)
		}
	})
}

// L10: every part of the lock by pid-liveness, which the platforms without flock use.
func TestPidLiveness(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	k := newPidLiveness()
	log := &counter{}
	mustWrite(t, path, "2147483647\n")
	if s, err := k.ask(path); err != nil || s.Held || !s.Stale {
		t.Errorf("stale: %+v, %v", s, err)
	}
	l, err := k.claim(background, path, "poll start", slog.New(log))
	if err != nil {
		t.Fatal(err)
	}
	if l.StalePID != 2147483647 {
		t.Errorf("took over pid %d", l.StalePID)
	}
	if log.debug != 1 || log.other != 0 {
		t.Errorf("%d debug and %d other records, want one at debug", log.debug, log.other)
	}
	if s, err := k.ask(path); err != nil || s.PID != os.Getpid() || s.Holder() != Poller {
		t.Errorf("held: %+v, %v", s, err)
	}
	if err := errors.Join(l.Check(), l.Release()); err != nil {
		t.Error(err)
	}
	if s, err := k.ask(path); err != nil || s != (Status{}) {
		t.Errorf("released: %+v, %v", s, err)
	}
	if _, err := k.clear(background, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("clear nothing: %v", err)
	}
}

// L10: an empty file is being written for a while, then it is stale; a living pid is a holder, our own is an earlier life.
func TestPidLivenessJudges(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	waits := 0
	k := pidLiveness{self: 7, alive: func(pid int) bool { return pid == 7 || pid == 8 },
		pause: func(context.Context, time.Duration) error { waits++; return nil }}
	for _, tt := range []struct {
		text  string
		held  bool
		waits bool
	}{{"8\npoll start\n", true, false}, {"9\n", false, false}, {"7\n", false, false}, {"", false, true}} {
		waits = 0
		mustWrite(t, path, tt.text)
		_, err := k.clear(background, path)
		var held *HeldError
		if errors.As(err, &held) != tt.held || err != nil && !tt.held || (waits > 0) != tt.waits {
			t.Errorf("%q: %v after %d waits", tt.text, err, waits)
		}
	}
}

// L10: two starts that found the same stale file; the other one removed ours. It has the lock then.
func TestPidLivenessNoticesThatItWasOvertaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	k := pidLiveness{self: 7, alive: func(pid int) bool { return pid == 8 },
		pause: func(context.Context, time.Duration) error {
			mustWrite(t, path+".other", "8\npoll start\n")
			return os.Rename(path+".other", path)
		}}
	_, err := k.claim(background, path, "poll start", slog.New(slog.DiscardHandler))
	var held *HeldError
	if !errors.As(err, &held) || held.PID != 8 {
		t.Errorf("got %v, want that pid 8 holds it", err)
	}
}

// L10: the other one's file may have got the number of ours, which it removed.
func TestPidLivenessReadsWhoseFileItIs(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	k := pidLiveness{self: 7, alive: func(pid int) bool { return pid == 8 },
		pause: func(context.Context, time.Duration) error {
			mustWrite(t, path, "8\npoll start\n")
			return nil
		}}
	_, err := k.claim(background, path, "poll start", slog.New(slog.DiscardHandler))
	var held *HeldError
	if !errors.As(err, &held) || held.PID != 8 {
		t.Errorf("got %v, want that pid 8 holds it", err)
	}
}

// L10: processes that start at once, with and without a stale pidfile.
func TestPidLivenessOfFourStartersOneWins(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	var all []*child
	for range 4 {
		all = append(all, startChild(t, path, mechEnv+"=1"))
	}
	for round := range rounds(t, 10) {
		if round%2 == 1 {
			mustWrite(t, path, "2147483647\n")
		}
		at := time.Now().Add(20 * time.Millisecond).UnixNano()
		for _, c := range all {
			c.begin("acquire %d poll start", at)
		}
		var winner *child
		for _, c := range all {
			switch a := c.end(); {
			case a.OK && winner != nil:
				t.Fatalf("round %d: two holders", round)
			case a.OK:
				winner = c
			case a.HeldBy == 0:
				t.Fatalf("round %d: %s", round, a.Err)
			}
		}
		if winner == nil {
			t.Fatalf("round %d: no holder", round)
		}
		winner.do("release")
	}
}

type counter struct{ debug, other int }

func (c *counter) Enabled(context.Context, slog.Level) bool { return true }
func (c *counter) WithAttrs([]slog.Attr) slog.Handler       { return c }
func (c *counter) WithGroup(string) slog.Handler            { return c }
func (c *counter) Handle(_ context.Context, r slog.Record) error {
	if r.Level == slog.LevelDebug {
		c.debug++
	} else {
		c.other++
	}
	return nil
}

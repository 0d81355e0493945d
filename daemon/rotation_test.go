package daemon

import (
	"errors"
	"os"
	"strings"
	"testing"

	"theloop/localapi"
	"theloop/lock"
)

// R2: the event log is rotated by whoever has the run lock, and by nobody else:
// two at once would push each other's files out.
func TestOnlyTheHolderRotates(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.write("config.yaml", w.read("config.yaml")+"eventLog: {maxMegabytes: 1, keep: 3}\n")
	w.write("inbox/none", "")
	w.once()
	line := `{"ts":"2026-01-01T00:00:00.000Z","source":"poll","event":"poll.cycle","level":"info","pid":1}` + "\n"
	w.write(".the-loop/logs/events.jsonl", strings.Repeat(line, 1<<20/len(line)+1))
	older := func() bool {
		_, err := os.Lstat(w.path(".the-loop/logs/events.jsonl.1"))
		return err == nil
	}

	held, err := lock.Acquire(t.Context(), w.path(".the-loop/"+lock.File), LockName, nil)
	if err != nil {
		t.Fatal(err)
	}
	var refusal *lock.HeldError
	if _, err := Run(t.Context(), w.options()); !errors.As(err, &refusal) {
		t.Errorf("it started: %v", err)
	}
	if older() || len(w.events("poller.blocked")) != 1 {
		t.Error("a start that is refused has rotated the log, or told nothing")
	}
	if err := held.Release(); err != nil {
		t.Fatal(err)
	}
	w.once()
	if !older() || strings.Count(w.read(".the-loop/logs/events.jsonl"), "\n") > 10 {
		t.Error("it was not rotated")
	}
	if len(w.events("poller.blocked")) != 1 {
		t.Error("what was rotated away is not read")
	}
}

// L11: a command that writes the ledger offline has the run lock, under its own
// name, for as long as it does.
func TestOfflineHoldsTheLock(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.write("inbox/none", "")
	w.once()
	pidfile, ran := w.path(".the-loop/"+lock.File), false
	err := Offline(t.Context(), w.options(), "ledger forget", func(localapi.Local) error {
		ran = true
		status, err := lock.Probe(pidfile)
		if err != nil || status.PID != os.Getpid() || status.Command != "ledger forget" || status.Holder() != lock.Offline {
			t.Errorf("meanwhile the lock is %+v, %v", status, err)
		}
		var held *lock.HeldError
		if _, err := Run(t.Context(), w.options()); !errors.As(err, &held) || held.Command != "ledger forget" {
			t.Errorf("a start beside it: %v", err)
		}
		return nil
	})
	if err != nil || !ran {
		t.Errorf("ran %t, %v", ran, err)
	}
	if status, err := lock.Probe(pidfile); err != nil || status.Exists {
		t.Errorf("behind it the pidfile is %+v, %v", status, err)
	}
}

// R1: what an edit changes for the next start only is named, once.
func TestAnEditThatWaitsForARestart(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.write("inbox/none", "")
	p := w.start(nil)
	w.kick()
	w.configure("octocat", "", "  maxConcurrentDispatches: 1")
	for range 3 {
		w.kick()
	}
	p.end()
	told := w.events("config.reloaded")
	if len(told) != 1 || !strings.Contains(string(told[0].Raw), "after a restart: routing.maxConcurrentDispatches") {
		t.Errorf("told %d times: %v", len(told), told)
	}
}

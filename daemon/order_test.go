package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"theloop/eventlog"
	"theloop/heartbeat"
	"theloop/lock"
	"theloop/store"
)

// Start order: when the poller says that it is ready it has the lock, answers on
// its socket, has told of its start and written a heartbeat without a cycle; and
// no cycle has begun (U3).
func TestReadyComesBehindEverythingButTheCycles(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.started(1)
	looked := false
	p := w.start(func(o *Options) {
		ready := o.Ready
		o.Ready = func() {
			looked = true
			w.atReady()
			ready()
		}
	})
	if !looked {
		t.Error("it never said so")
	}
	p.end()
}

func (w *world) atReady() {
	if status, err := lock.Probe(w.path(".the-loop/" + lock.File)); err != nil || status.PID != os.Getpid() || status.Command != LockName {
		w.t.Errorf("the lock: %+v, %v", status, err)
	}
	if said, err := w.client().Status(w.t.Context()); err != nil || said.PID != os.Getpid() {
		w.t.Errorf("the socket: %+v, %v", said, err)
	}
	beat, known := heartbeat.Read(w.path(".the-loop/" + heartbeat.File))
	if !known || beat.LastCycle != nil || !beat.LastCycleAt.IsZero() || beat.StartedAt.IsZero() || beat.Health != heartbeat.Working {
		w.t.Errorf("the heartbeat: %t, %+v", known, beat)
	}
	if got := w.trail(); !slices.Equal(got, []string{"poller.started"}) {
		w.t.Errorf("told so far: %q", got)
	}
	if _, err := os.Lstat(w.path(".the-loop/" + store.File)); err != nil {
		w.t.Errorf("the ledger: %v", err)
	}
}

// trail is the names of all events so far.
func (w *world) trail() (names []string) {
	w.t.Helper()
	_, err := eventlog.Read(w.path(".the-loop/logs/events.jsonl"), eventlog.Filter{}, func(e eventlog.Entry) error {
		names = append(names, e.Name)
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return names
}

// A start that fails behind the lock undoes what it has made: the lock is free
// and no root is left.
func TestAStartThatFailsLetsGo(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "    - {provider: github, repos: [octo/repo], baseUrl: 'http://127.0.0.1:9'}", "")
	if _, err := Run(t.Context(), w.options()); err == nil || !strings.Contains(err.Error(), "no token") {
		t.Fatalf("it started: %v", err)
	}
	if left, err := filepath.Glob(w.path(".the-loop*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// Stop order: what was abandoned is told of, then what was given back, and the
// stop last of all (B4).
func TestStopOrder(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "  maxConcurrentDispatches: 1")
	w.write("config.yaml", strings.Replace(w.read("config.yaml"), "resumeProbeSeconds: 0", "resumeProbeSeconds: 60", 1))
	w.started(1, 2)
	p := w.start(nil)
	w.until("the sessions are queued", func() bool { return w.held(1) && w.held(2) })
	p.end()
	names := w.trail()
	at := func(name string) int { return slices.Index(names, name) }
	if a, r := at("dispatch.abandoned"), at("poll.attempts_released"); a < 0 || r < a || names[len(names)-1] != "poller.stopped" {
		t.Errorf("told in the order %q", names)
	}
}

// C6: a cycle waits for no session: one that is still being watched on its way up
// keeps neither this cycle nor another item waiting.
func TestACycleWaitsForNoSession(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.write("config.yaml", strings.Replace(w.read("config.yaml"), "resumeProbeSeconds: 0", "resumeProbeSeconds: 600", 1))
	w.started(1)
	p := w.start(nil)
	w.until("a session is on its way up", func() bool { return w.told("the-task") == 1 })
	w.started(2)
	w.kick()
	w.until("so is the other one", func() bool { return w.told("the-task") == 2 })
	if n := len(w.events("session.spawned")); n != 0 {
		t.Errorf("%d sessions are up: that shows nothing", n)
	}
	p.end()
}

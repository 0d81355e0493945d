package daemon

import (
	"context"
	"strings"
	"testing"
	"time"
)

// C7: a --once works its queues empty, also what waits behind a full house.
func TestOnceWorksItsQueuesEmpty(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "  maxConcurrentDispatches: 1")
	w.started(1, 2, 3, 4, 5)
	w.once()
	if n := len(w.events("session.spawned")); n != 5 {
		t.Errorf("%d of 5 sessions are up when it has ended", n)
	}
	w.until("every agent is told", func() bool { return w.told("the-task") == 5 })
	if names := strings.Join(w.trail(), " "); strings.Contains(names, "dispatch.abandoned") {
		t.Errorf("it gave up waiting: %s", names)
	}
}

// C7, C4: a stop cuts that, and such a run is not a clean one.
func TestAStopCutsOnce(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "  maxConcurrentDispatches: 1")
	w.write("config.yaml", strings.Replace(w.read("config.yaml"), "resumeProbeSeconds: 0", "resumeProbeSeconds: 60", 1))
	w.started(1, 2)
	ctx, stop := context.WithCancel(t.Context())
	o, done := w.options(), make(chan bool, 1)
	o.Once = true
	go func() {
		clean, err := Run(ctx, o)
		if err != nil {
			t.Error(err)
		}
		done <- clean
	}()
	w.until("both are queued", func() bool { return w.held(1) && w.held(2) })
	stop()
	select {
	case clean := <-done:
		if clean {
			t.Error("it says that all was done")
		}
	case <-time.After(30 * time.Second):
		t.Fatal("it works on")
	}
}

// C7: a dispatch of this run that failed makes it exit with 1.
func TestAFailedDispatchIsNoCleanOnce(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.write("config.yaml", strings.Replace(w.read("config.yaml"), "-log", "-no-such-option", 1))
	w.write("config.yaml", strings.Replace(w.read("config.yaml"), "resumeProbeSeconds: 0", "resumeProbeSeconds: 1", 1))
	w.started(1)
	o := w.options()
	o.Once = true
	if clean, err := Run(t.Context(), o); err != nil || clean {
		t.Errorf("clean %t, %v\n%s", clean, err, &w.log)
	}
}

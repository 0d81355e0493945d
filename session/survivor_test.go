package session

import (
	"strings"
	"testing"

	"theloop/record"
)

// orphan is a session whose pane is gone and whose agent goes on.
func (w *world) orphan() {
	w.tmux.die(w.live(), "", false)
	w.tmux.survivor = 7
}

// D2: what is said waits for an agent that goes on without its pane, and costs
// nothing; one that is about to end is given a moment.
func TestSurvivor(t *testing.T) {
	w := newWorld(t)
	w.orphan()
	if pane := w.pane(); pane.State != record.PaneForeign || !strings.Contains(pane.Remedy, "kill 7") {
		t.Errorf("to those who decide it is %+v", pane)
	}
	said := w.queued("IC_1")
	w.expect(said, w.deliver(said), want{Dropped, record.Idle, 0, false, 0})
	if why, _ := w.fields["dispatch.dropped"]["error"].(string); !strings.Contains(why, "process 7") || w.fields["dispatch.dropped"]["reason"] != "session-occupied" {
		t.Errorf("said %v", w.fields["dispatch.dropped"])
	}
	for _, force := range []bool{false, true} {
		if got, err := w.host.Adopt(t.Context(), Adoption{Ref: octoRef, Force: force}); got != Dropped || err == nil || !strings.Contains(err.Error(), "process 7") {
			t.Errorf("adopted: %s %v", got, err)
		}
	}
	w.tmux.ends = true
	w.ledger.put(octoRef, queue("IC_1"))
	if got := w.deliver(said); got != Done || len(w.tmux.panes) != 1 {
		t.Errorf("%s, events %v", got, w.events)
	}
}

// D9: a stop closes its session, and nothing is signalled.
func TestSurvivorIsClosed(t *testing.T) {
	w := newWorld(t)
	w.orphan()
	w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "stop"}})
	if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: Stopped}); got != Done || w.ledger.get(octoRef).Session.Open() || w.tmux.count("close") != 0 {
		t.Errorf("%s, calls %v", got, w.tmux.calls)
	}
}

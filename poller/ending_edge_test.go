package poller

import (
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// P8: a session of another machine counts as none, and ends with its item.
func TestAnItemEndsOverAnotherMachinesSession(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.cycle()
	w.change(ref, record.PutSession{Session: record.Session{Status: record.Active, Host: "there", CreatedAt: w.now}})
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	if r := w.cycle(); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	if rec := w.records[ref.Key()]; !rec.Item.Sealed() || rec.Session.Status != record.Shut || rec.Session.Host != "there" {
		t.Errorf("left %+v, %+v", rec.Item, rec.Session)
	}
}

// P8, D4: the last words on a pull request go into its target's session; whether
// that lives is not known when tmux does not answer.
func TestTheLastWordsOnAPullRequestWaitForTmux(t *testing.T) {
	w, _, item, pull := reviewed(t)
	w.panes[item.Key()] = record.Pane{State: record.PaneUnknown}
	id := w.review(pull, "octocat", "merged, now tag it")
	w.set(pull, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	w.cycle()
	w.wantFor()
	w.pane(item, record.PaneLive, "life-1")
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
}

// D5, P8: nothing waits on an item that has ended, whatever was commanded.
func TestAnEndedItemWaitsForNoName(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.cycle()
	w.change(ref, control("start", "octocat"))
	w.panes[ref.Key()] = record.Pane{State: record.PaneForeign, Holder: "somebody's"}
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	w.cycle()
	if n := w.told("dispatch.dropped"); n != 0 {
		t.Errorf("told %d times", n)
	}
}

// P8: what was commanded before an ending drops nothing afterwards: the old row
// stays, to be read.
func TestACleanupFromBeforeAnEndingIsHistory(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now}, control("cleanup", "octocat"))
	w.pane(ref, record.PaneDead, "life-1")
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	w.cycle()
	if !w.records[ref.Key()].Item.Sealed() {
		t.Fatal("not forgotten")
	}
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Open, time.Time{} })
	w.cycle()
	if w.records[ref.Key()].Session == nil {
		t.Error("its session's row is gone")
	}
}

package poller

import (
	"slices"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// cut leaves the session as a kill in the middle of its close does: its deadline is
// five minutes from now.
func (w *world) cut(ref workitem.Ref) {
	s := *w.records[ref.Key()].Session
	s.Until = w.now.Add(5 * time.Minute)
	w.change(ref, record.PutSession{Session: s})
	w.restart("run-2", "v1.0.0")
}

// waits goes through the deadline of a cut close: nothing is queued, told or spent.
func (w *world) waits() {
	w.t.Helper()
	told := len(w.events)
	for range 4 {
		w.cycle()
	}
	w.wantQueued()
	for _, e := range w.events[told:] {
		if e.Name != "poll.cycle" {
			w.t.Errorf("told of %s before the deadline: %v", e.Name, e.Fields)
		}
	}
	w.now = w.now.Add(3 * time.Minute)
}

// D3: until the deadline of a close that a kill has cut nothing of the session is
// queued, and what waits is told of once, when it is.
func TestWhatWaitsForACutCloseIsToldOnce(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "a wish")
	w.cut(ref)
	w.waits()
	if row := w.row(ref, id); row.State != record.Pending || row.Attempts != 0 {
		t.Errorf("its row is %+v", row)
	}
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	if w.told("poll.comment_forwarded") != 1 {
		t.Errorf("told %d times", w.told("poll.comment_forwarded"))
	}
}

// The same for an attempt that was queued when the kill came, and for a comment on a
// pull request of the item.
func TestWhatWasQueuedWaitsForACutClose(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "a wish")
	w.cycle()
	w.cut(ref)
	w.waits()
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	if row := w.row(ref, id); row.Attempts != 1 || w.told("poll.comment_forwarded") != 2 || w.told("poll.recovered") != 1 {
		t.Errorf("its row is %+v, told of %v", row, w.events)
	}
}

func TestAPullRequestsCommentWaitsForACutClose(t *testing.T) {
	w, f, item, pull := reviewed(t)
	id := w.review(pull, "octocat", "a wish")
	w.cut(item)
	w.poller.Sources = []Source{f}
	w.waits()
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
}

// The close itself, and a session that is owed, wait as well; behind a close that is
// queued here everything takes its turn.
func TestTheNextCloseWaitsForACutOne(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	w.cut(ref)
	w.waits()
	w.cycle()
	w.wantQueued("close close")
	w.cut(ref)
	w.pane(ref, record.PaneDead, "life-1")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.wantQueued()
	w.now = w.now.Add(5 * time.Minute)
	w.cycle()
	if got := w.take(); !slices.ContainsFunc(got, func(s string) bool { return s != "close close" }) {
		t.Errorf("queued %q behind the deadline", got)
	}
}

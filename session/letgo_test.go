package session

import (
	"testing"
	"time"

	"theloop/record"
	"theloop/session/tmux"
)

// letGo is a session whose close left its harness running.
func (w *world) letGo() *fakePane {
	w.t.Helper()
	w.settings.KillHarnessOnClose = false
	p := w.live()
	if got := w.host.Close(w.t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done {
		w.t.Fatalf("%s, calls %v", got, w.tmux.calls)
	}
	return p
}

func (w *world) pane() record.Pane { return w.host.Look(w.t.Context(), octoRef, w.ledger.get(octoRef)) }

// D9: a close that is not to end the harness lets it go: it counts as no session,
// is closed once, and takes no place of another's (D1).
func TestLetGo(t *testing.T) {
	w := newWorld(t)
	p := w.letGo()
	if p.look.State != tmux.Live || p.look.Owner != tmux.LeftMark(octoOwner) || w.ledger.get(octoRef).Session.Open() {
		t.Errorf("the pane is %+v", p.look)
	}
	if pane := w.pane(); pane.State != record.PaneAbsent {
		t.Errorf("to those who decide it is %s", pane.State)
	}
	if n, err := w.host.Live(t.Context()); n != 0 || err != nil {
		t.Errorf("%d live, %v", n, err)
	}
	before, commits := len(w.tmux.calls), w.ledger.commits
	if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done || w.ledger.commits != commits {
		t.Errorf("closed again: %s, calls %v", got, w.tmux.calls[before:])
	}
}

// D9: what was let go is taken up again when its item is started again, with its
// ring: nothing is told twice (D7), no second one is made (D2).
func TestLetGoIsTakenUpAgain(t *testing.T) {
	spawn := func(w *world) Result {
		w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-2", Run: testRun})
		return w.host.Spawn(w.t.Context(), Spawn{Ref: octoRef, DeliveryID: "poll-spawn-2", Story: Story{Item: octoItem()}})
	}
	for _, c := range []struct {
		name string
		do   func(*world, *fakePane) Result
		told int
	}{
		{"by a start", func(w *world, _ *fakePane) Result { return spawn(w) }, 0},
		{"by a comment", func(w *world, _ *fakePane) Result { return w.deliver(w.queued("IC_1")) }, 1},
		{"by a comment that it has heard", func(w *world, p *fakePane) Result {
			p.look.Ring = append(p.look.Ring, record.Mark("poll-comment-IC_1"))
			return w.deliver(w.queued("IC_1"))
		}, 0},
		{"dead by now", func(w *world, p *fakePane) Result { w.tmux.die(p, "exit 0", true); return spawn(w) }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			p := w.letGo()
			if got := c.do(w, p); got != Done {
				t.Fatalf("%s, events %v, calls %v", got, w.events, w.tmux.calls)
			}
			s := w.ledger.get(octoRef).Session
			if len(w.tmux.panes) != 1 || p.look.Owner != octoOwner || !s.Open() || s.Identity != p.look.Identity || len(p.told) != c.told {
				t.Errorf("%d panes, this one %+v, told %d; the row is %+v", len(w.tmux.panes), p.look, len(p.told), s)
			}
		})
	}
}

// P8: of an item that was closed and reopened it is a conversation from before:
// it is neither gone on with nor ended, and has the name.
func TestLetGoOfBeforeTheEnding(t *testing.T) {
	w := newWorld(t)
	p := w.letGo()
	w.clock.advance(time.Hour)
	w.ledger.put(octoRef, record.End{At: noon}, record.Forget{})
	w.ledger.put(octoRef, record.Observe{Item: octoItem()}, record.FirstSeen{At: w.clock.Now()})
	if pane := w.pane(); pane.State != record.PaneForeign || pane.Holder == "" {
		t.Errorf("to those who decide it is %+v", pane)
	}
	w.expect(w.queued("IC_1"), w.deliver(octoComment("IC_1", "octocat", "please do IC_1")), want{Dropped, record.Idle, 0, false, 0})
	if p.look.State != tmux.Live {
		t.Error("it was ended")
	}
	// On the operator's word it is the item's again.
	if got, err := w.host.Adopt(t.Context(), Adoption{Ref: octoRef, Force: true}); got != Done || err != nil || p.look.Owner != octoOwner {
		t.Errorf("%s %v", got, err)
	}
}

// D9: a close that was killed in the middle of letting go is done again.
func TestLetGoIsKilled(t *testing.T) {
	for _, at := range []string{"started", "pasted", "outcome"} {
		w := newWorld(t)
		w.settings.KillHarnessOnClose = false
		p := w.live()
		w.killed(at, func() { w.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}) })
		w.clock.advance(time.Hour)
		w.host = w.newHost("run-2")
		if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done || w.pane().State != record.PaneAbsent || p.look.State != tmux.Live {
			t.Errorf("%s: %s, the pane is %+v", at, got, p.look)
		}
	}
}

// X4: a start behind a cleanup begins afresh: what the cleanup let go is left alone,
// with its conversation and its tmux session, and can be had back on the operator's
// word alone (D5).
func TestLetGoByACleanup(t *testing.T) {
	spawn := func(w *world, id string) Result {
		w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat"}},
			record.QueueSpawn{DeliveryID: id, Run: testRun})
		return w.host.Spawn(w.t.Context(), Spawn{Ref: octoRef, DeliveryID: id, Story: Story{Item: octoItem()}})
	}
	w := newWorld(t)
	old := w.letGo()
	w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "cleanup"}}, record.DropSession{})
	if pane := w.pane(); pane.State != record.PaneNone {
		t.Errorf("to those who decide it is %+v", pane)
	}
	if got := spawn(w, "poll-spawn-2"); got != Done || len(w.tmux.panes) != 2 {
		t.Fatalf("%s, events %v, calls %v", got, w.events, w.tmux.calls)
	}
	fresh, s := w.tmux.panes[1], w.ledger.get(octoRef).Session
	if len(old.told) != 0 || old.look.State != tmux.Live || old.look.Owner != tmux.LeftMark(octoOwner) {
		t.Errorf("the old one is %+v and was told %q", old.look, old.told)
	}
	if len(fresh.told) != 1 || fresh.look.HarnessSession == sessionID || fresh.look.Name != old.look.Name+"-"+octoRef.SlugHash() {
		t.Errorf("the fresh one is %+v and was told %q", fresh.look, fresh.told)
	}
	if !s.Open() || s.TmuxTarget != fresh.look.Name || s.HarnessSessionID != fresh.look.HarnessSession {
		t.Errorf("the row is %+v", s)
	}
	if got := w.deliver(w.queued("IC_1")); got != Done || len(fresh.told) != 2 || len(old.told) != 0 {
		t.Errorf("%s, told %q and %q", got, fresh.told, old.told)
	}

	// The fresh one is let go by a cleanup as well: there is no third name.
	if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done {
		t.Fatal(got)
	}
	w.ledger.put(octoRef, record.DropSession{})
	if pane := w.pane(); pane.State != record.PaneForeign || pane.Holder == "" {
		t.Errorf("to those who decide it is %+v", pane)
	}
	if got := spawn(w, "poll-spawn-3"); got != Dropped || len(w.tmux.panes) != 2 || w.ledger.get(octoRef).Item.Spawn.InHand() {
		t.Errorf("%s, %d panes", got, len(w.tmux.panes))
	}
	if got, err := w.host.Adopt(t.Context(), Adoption{Ref: octoRef}); got != Done || err != nil || old.look.Owner != octoOwner {
		t.Errorf("%s %v", got, err)
	}
}

package session

import (
	"context"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/dispatch"
	"theloop/record"
	"theloop/session/tmux"
)

// D9, X7: a session is closed when it is proved gone, by whom knows it; what is
// not ours is left alone.
func TestClose(t *testing.T) {
	stop := record.Command{Control: record.Control{Command: "stop", Source: "cli"}}
	for _, c := range []struct {
		name   string
		reason string
		make   func(*world)
		result Result
		status record.Status // of the row; empty: there is none
		pane   string        // what is left in tmux
		event  bool
	}{
		{"live", Stopped, func(w *world) { w.live(); w.ledger.put(octoRef, stop) }, Done, record.Shut, "dead", true},
		{"live, not kept", Stopped, func(w *world) { w.live(); w.ledger.put(octoRef, stop); w.settings.KeepSessionOnClose = false }, Done, record.Shut, "", true},
		{"live, the harness is left alone", Stopped, func(w *world) { w.live(); w.ledger.put(octoRef, stop); w.settings.KillHarnessOnClose = false }, Done, record.Shut, "live", true},
		{"dead", Stopped, func(w *world) { w.dead(); w.ledger.put(octoRef, stop) }, Done, record.Shut, "dead", true},
		{"dead, not kept", Stopped, func(w *world) { w.dead(); w.ledger.put(octoRef, stop); w.settings.KeepSessionOnClose = false }, Done, record.Shut, "", true},
		{"absent", Stopped, func(w *world) { w.live(); w.ledger.put(octoRef, stop); w.tmux.panes = nil }, Done, record.Shut, "", true},
		{"closed before", Stopped, func(w *world) {
			w.dead()
			w.ledger.put(octoRef, stop, record.SetStatus{Status: record.Shut, At: noon})
		}, Done, record.Shut, "dead", false},
		{"nothing anywhere", Stopped, func(w *world) { w.ledger.put(octoRef, stop) }, Done, "", "", false},
		{"tmux alone knows it (story 14)", Ended, func(w *world) {
			w.ledger.put(octoRef, record.End{At: noon})
			w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: octoOwner, HarnessSession: sessionID})
		}, Done, record.Shut, "dead", true},
		{"of an earlier release, never adopted", Stopped, func(w *world) {
			p := w.live()
			p.look.Owner, p.look.StartCommand = "", "claude --session-id "+sessionID
			w.ledger.put(octoRef, stop)
		}, Done, record.Shut, "dead", true},
		{"a user's session has the name", Stopped, func(w *world) {
			p := w.live()
			p.look.Owner = ""
			w.ledger.put(octoRef, stop)
		}, Done, record.Shut, "live", true},
		{"silent", Stopped, func(w *world) { w.live(); w.ledger.put(octoRef, stop); w.tmux.silent = true }, Unknown, record.Active, "live", false},
		{"no answer", Stopped, func(w *world) { w.live(); w.ledger.put(octoRef, stop); w.tmux.script["close"] = []string{"never"} }, Unknown, record.Active, "live", false},
		{"refused", Stopped, func(w *world) { w.live(); w.ledger.put(octoRef, stop); w.tmux.script["close"] = []string{"skip"} }, Unknown, record.Active, "live", false},
		{"started again before its turn (X4)", Stopped, func(w *world) { w.live() }, Dropped, record.Active, "live", false},
		{"started again at its turn (X4)", Stopped, func(w *world) {
			w.live()
			w.ledger.put(octoRef, stop)
			w.ledger.before = func([]record.Change) error {
				w.ledger.before = nil
				w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "start"}})
				return nil
			}
		}, Dropped, record.Active, "live", false},
		{"started again, and its session is gone (X4)", Stopped, func(w *world) { w.live(); w.tmux.panes = nil }, Dropped, record.Active, "", false},
		{"it has not ended after all", Ended, func(w *world) { w.live() }, Dropped, record.Active, "live", false},
		{"for another reason", "forgotten", func(w *world) { w.live() }, Done, record.Shut, "dead", true},
		{"the start cannot be committed", Stopped, func(w *world) {
			w.live()
			w.ledger.put(octoRef, stop)
			w.ledger.before = func([]record.Change) error { return record.ErrUnknown }
		}, Unknown, record.Active, "live", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.make(w)
			if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: c.reason}); got != c.result {
				t.Errorf("%s, calls %v", got, w.tmux.calls)
			}
			if w.tmux.silent && len(w.tmux.calls) != 1 { // nothing is concluded, so nothing is done (D4)
				t.Errorf("calls %v", w.tmux.calls)
			}
			row := w.ledger.get(octoRef).Session
			switch {
			case (row == nil) != (c.status == ""):
				t.Errorf("the row is %+v", row)
			case row != nil && row.Status != c.status:
				t.Errorf("the row is %s", row.Status)
			case row != nil && c.result == Done && !row.Until.IsZero():
				t.Errorf("the row holds a deadline, %s", row.Until)
			case row != nil && c.status == record.Shut && row.EndedAt.IsZero():
				t.Error("the row does not say when it ended")
			}
			left := ""
			for _, p := range w.tmux.panes {
				left += p.look.State.String()
			}
			if left != c.pane {
				t.Errorf("left in tmux: %q", left)
			}
			if w.emitted("session.closed") != c.event {
				t.Errorf("events %v", w.events)
			}
		})
	}
}

// X4: the close of a cleanup takes the row with it, so that the next start begins
// afresh: whether the poller looks again in between or not, and also when the start
// comes while the close is under way.
func TestCleanupForgetsTheConversation(t *testing.T) {
	command := func(word string) record.Change {
		return record.Command{Control: record.Control{Command: word, Source: "cli"}}
	}
	for word, kept := range map[string]bool{"stop": true, "cleanup": false} {
		for _, during := range []string{"", "started", "pasted"} {
			w := newWorld(t)
			p := w.live()
			w.ledger.put(octoRef, command(word))
			w.at[during] = func() { w.ledger.put(octoRef, command("start")) }
			if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: Stopped}); got != Done {
				t.Fatal(got)
			}
			if row := w.ledger.get(octoRef).Session; (row != nil) != kept {
				t.Errorf("%s, with a start when it was %s: the row is %+v", word, during, row)
			}
			w.ledger.put(octoRef, command("start"), record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
			if got := w.host.Spawn(t.Context(), Spawn{Ref: octoRef, DeliveryID: "poll-spawn-1", Story: Story{Item: octoItem()}}); got != Done {
				t.Fatal(got)
			}
			if resumed := slices.Contains(p.argv, "--resume"); resumed != kept {
				t.Errorf("%s, with a start when it was %s: started as %q", word, during, p.argv)
			}
		}
	}
}

// D3, D9: a close that was not answered holds the session until its deadline,
// which was committed before it; then it is done again.
func TestCloseHoldsTheSession(t *testing.T) {
	w := newWorld(t)
	w.live()
	w.tmux.on["close"] = func() {
		if until := w.ledger.get(octoRef).Session.Until; until.Before(w.clock.Now().Add(w.settings.KillGrace + 3*time.Second + 10*time.Second)) {
			t.Errorf("during the close the row holds %s", until)
		}
	}
	w.tmux.script["close"] = []string{"never"}
	if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Unknown {
		t.Fatal(got)
	}
	comment := w.queued("IC_1")
	w.expect(comment, w.deliver(comment), want{Unknown, record.Queued, 1, false, 0})
	w.clock.now = w.ledger.get(octoRef).Session.Until.Add(time.Second)
	if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done {
		t.Error(got)
	}
	if f := w.fields["session.closed"]; f["reason"] != "forgotten" || f["kept"] != true || f["harness_session_id"] != sessionID {
		t.Errorf("the event is %v", f)
	}
}

// A close that is killed in the middle is done again after its deadline; a row
// that tmux alone knew is never an open one (it would count as started).
func TestCloseIsKilled(t *testing.T) {
	for _, at := range []string{"started", "pasted", "outcome"} {
		w := newWorld(t)
		w.ledger.put(octoRef, record.End{At: noon})
		w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: octoOwner})
		w.killed(at, func() { w.host.Close(t.Context(), Close{Ref: octoRef, Reason: Ended}) })
		if row := w.ledger.get(octoRef).Session; row.Open() {
			t.Errorf("%s: the row is open", at)
		}
		w.clock.advance(time1h)
		w.host = w.newHost("run-2")
		if got := w.host.Close(t.Context(), Close{Ref: octoRef, Reason: Ended}); got != Done || w.tmux.panes[0].look.State != tmux.Dead {
			t.Errorf("%s: %s", at, got)
		}
	}
}

// D5: adoption stamps what carries our mark or is named by the row, and commits
// its row.
func TestAdopt(t *testing.T) {
	unmarked := func(w *world) *fakePane {
		p := w.live()
		p.look.Owner, p.look.HarnessSession, p.look.StartCommand = "", "", "claude --session-id "+sessionID
		return p
	}
	for _, c := range []struct {
		name    string
		force   bool
		make    func(*world)
		result  Result
		commits int
		said    string // in the error
	}{
		{"our mark, no row", false, func(w *world) {
			w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: octoOwner, HarnessSession: sessionID})
		}, Done, 1, ""},
		{"our mark, another life's row", false, func(w *world) { w.live().look.Identity = "7/7/7" }, Done, 1, ""},
		{"our mark, its row", false, func(w *world) { w.live() }, Done, 0, ""},
		{"no mark, named by the row", false, func(w *world) { unmarked(w) }, Done, 1, ""},
		{"no mark, no row", false, func(w *world) { w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15"}) }, Dropped, 0, "no mark"},
		{"no mark, no row, on the operator's word", true, func(w *world) { w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15"}) }, Done, 1, ""},
		{"another's mark, on the operator's word", true, func(w *world) {
			w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: "ffffffff-0123456789abcdef"})
		}, Dropped, 0, "ffffffff"},
		{"nothing there", true, func(*world) {}, Dropped, 0, "no tmux session"},
		{"ended, its row closed, on the operator's word", true, func(w *world) {
			w.live().look.State = tmux.Dead
			w.ledger.put(octoRef, record.SetStatus{Status: record.Shut, At: w.clock.Now()})
		}, Dropped, 0, "has ended"},
		{"ended, and another conversation was registered since, on the operator's word", true, func(w *world) {
			w.live().look.State = tmux.Dead
			w.ledger.put(octoRef, record.PutSession{Session: record.Session{Harness: "claude", HarnessSessionID: "1b4e28ba-2fa1-41d2-883f-0016d3cca427", Status: record.Active, Host: testHost}})
		}, Dropped, 0, "another conversation"},
		{"ended, its row open", true, func(w *world) { w.live().look.Identity = "7/7/7"; w.tmux.panes[0].look.State = tmux.Dead }, Done, 1, ""},
		{"our mark, ended by now, no row", false, func(w *world) {
			w.tmux.add(tmux.Look{State: tmux.Dead, Name: "loop-github-octo-repo-15", Owner: octoOwner, HarnessSession: sessionID})
		}, Dropped, 0, "has ended"},
		{"silent", false, func(w *world) { w.live(); w.tmux.silent = true }, Unknown, 0, "did not answer"},
		{"it changes meanwhile", false, func(w *world) { unmarked(w); w.tmux.script["adopt"] = []string{"skip"} }, Unknown, 0, "no longer"},
		{"paused: it stays so", false, func(w *world) {
			w.live().look.Identity = "7/7/7"
			w.ledger.put(octoRef, record.SetStatus{Status: record.Paused})
		}, Done, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.ledger.put(octoRef, record.Baseline{Note: record.Note{ID: "IC_8"}}, record.Hold{Note: record.Note{ID: "IC_9"}}, record.Deliver{Comment: "IC_9"})
			c.make(w)
			commits := w.ledger.commits
			got, err := w.host.Adopt(t.Context(), Adoption{Ref: octoRef, Force: c.force})
			if got != c.result || (err == nil) != (c.said == "") || err != nil && !strings.Contains(err.Error(), c.said) {
				t.Fatalf("%s: %v", got, err)
			}
			if n := w.ledger.commits - commits; n != c.commits {
				t.Errorf("%d commits", n)
			}
			if got != Done {
				return
			}
			p, rec := w.tmux.panes[0], w.ledger.get(octoRef)
			if p.look.Owner != octoOwner || rec.Session.Identity != p.look.Identity || rec.Session.Pane != p.look.PaneID || !rec.Item.Control.Served {
				t.Errorf("pane %+v, row %+v", p.look, rec.Session)
			}
			if paused := strings.HasPrefix(c.name, "paused"); (rec.Session.Status == record.Paused) != paused {
				t.Errorf("the row is %s", rec.Session.Status)
			}
			if w.tmux.count("adopt") > 0 && (len(p.look.Ring) != 1 || p.look.Ring[0] != record.Mark("poll-comment-IC_9")) {
				t.Errorf("the ring is %q: what was delivered must be in it", p.look.Ring)
			}
			if w.emitted("session.adopted") != (c.commits > 0) {
				t.Errorf("events %v", w.events)
			}
		})
	}
}

// D5: a delivery takes over a session of an earlier release by itself.
func TestDeliverAdopts(t *testing.T) {
	w := newWorld(t)
	p := w.live()
	p.look.Owner, p.look.HarnessSession, p.look.StartCommand = "", "", "claude --session-id "+sessionID
	comment := w.queued("IC_1")
	w.expect(comment, w.deliver(comment), want{Done, record.IsDone, 1, false, 1})
	if p.look.Owner != octoOwner || p.look.HarnessSession != sessionID || !w.emitted("session.adopted") {
		t.Errorf("the pane is %+v, events %v", p.look, w.events)
	}
}

// Story 3, D9: a close goes through the session's queue: behind a delivery that
// has started it waits for the outcome, so that the delivery never finds its
// session gone and brings it up again.
func TestCloseWaitsForTheDelivery(t *testing.T) {
	w := newWorld(t)
	w.live()
	c := w.queued("IC_1")
	queue := dispatch.New(dispatch.Options{Concurrency: 4})
	defer queue.Stop(time.Minute)
	put := func(id string, job func() Result) {
		queue.Put(dispatch.Job{Ref: octoRef, ID: id, Run: func(context.Context) error { job(); return nil }})
	}
	w.at["started"] = func() { // the stop is committed when the delivery is on its way
		w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "stop", Source: "cli"}})
		put("close", func() Result { return w.host.Close(context.Background(), Close{Ref: octoRef, Reason: Stopped}) })
		for range 100 {
			runtime.Gosched() // time for a close that does not wait
		}
	}
	put("IC_1", func() Result { return w.host.Deliver(context.Background(), w.delivery(c)) })
	if err := queue.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if calls := strings.Join(w.tmux.calls, " "); calls != "look ready paste look close" || w.ledger.row(octoRef, "IC_1").State != record.Delivered {
		t.Errorf("calls %s, the comment is %s", calls, w.ledger.row(octoRef, "IC_1").State)
	}
	if len(w.tmux.panes) != 1 || w.tmux.panes[0].look.State != tmux.Dead || w.ledger.get(octoRef).Session.Open() {
		t.Errorf("%d sessions, the first is %s", len(w.tmux.panes), w.tmux.panes[0].look.State)
	}
}

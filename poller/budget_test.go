package poller

import (
	"errors"
	"slices"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
)

var errTracker = errors.New("the tracker is down")

// B2: a failed delivery is tried again until its budget is spent, then given up
// with a notice owed.
func TestAFailedDeliveryIsRetriedAndGivenUp(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	for attempt := 1; attempt <= 3; attempt++ {
		w.cycle()
		w.wantQueued("deliver poll-comment-" + id)
		if row := w.row(ref, id); row.Attempts != attempt {
			t.Fatalf("attempt %d is counted as %d", attempt, row.Attempts)
		}
		w.change(ref, record.Fail{Comment: id})
	}
	w.cycle()
	w.wantQueued()
	row := w.row(ref, id)
	if row.State != record.GaveUp || row.Notice != record.NoticeOwed || row.Version != "v1.0.0" {
		t.Errorf("the row is %+v", row)
	}
	if w.cycles[len(w.cycles)-1].Failures != 1 {
		t.Error("the failure is not counted")
	}
	w.quietCycle() // B7: never again by the same release
	w.restart("run-2", "v1.0.1")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id) // an upgrade heals what a bug stranded
	if row := w.row(ref, id); row.Attempts != 1 {
		t.Errorf("re-armed with %d attempts spent", row.Attempts)
	}
}

// B1: in flight is not failed: no second copy, nothing counted.
func TestWhatIsInFlightIsNotTouched(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	queued := len(w.queued)
	for range 5 {
		w.say(ref, "mallory", "bump")
		w.cycle()
	}
	if len(w.queued) != queued || w.row(ref, id).Attempts != 1 {
		t.Errorf("queued %d, attempts %d", len(w.queued), w.row(ref, id).Attempts)
	}
}

// B8, story 8: a kill spends nothing that was only queued, however often.
func TestAKillSpendsNothingThatWasOnlyQueued(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	for i := range 10 {
		w.restart("run-k"+string(rune('a'+i)), "v1.0.0")
		w.cycle()
		w.wantQueued("deliver poll-comment-" + id)
		if row := w.row(ref, id); row.Attempts != 1 || row.Run != "run-k"+string(rune('a'+i)) {
			t.Fatalf("after kill %d: %+v", i, row.Delivery)
		}
	}
}

// The same for a spawn: never tried, never given up (story 8).
func TestAKillSpendsNoSpawnThatWasOnlyQueued(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	for range 10 {
		w.restart("again", "v1.0.0")
		w.cycle()
		w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
	}
	if s := w.records[ref.Key()].Item.Spawn; s.Attempts != 1 || s.GaveUp {
		t.Errorf("the spawn row is %+v", s)
	}
}

// B8: started, the pane lives without the mark and the deadline has passed: the
// next attempt, and it is no repeat.
func TestAStartedDeliveryIsJudgedByTheRing(t *testing.T) {
	for name, tt := range map[string]struct {
		pane      record.PaneState
		life      string
		mark      bool
		late      bool
		state     record.State
		attempts  int
		mayRepeat bool
		queued    bool
	}{
		"in the ring: delivered":                         {record.PaneLive, "life-1", true, true, record.Delivered, 1, false, false},
		"in a dead pane's ring: delivered":               {record.PaneDead, "life-1", true, true, record.Delivered, 1, false, false},
		"its pane lives without it: again, no repeat":    {record.PaneLive, "life-1", false, true, record.Pending, 2, false, true},
		"before its deadline: nothing moves":             {record.PaneLive, "life-1", false, false, record.Pending, 1, false, false},
		"another life: again, and it may be a repeat":    {record.PaneLive, "life-2", false, true, record.Pending, 2, true, true},
		"the pane is gone: again, and may be a repeat":   {record.PaneAbsent, "", false, true, record.Pending, 2, true, true},
		"tmux does not answer: left for the next cycle":  {record.PaneUnknown, "", false, true, record.Pending, 1, false, false},
		"a foreign session: gone, but nothing is queued": {record.PaneForeign, "", false, true, record.Pending, 1, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			id := w.say(ref, "octocat", "hello")
			w.cycle()
			until := w.now.Add(10 * time.Second)
			if !tt.late {
				until = w.now.Add(time.Hour)
			}
			w.change(ref, record.Start{Comment: id, On: "life-1", Until: until})
			w.restart("run-2", "v1.0.0")
			w.pane(ref, tt.pane, tt.life)
			if tt.mark {
				w.pane(ref, tt.pane, tt.life, "poll-comment-"+id)
			}
			w.cycle()
			row := w.row(ref, id)
			if row.State != tt.state || row.Attempts != tt.attempts || row.MayRepeat != tt.mayRepeat {
				t.Errorf("the row is %s with %d attempts, may repeat %v", row.State, row.Attempts, row.MayRepeat)
			}
			if got := slices.Contains(w.take(), "deliver poll-comment-"+id); got != tt.queued {
				t.Errorf("queued: %v", got)
			}
		})
	}
}

// Story 5: at the last attempt too the ring is read before the verdict.
func TestTheLastAttemptIsNotGivenUpOverItsProof(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.fails(ref, id, 2)
	w.cycle()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now.Add(10 * time.Second)})
	w.restart("run-2", "v1.0.0")
	w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	w.cycle()
	w.want(ref, id, record.Pending, "") // unknown postpones the verdict
	w.pane(ref, record.PaneLive, "life-1", "poll-comment-"+id)
	w.cycle()
	w.want(ref, id, record.Delivered, "")
}

// Story 4: behind a comment that waits nothing is queued, and a worker refuses
// what an older pending comment stands before.
func TestOnlyTheOldestPendingMayStart(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	a, b := w.say(ref, "octocat", "a"), w.say(ref, "octocat", "b")
	w.cycle()
	w.wantQueued("deliver poll-comment-"+a, "deliver poll-comment-"+b)
	w.change(ref, record.Fail{Comment: a})
	rec := w.records[ref.Key()]
	start := record.Start{Comment: b, On: "life-1", Until: w.now.Add(10 * time.Second)}
	changes, ok := Admit(rec, rec, nil, start, policy.New(w.policy))
	if ok {
		t.Fatal("b may start before a")
	}
	w.change(ref, changes...)
	if row := w.row(ref, b); row.Attempts != 0 {
		t.Errorf("b's attempt was not given back: %+v", row.Delivery)
	}
	w.cycle()
	w.wantQueued("deliver poll-comment-"+a, "deliver poll-comment-"+b)
}

// B4, B5: what a stop abandons gets its attempt back and is found again; three
// stops spend nothing.
func TestStopsCostNothing(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	for i := range 3 {
		w.cycle()
		held := []record.Held{{Ref: ref.String(), DeliveryID: "poll-comment-" + id}, {Ref: ref.String(), DeliveryID: "poll-comment-other"}}
		n, err := ReleaseAbandoned(t.Context(), w, held, func(name string, f map[string]any) { w.events = append(w.events, Event{name, f}) })
		if err != nil || n != 1 {
			t.Fatalf("released %d, %v", n, err)
		}
		if n, _ = ReleaseAbandoned(t.Context(), w, held, func(string, map[string]any) {}); n != 0 {
			t.Fatal("released twice")
		}
		if row := w.row(ref, id); row.Attempts != 0 || row.State != record.Pending {
			t.Fatalf("after stop %d: %+v", i, row.Delivery)
		}
		w.restart("run", "v1.0.0")
	}
	if w.told("poll.attempts_released") != 3 {
		t.Error("the releases were not told of")
	}
}

// B6, story 11: a harness that exits at once ends in a give-up, and only
// something new said tries again.
func TestAHarnessThatExitsAtOnceIsGivenUp(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	for range 3 {
		w.cycle()
		if len(w.take()) != 1 {
			t.Fatal("not tried")
		}
		w.change(ref, record.Start{On: record.OnNewPane, Until: w.now}, record.Fail{MayRepeat: true})
	}
	if r := w.cycle(); r.Failures != 1 {
		t.Errorf("%d failures are counted", r.Failures)
	}
	w.wantQueued()
	if s := w.records[ref.Key()].Item.Spawn; !s.GaveUp || s.Notice != record.NoticeOwed {
		t.Errorf("the spawn row is %+v", s)
	}
	w.quietCycle()
	w.unreadCycle()
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-4")
	w.change(ref, record.Start{On: record.OnNewPane, Until: w.now}, record.Deliver{}, record.Serve{},
		record.PutSession{Session: record.Session{Status: record.Active, Host: "here", CreatedAt: w.now, Identity: "life-1"}})
	w.pane(ref, record.PaneLive, "life-1")
	w.say(ref, "mallory", "bump")
	w.cycle()
	if s := w.records[ref.Key()].Item.Spawn; s.Attempts != 1 {
		t.Errorf("a session that is up has reset the budget: %+v", s)
	}
}

// B6: once a session came up, its end does not start it again for ever.
func TestASessionThatCameUpIsServed(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.pane(ref, record.PaneDead, "life-1")
	for range 5 {
		w.cycle()
	}
	w.wantQueued()
}

// F7, story 10: what a worker commits meanwhile sends the decision back.
func TestADecisionOnAStaleRecordIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.fails(ref, id, 2)
	w.cycle()
	w.take()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now.Add(-time.Hour)})
	w.beforeCommit = func() { w.change(ref, record.Deliver{Comment: id}) }
	w.say(ref, "mallory", "bump")
	w.cycle()
	w.want(ref, id, record.Delivered, "")
	if w.told("poll.comment_failed") != 0 {
		t.Error("a give-up was told of that did not happen")
	}
}

// F4, B9: when the commit's outcome is unknown no effect follows.
func TestNoEffectFollowsAFailedCommit(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "hello")
	w.commitErr = record.ErrUnknown
	r := w.cycle()
	w.wantQueued()
	if len(r.Errors) == 0 {
		t.Error("the cycle has no error")
	}
	w.commitErr = nil
	w.cycle()
	if len(w.take()) != 1 {
		t.Error("not tried again")
	}
}

// D1: at most maxSessions; what is over waits, spends nothing, is said once.
func TestSessionsBeyondTheNumberWait(t *testing.T) {
	w := newWorld(t)
	w.max = 1
	for n := 1; n <= 3; n++ {
		w.say(w.open(n, "octocat"), "octocat", "the-loop start")
	}
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
	w.bringUpAgain(1)
	w.cycle()
	w.wantQueued()
	if s := w.records[issue(2).Key()].Item.Spawn; s.Attempts != 0 {
		t.Errorf("waiting cost %d attempts", s.Attempts)
	}
	if n := w.told("dispatch.dropped"); n != 1 {
		t.Errorf("said %d times", n)
	}
	w.pane(issue(1), record.PaneDead, "life-1")
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-2-1")
}

func (w *world) bringUpAgain(n int) { w.t.Helper(); w.bringUp(issue(n)) }

// B7: an imported give-up has neither author nor text; re-armed it has both, or
// its worker would take it for a stranger's.
func TestAnImportedGiveUpIsRearmedWithItsAuthor(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "stranded by the old release")
	w.change(ref, record.Import{Overwrite: true, Session: w.records[ref.Key()].Session, Item: w.records[ref.Key()].Item,
		Comments: []record.Comment{{ID: "c1", State: record.Settled, Seq: 1}, {ID: id, State: record.GaveUp, Version: "6.1.0", Seq: 2}}})
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	rec := w.records[ref.Key()]
	start := record.Start{Comment: id, On: "life-1", Until: w.now}
	if changes, ok := Admit(rec, rec, nil, start, policy.New(w.policy)); !ok {
		t.Errorf("the worker may not start it: %+v", changes)
	}
}

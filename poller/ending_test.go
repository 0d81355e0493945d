package poller

import (
	"errors"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// end closes an item on its tracker, one second after what was said last.
func (w *world) end(ref workitem.Ref) {
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
}

// P8: what was said before the end, by whom, and what the session is.
func TestLastWords(t *testing.T) {
	for name, tt := range map[string]struct {
		author, body string
		pane         record.PaneState
		halt         string
		state        record.State
		outcome      string
	}{
		"of a member, to a session that lives":   {"hubot", "thanks", record.PaneLive, "", record.Pending, ""},
		"of a member, to a session that is gone": {"hubot", "thanks", record.PaneDead, "", record.Settled, record.ItemEnded},
		"of a member, to somebody else's":        {"hubot", "thanks", record.PaneForeign, "", record.Settled, record.ItemEnded},
		"of a stranger":                          {"mallory", "thanks", record.PaneLive, "", record.Baselined, record.Unauthorized},
		"of our own":                             {"octocat", "done <!-- the-loop:agent-comment -->", record.PaneLive, "", record.Baselined, record.SelfAuthored},
		"a command":                              {"octocat", "the-loop cleanup", record.PaneLive, "", record.Settled, record.ItemEnded},
		"two commands":                           {"octocat", "the-loop stop the-loop start", record.PaneLive, "", record.Settled, record.ItemEnded},
		"of a member, to a paused session":       {"hubot", "thanks", record.PaneLive, "the-loop pause", record.Settled, record.ItemEnded},
		"of a member, to a stopped session":      {"hubot", "thanks", record.PaneLive, "the-loop stop", record.Settled, record.ItemEnded},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			w.pane(ref, tt.pane, "life-1")
			if tt.halt != "" {
				w.say(ref, "octocat", tt.halt)
				w.cycle()
				w.take()
			}
			id := w.say(ref, tt.author, tt.body)
			w.end(ref)
			late := w.say(ref, "octocat", "one more thing")
			if r := w.cycle(); len(r.Errors) > 0 || r.Closures != 1 {
				t.Errorf("%d closures, errors %v", r.Closures, r.Errors)
			}
			if rec := w.records[ref.Key()]; !rec.Item.Sealed() {
				w.want(ref, id, tt.state, tt.outcome)
				w.want(ref, late, record.Settled, record.ItemEnded)
			} else if tt.state == record.Pending {
				t.Error("forgotten over a pending comment")
			}
			if c := w.records[ref.Key()].Item.Control; c.Command == "cleanup" {
				t.Error("a command of an ended item was obeyed")
			}
			if n := w.told("poll.closure_detected"); n != 1 {
				t.Errorf("told %d times", n)
			}
		})
	}
}

// P8: last words are not cut off by an unknown: neither those that have a row nor
// those that nobody has dealt with are given up on it (D4).
func TestLastWordsWaitForTmux(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	a := w.say(ref, "octocat", "known before the end")
	w.cycle()
	b := w.say(ref, "octocat", "not known before the end")
	w.end(ref)
	late := w.say(ref, "octocat", "after it")
	w.cycle()
	w.wantQueued()
	w.want(ref, a, record.Pending, "")
	if _, known := w.records[ref.Key()].Comments.Get(b); known {
		t.Errorf("b is decided: %+v", w.row(ref, b))
	}
	w.want(ref, late, record.Settled, record.ItemEnded)
	w.pane(ref, record.PaneLive, "life-1")
	w.cycle()
	w.wantQueued("deliver poll-comment-"+a, "deliver poll-comment-"+b)
}

// P8: nor while an attempt may still bring the session up.
func TestLastWordsWaitForADeadline(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.pane(ref, record.PaneAbsent, "")
	a, b := w.say(ref, "octocat", "a"), w.say(ref, "octocat", "b")
	w.cycle()
	w.change(ref, record.Start{Comment: a, On: record.OnNewPane, Until: w.now.Add(90 * time.Second)})
	w.restart("run-2", "v1.0.0")
	w.end(ref)
	w.cycle()
	w.want(ref, a, record.Pending, "")
	w.want(ref, b, record.Pending, "")
	w.pane(ref, record.PaneLive, "life-2", "poll-comment-"+a) // it landed late
	w.cycle()
	w.want(ref, a, record.Delivered, "")
}

// P8: a comment whose row was removed long ago is no last word.
func TestAForgottenRowIsNoLastWord(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "long ago")
	w.cycle()
	w.deliver(ref, id)
	rec := w.records[ref.Key()]
	rec.Item.LateUntil, rec.Comments = w.now, record.Thread{}
	w.records[ref.Key()] = rec
	w.end(ref)
	w.cycle()
	w.wantQueued("close close")
	w.want(ref, id, record.Baselined, record.Late)
}

// P8: an ended item is not forgotten while something of it is queued, while an
// attempt is undecided, while its session is open, or while tmux is silent.
func TestAnEndedItemWaitsToBeForgotten(t *testing.T) {
	shut := record.SetStatus{Status: record.Shut, At: noon}
	hold := []record.Change{record.Hold{Note: noteOf("x", noon)}, record.Queue{Comment: "x", DeliveryID: "poll-comment-x", Run: "r"}}
	for name, tt := range map[string]struct {
		changes []record.Change
		held    string
		pane    record.PaneState
		sealed  bool
	}{
		"nothing is left":                  {[]record.Change{shut}, "", record.PaneDead, true},
		"the pane is gone":                 {[]record.Change{shut}, "", record.PaneAbsent, true},
		"its name is somebody else's":      {[]record.Change{shut}, "", record.PaneForeign, true},
		"a close is running":               {[]record.Change{shut}, "close", record.PaneDead, false},
		"a job is running":                 {[]record.Change{shut}, "poll-comment-x", record.PaneDead, false},
		"its session is open":              {nil, "", record.PaneDead, false},
		"its session lives without one":    {[]record.Change{shut}, "", record.PaneLive, false},
		"tmux is silent":                   {[]record.Change{shut}, "", record.PaneUnknown, false},
		"a spawn is undecided":             {[]record.Change{shut, record.QueueSpawn{DeliveryID: "s", Run: "r"}, record.Start{On: record.OnNewPane, Until: noon.Add(24 * time.Hour)}}, "", record.PaneAbsent, false},
		"a comment's attempt is undecided": {append([]record.Change{shut}, append(hold, record.Start{Comment: "x", On: "life-1", Until: noon.Add(24 * time.Hour)})...), "", record.PaneAbsent, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, reopened := range []bool{false, true} {
				w := newWorld(t)
				ref := w.started()
				w.change(ref, append([]record.Change{record.End{At: noon}}, tt.changes...)...)
				w.pane(ref, tt.pane, "life-1")
				if !reopened {
					w.end(ref)
				}
				if tt.held != "" {
					w.held[ref.Key()] = []string{tt.held}
				}
				if r := w.cycle(); len(r.Errors) > 0 {
					t.Fatal(r.Errors)
				}
				if i := w.records[ref.Key()].Item; i.EndedAt.IsZero() != (tt.sealed && reopened) || !reopened && i.Sealed() != tt.sealed {
					t.Errorf("reopened %v: left %+v", reopened, i)
				}
			}
		})
	}
}

// P8: reopened before its last words were delivered: they are settled as ended,
// and told of, before the item begins anew.
func TestWordsThatCannotBeDeliveredBeforeAReopeningAreSettled(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "last words")
	w.end(ref)
	w.cycle()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now}, record.SetStatus{Status: record.Shut, At: w.now})
	w.take()
	w.pane(ref, record.PaneAbsent, "")
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Open, time.Time{} })
	if r := w.cycle(); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	if n := w.told("poll.comment_settled"); n != 2 { // the start, and the last words
		t.Errorf("told of %d settled comments", n)
	}
	w.want(ref, id, record.Baselined, record.FirstSight)
	if rec := w.records[ref.Key()]; !rec.Item.Known() || rec.Item.Ended() {
		t.Errorf("after the reopening: %+v", rec.Item)
	}
}

// P8: a reopened item whose old session lives is neither fed nor started before
// that is closed.
func TestAReopenedItemWaitsForItsOldSession(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.end(ref)
	w.cycle()
	w.take()
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Open, time.Time{} })
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.wantQueued("close close")
	if rec := w.records[ref.Key()]; !rec.Item.Ended() {
		t.Errorf("forgotten with its session alive: %+v", rec.Item)
	}
}

// P8: a reopened item that the poller starts by itself is started again.
func TestAReopenedItemStartsAlone(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart = false
	ref := w.open(1, "octocat")
	w.cycle()
	w.bringUp(ref)
	w.end(ref)
	w.cycle()
	w.take()
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
	w.pane(ref, record.PaneDead, "life-1")
	w.cycle()
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Open, time.Time{} })
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-2")
}

// P8: the time of an ending is the tracker's where it gives one, else ours.
func TestTheTimeOfAnEnding(t *testing.T) {
	for _, given := range []bool{true, false} {
		w := newWorld(t)
		ref := w.started()
		w.end(ref)
		closedAt := w.src.items[0].ClosedAt
		if !given {
			w.src.items[0].ClosedAt = time.Time{}
		}
		w.cycle()
		want := w.now
		if given {
			want = closedAt
		}
		if at := w.records[ref.Key()].Item.EndedAt; !at.Equal(want) {
			t.Errorf("given %v: ended at %s, want %s", given, at, want)
		}
	}
}

// P8: a tracker's proof that an item is gone is decided again when the record
// changed meanwhile (F7), and nothing is asked of the thread.
func TestAnItemThatIsGoneEnds(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.src.items = nil
	w.src.stateErr = map[string]error{ref.Key(): errors.Join(errors.New("github"), workitem.ErrGone)}
	reads := w.src.reads
	w.beforeCommit = func() { w.change(ref, record.Withhold{Author: "x"}) }
	if r := w.cycle(); len(r.Errors) > 0 || w.src.reads != reads {
		t.Errorf("%d threads read, errors %v", w.src.reads-reads, r.Errors)
	}
	w.want(ref, id, record.Settled, record.Deleted)
	if i := w.records[ref.Key()].Item; !i.Ended() || i.Title != "issue 1" || i.Author != "octocat" {
		t.Errorf("left %+v", i)
	}
}

// P8: an open item without its label is left alone: asked for each cycle while
// its session is open, else with the full resync.
func TestAnUnlistedItem(t *testing.T) {
	for name, open := range map[string]bool{"with a session": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.open(1, "octocat")
			w.cycle()
			if open {
				w.say(ref, "octocat", "the-loop start")
				w.cycle()
				w.bringUp(ref)
				w.cycle()
			}
			w.set(ref, func(i *workitem.Item) { i.Labelled = false })
			for range 5 {
				w.cycle()
			}
			if i := w.records[ref.Key()].Item; i.Ended() || i.OffListAt.IsZero() {
				t.Errorf("it is %+v", i)
			}
			if want := map[bool]int{true: 5, false: 1}[open]; len(w.src.asked) != want {
				t.Errorf("asked for %d times, want %d", len(w.src.asked), want)
			}
			w.say(ref, "mallory", "bump")
			since := w.records[ref.Key()].Item.OffListAt
			w.cycle()
			if at := w.records[ref.Key()].Item.OffListAt; !at.Equal(since) {
				t.Error("it is taken off the list each time")
			}
			w.now = w.now.Add(2 * time.Hour)
			for range 3 {
				w.cycle()
			}
			if want := map[bool]int{true: 9, false: 2}[open]; len(w.src.asked) != want {
				t.Errorf("asked for %d times after the full resync, want %d", len(w.src.asked), want)
			}
			w.quietCycle()
			w.set(ref, func(i *workitem.Item) { i.Labelled = true })
			w.cycle()
			if at := w.records[ref.Key()].Item.OffListAt; !at.IsZero() {
				t.Errorf("listed again, and off the list since %s", at)
			}
		})
	}
}

// P8: never for items of a source that was taken out of the configuration.
func TestItemsOfAnotherSourceAreNotAskedFor(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.end(ref)
	w.poller.Sources = []Source{&named{tracker: w.src, id: "github:octo/other"}}
	w.cycle()
	if len(w.src.asked) != 0 {
		t.Errorf("asked for %v", w.src.asked)
	}
}

// P8: a start that was said after the ending and before the reopening was seen is
// obeyed at once: the record of before is history.
func TestAStartBesideAReopening(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.end(ref)
	w.cycle()
	w.take()
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
	w.pane(ref, record.PaneDead, "life-1")
	w.cycle()
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Open, time.Time{} })
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-2")
}

// P1, story 16: the thread of an item that is asked for by number is read again
// when it may have changed in the second of the listing.
func TestAnUnlistedItemThatChangedInTheListingsSecond(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.set(ref, func(i *workitem.Item) { i.Labelled, i.Source = false, "" })
	w.src.date = w.src.items[0].UpdatedAt
	w.cycle()
	if source := w.records[ref.Key()].Item.Source; source != w.src.ID() {
		t.Errorf("asked for by number it is of the source %q", source)
	}
	w.src.threads[ref.Key()][0].Body = "the-loop start, edited in that second"
	reads := w.src.reads
	w.cycle()
	if w.src.reads == reads {
		t.Error("it was not read again")
	}
	w.src.date = w.now
	w.cycle()
	reads = w.src.reads
	w.cycle()
	if w.src.reads != reads {
		t.Error("it is read for ever")
	}
}

// A7, P8: somebody taken off the list has no last words.
func TestTheLastWordsOfSomebodyTakenOffTheList(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	id := w.say(ref, "hubot", "thanks")
	w.cycle()
	w.policy.AuthorizedUsers = []string{"octocat"}
	w.pane(ref, record.PaneLive, "life-1")
	w.end(ref)
	w.cycle()
	w.want(ref, id, record.Settled, record.Revoked)
}

// P8: the old session of a reopened item is closed also over words that were
// still to be delivered to it.
func TestTheOldSessionOfAReopenedItemIsClosed(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "last words")
	w.end(ref)
	w.cycle()
	w.take()
	w.change(ref, record.Fail{Comment: id})
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Open, time.Time{} })
	w.cycle()
	w.wantQueued("close close")
}

// I4: what lives without a row keeps an ended item from being forgotten, whenever
// it is found.
func TestAnEndedItemIsNotForgottenOverALivingSession(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now}, record.End{At: w.now})
	w.end(ref)
	f := restingFacts()
	f.Now = w.now
	d, err := Decide(w.src.items[0], w.src.threads[ref.Key()], w.records[ref.Key()], f)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range d.Changes {
		if _, forgets := c.(record.Forget); forgets {
			t.Error("it is forgotten")
		}
	}
	if len(d.Effects) != 1 || d.Effects[0].Kind != DoClose {
		t.Errorf("the effects are %+v", d.Effects)
	}
}

// B3, P8: on what is gone no notice can be posted: it is not asked for, and what
// is owed keeps nothing.
func TestAnItemThatIsGoneIsForgottenOverAnOwedNotice(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.fails(ref, id, 3)
	w.cycle()
	w.restart("run-2", "v1.0.0")
	w.notices, w.src.items = nil, nil
	w.src.stateErr = map[string]error{ref.Key(): workitem.ErrGone}
	w.cycle()
	w.take()
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
	w.pane(ref, record.PaneDead, "life-1")
	w.cycle()
	if i := w.records[ref.Key()].Item; !i.Sealed() || len(w.notices) > 0 {
		t.Errorf("asked for %q, left %+v", w.notices, i)
	}
}

package poller

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// obey gives a command on this machine.
func (w *world) obey(ref workitem.Ref, word policy.Command) (Obeyed, error) {
	w.now = w.now.Add(time.Second)
	return Obey(w.t.Context(), w.poller.Options, ref, word)
}

// refusalOf is the reason of a RefusedError; empty when it is none.
func refusalOf(err error) string {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return ""
}

// X4: what the operator says works like a comment, at once; only that a start
// needs no label.
func TestTheOperatorsCommands(t *testing.T) {
	const spawn = "spawn poll-spawn-github-octo-repo-1-2"
	for name, tt := range map[string]struct {
		at      column
		word    policy.Command
		edit    func(*world)
		effect  string
		refused string
		queued  string
	}{
		"start":                     {none, policy.Start, nil, "spawned", "", spawn},
		"do":                        {none, policy.Do, nil, "spawned", "", spawn},
		"start without a label":     {none, policy.Start, func(w *world) { w.src.items[0].Labelled = false }, "spawned", "", spawn},
		"start, which never spawns": {none, policy.Start, func(w *world) { w.policy.SpawnOnUnmatched = policy.SpawnNever }, "", "spawn-policy", ""},
		"start of a live one":       {active, policy.Start, nil, "noop", "", ""},
		"start of a dead one":       {"dead", policy.Start, nil, "spawned", "", spawn},
		"start without room":        {none, policy.Start, func(w *world) { w.max = 0 }, "spawned", "", ""},
		"resume of a live one":      {active, policy.Resume, nil, "", "nothing-to-resume", ""},
		"resume of a paused one":    {paused, policy.Resume, nil, "resumed", "", ""},
		"pause":                     {active, policy.Pause, nil, "paused", "", ""},
		"stop":                      {active, policy.Stop, nil, "stopped", "", "close close"},
		"cleanup":                   {active, policy.Cleanup, nil, "cleaned", "", "close close"},
		"cleanup of a closed one":   {closed, policy.Cleanup, nil, "cleaned", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.at(tt.at)
			if tt.edit != nil {
				tt.edit(w)
			}
			before := w.records[issue(1).Key()]
			done, err := w.obey(issue(1), tt.word)
			if refusalOf(err) != tt.refused || (err != nil) != (tt.refused != "") || done.Effect != tt.effect {
				t.Errorf("%+v, %v", done, err)
			}
			rec := w.records[issue(1).Key()]
			if tt.refused != "" {
				if rec.Item.Rev != before.Item.Rev {
					t.Errorf("a refused command left %+v", rec.Item.Control)
				}
			} else if c := rec.Item.Control; c.Command != string(tt.word) || c.Source != "cli" {
				t.Errorf("the record is %+v", c)
			}
			if got := strings.Join(w.take(), ","); got != tt.queued {
				t.Errorf("queued %q, want %q", got, tt.queued)
			}
			if tt.at == closed && rec.Session != nil {
				t.Error("the row of the closed session is still there")
			}
		})
	}
}

// X5: what is dropped by the operator's stop is settled in its transaction.
func TestTheOperatorsStopDropsWhatIsQueued(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	unseen := w.say(ref, "octocat", "and more")
	w.take()
	if _, err := w.obey(ref, policy.Stop); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{id, unseen} {
		w.want(ref, id, record.Settled, record.SessionStopped)
	}
	w.wantQueued("close close")
}

// X4: what was said in the thread comes first, so that the operator has the last
// word; what is to be delivered goes with it.
func TestTheOperatorHasTheLastWord(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "the-loop stop")
	if _, err := w.obey(ref, policy.Start); err != nil {
		t.Fatal(err)
	}
	if c := w.records[ref.Key()].Item.Control; c.Command != "start" || !c.Served {
		t.Errorf("the record is %+v", c)
	}
	w.cycle()
	w.wantQueued()
	id := w.say(ref, "octocat", "hello")
	if _, err := w.obey(ref, policy.Start); err != nil {
		t.Fatal(err)
	}
	w.wantQueued("deliver poll-comment-" + id)
}

// An item that nobody has seen is seen for the first time.
func TestTheOperatorStartsAnItemNobodyHasSeen(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "mallory")
	old := w.say(ref, "octocat", "long ago")
	if _, err := w.obey(ref, policy.Start); err != nil {
		t.Fatal(err)
	}
	w.want(ref, old, record.Baselined, record.FirstSight)
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
}

// A tracker that does not answer leaves what it brings up to the next cycle; a
// stop needs none.
func TestTheOperatorNeedsNoTracker(t *testing.T) {
	for name, unread := range map[string]func(*world){
		"no state":    func(w *world) { w.src.stateErr = map[string]error{issue(1).Key(): errTracker} },
		"no comments": func(w *world) { w.src.readErr = errTracker },
		"no source":   func(w *world) { w.poller.Sources = []Source{&named{tracker: w.src, id: "github:octo/other"}} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.at(none)
			id := w.say(issue(1), "octocat", "hello")
			unread(w)
			done, err := w.obey(issue(1), policy.Start)
			if err != nil || done.Later == nil || done.Effect != "spawned" {
				t.Fatalf("%+v, %v", done, err)
			}
			w.wantQueued()
			if _, known := w.records[issue(1).Key()].Comments.Get(id); known {
				t.Error("a comment was decided that was not read")
			}
			w.src.stateErr, w.src.readErr, w.poller.Sources = nil, nil, []Source{w.src}
			w.cycle()
			w.wantQueued("deliver poll-comment-" + id)
			w.change(issue(1), record.Deliver{Comment: id}, record.Serve{},
				record.PutSession{Session: record.Session{Status: record.Active, Host: "here", Identity: "life-1"}})
			w.pane(issue(1), record.PaneLive, "life-1")
			unread(w)
			if _, err := w.obey(issue(1), policy.Stop); err != nil {
				t.Fatal(err)
			}
			w.wantQueued("close close")
		})
	}
}

// Nothing is recorded for what has ended or is not known.
func TestTheOperatorIsRefused(t *testing.T) {
	gone := func(w *world) { w.src.stateErr = map[string]error{issue(1).Key(): errTracker} }
	for name, tt := range map[string]struct {
		before func(*world)
		want   string
	}{
		"it is closed":                                {func(w *world) { w.at(active); w.end(issue(1)) }, "ended"},
		"it has ended, and nobody answers":            {func(w *world) { w.at(active); w.change(issue(1), record.End{At: w.now}); gone(w) }, "ended"},
		"it is open again, and its old session lives": {func(w *world) { w.at(active); w.change(issue(1), record.End{At: w.now}) }, "ended"},
		"nobody knows it, and nobody answers":         {func(w *world) { w.open(1, "octocat"); gone(w) }, "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			tt.before(w)
			before := w.records[issue(1).Key()]
			w.take()
			_, err := w.obey(issue(1), policy.Start)
			if refusalOf(err) != tt.want || !strings.Contains(err.Error(), "the-loop start is refused: ") || strings.HasSuffix(err.Error(), "refused: ") {
				t.Errorf("%v", err)
			}
			if after := w.records[issue(1).Key()]; after.Item.Rev != before.Item.Rev {
				t.Error("something was recorded")
			}
			w.wantQueued()
		})
	}
}

// F7, B9: a command is decided again when the record changed meanwhile, and acted
// on only when its commit is known.
func TestTheOperatorsCommandIsCommittedFirst(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.beforeCommit = func() { w.change(ref, record.Withhold{Author: "x"}) }
	if _, err := w.obey(ref, policy.Stop); err != nil {
		t.Fatal(err)
	}
	w.wantQueued("close close")
	w.commitErr = record.ErrUnknown
	if _, err := w.obey(ref, policy.Start); !errors.Is(err, record.ErrUnknown) {
		t.Errorf("%v", err)
	}
	w.wantQueued()
	w.commitErr = nil
	n := 0
	var change func()
	change = func() {
		n++
		w.change(ref, record.Withhold{Author: strings.Repeat("x", n+1)})
		w.beforeCommit = change
	}
	w.beforeCommit = change
	if _, err := w.obey(ref, policy.Pause); !errors.Is(err, record.ErrChanged) || n != maxConflicts {
		t.Errorf("after %d rounds: %v", n, err)
	}
	w.beforeCommit = nil
}

// F7: a command of the operator outlasts a while in which the record never rests.
func TestTheOperatorsCommandTakesItsTime(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	busy, n := time.Now().Add(150*time.Millisecond), 0
	var change func()
	change = func() {
		if time.Now().Before(busy) {
			n++
			w.change(ref, record.Withhold{Author: strings.Repeat("x", n+1)})
			w.beforeCommit = change
		}
	}
	w.beforeCommit = change
	if done, err := w.obey(ref, policy.Pause); err != nil || done.Effect != "paused" {
		t.Errorf("after %d rounds: %+v, %v", n, done, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	w.beforeCommit = func() { w.change(ref, record.Withhold{Author: "y"}); cancel() }
	if _, err := Obey(ctx, w.poller.Options, ref, policy.Stop); !errors.Is(err, context.Canceled) {
		t.Errorf("a stop of the process: %v", err)
	}
}

// D3, B2: the operator's words wait for a deadline like any other.
func TestTheOperatorsStopWaitsForADeadline(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now.Add(90 * time.Second)})
	w.restart("run-2", "v1.0.0")
	if _, err := w.obey(ref, policy.Stop); err != nil {
		t.Fatal(err)
	}
	w.wantQueued()
	w.cycle()
	w.cycle()
	if got := w.take(); !slices.Contains(got, "close close") {
		t.Errorf("queued %q", got)
	}
}

// P1: what is read by number is read again by the next cycle: no listing said how
// far its updatedAt may be trusted.
func TestWhatTheOperatorReadIsReadAgain(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	if _, err := w.obey(ref, policy.Pause); err != nil {
		t.Fatal(err)
	}
	reads := w.src.reads
	w.cycle()
	if w.src.reads == reads {
		t.Error("it counts as read")
	}
}

// An id of a source is the key of its items without the number.
func TestTheSourceOfAnItem(t *testing.T) {
	for source, want := range map[string]bool{
		"github:octo/repo": true, "github:octo/rep": false, "github:octo/repo2": false, "github:octo": false, "": false, "github:octo/repo#1": false,
	} {
		if got := holds(source, issue(1)); got != want {
			t.Errorf("%q holds %s: %v", source, issue(1), got)
		}
	}
}

// What could not be read is not decided on: no pending comment counts as deleted.
func TestTheOperatorDecidesNothingUnread(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.src.readErr = errTracker
	if done, err := w.obey(ref, policy.Start); err != nil || done.Later == nil {
		t.Fatal(done, err)
	}
	w.want(ref, id, record.Pending, "")
	w.wantQueued()
}

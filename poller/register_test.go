package poller

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

const byHand = "1b4e28ba-2fa1-41d2-883f-0016d3cca427"

// registered says what tmux has for a registered conversation; everything else
// is the world's.
type registered struct {
	*world
	pane record.Pane
}

func (r registered) Look(ctx context.Context, ref workitem.Ref, rec record.Record) record.Pane {
	if rec.Session != nil && rec.Session.HarnessSessionID == byHand {
		return r.pane
	}
	return r.world.Look(ctx, ref, rec)
}

func (w *world) register(ref workitem.Ref, target string, at record.PaneState) (bool, error) {
	w.now = w.now.Add(time.Second)
	o := w.poller.Options
	o.Sessions = registered{w, record.Pane{State: at, Adoptable: at == record.PaneLive, Holder: "tmux session mine (no mark)"}}
	return RegisterSession(w.t.Context(), o, ref, Registration{Harness: "mine", HarnessSessionID: byHand, Cwd: "/there", TmuxTarget: target})
}

// D2, X7: what a registration leaves in the ledger, whatever was the case before:
// the row, no session that is owed, and no command that would close it.
func TestAConversationIsRegistered(t *testing.T) {
	for name, c := range map[string]struct {
		before func(*world)
		// command is the record that it leaves; empty for none.
		command string
		effect  string
	}{
		"without a command":         {func(*world) {}, "", ""},
		"a start that had its turn": {func(w *world) { w.at(closed) }, "start", ""},
		"a start that is owed":      {func(w *world) { w.at(none); w.change(issue(1), control("start", "octocat")) }, "start", ""},
		"a stop":                    {func(w *world) { w.at(closed); w.change(issue(1), control("stop", "octocat")) }, "start", "noop"},
		"a cleanup":                 {func(w *world) { w.at(closed); w.change(issue(1), control("cleanup", "octocat")) }, "start", "noop"},
		"a pause": {func(w *world) {
			w.at("dead")
			w.change(issue(1), control("pause", "octocat"), record.SetStatus{Status: record.Paused, At: w.now})
		}, "start", "resumed"},
		"a spawn in nobody's hands": {func(w *world) {
			w.at(none)
			w.change(issue(1), control("start", "octocat"), record.QueueSpawn{DeliveryID: "s", Run: "killed"})
		}, "start", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.before(w); w.src.find(issue(1)) < 0 {
				w.open(1, "mallory")
				w.cycle()
			}
			w.take()
			w.events = nil
			if live, err := w.register(issue(1), "", record.PaneAbsent); live || err != nil {
				t.Fatal(live, err)
			}
			delete(w.panes, issue(1).Key())
			rec := w.records[issue(1).Key()]
			s := rec.Session
			if s == nil || s.Status != record.Active || s.HarnessSessionID != byHand || s.Harness != "mine" || s.Cwd != "/there" || s.Host != "here" {
				t.Fatalf("the row is %+v", s)
			}
			if got := rec.Item.Control; got != nil && (got.Command != c.command || !got.Served) || got == nil && c.command != "" {
				t.Errorf("the record is %+v", got)
			}
			if spawn := rec.Item.Spawn; spawn.Attempts != 0 || spawn.InHand() {
				t.Errorf("a spawn is in hand: %+v", spawn)
			}
			if w.told("session.adopted") != 1 || (w.told("control.command") == 1) != (c.effect != "") {
				t.Errorf("told of %+v", w.events)
			}
			for _, e := range w.events {
				if e.Name == "control.command" && e.Fields["effect"] != c.effect {
					t.Errorf("%+v", e.Fields)
				}
			}
			w.cycle()
			w.wantQueued()
			w.quietCycle()
			id := w.say(issue(1), "octocat", "hello")
			w.cycle()
			w.wantQueued("deliver poll-comment-" + id)
		})
	}
}

// D5: one that is alive is taken over at once, by its session's queue.
func TestALiveConversationIsTakenOver(t *testing.T) {
	w := newWorld(t)
	w.open(1, "octocat") // nobody has seen it yet
	if live, err := w.register(issue(1), "mine", record.PaneLive); !live || err != nil {
		t.Fatal(live, err)
	}
	w.wantQueued("adopt adopt")
	if rec := w.records[issue(1).Key()]; rec.Session.TmuxTarget != "mine" || rec.Item.Known() || rec.Item.Title != "issue 1" {
		t.Errorf("%+v, %+v", rec.Session, rec.Item)
	}
	w.pane(issue(1), record.PaneLive, "life-1")
	old := w.say(issue(1), "octocat", "the-loop start")
	w.cycle()
	w.want(issue(1), old, record.Settled, record.ControlExecuted)
	w.wantQueued()
}

// What cannot be an item's session is refused, and nothing is recorded.
func TestARegistrationIsRefused(t *testing.T) {
	silent := func(w *world) { w.at("unknown") }
	for name, c := range map[string]struct {
		before func(*world)
		target string
		at     record.PaneState
		reason string
		says   string
	}{
		"its tracker does not answer": {func(w *world) { w.open(1, "octocat"); w.src.stateErr = map[string]error{issue(1).Key(): errTracker} }, "", record.PaneAbsent, "unknown", "does not have github:octo/repo#1"},
		"it is closed":                {func(w *world) { w.open(1, "octocat"); w.end(issue(1)) }, "", record.PaneAbsent, "ended", "has ended"},
		"it has ended":                {func(w *world) { w.at(closed); w.change(issue(1), record.End{At: w.now}) }, "", record.PaneAbsent, "ended", "has ended"},
		"it belongs to another item":  {func(w *world) { w.at(closed); w.change(issue(1), linkTo(2, "event", false)) }, "", record.PaneAbsent, "linked", "session of github:octo/repo#2"},
		"it has one that lives":       {func(w *world) { w.at(active) }, "", record.PaneAbsent, "session", "sessions stop github:octo/repo#1"},
		"it has one that nobody's row names": {func(w *world) {
			w.at(none)
			w.pane(issue(1), record.PaneLive, "life-1")
			w.change(issue(1), control("start", "octocat"))
		}, "", record.PaneAbsent, "session", "alive"},
		"tmux does not answer":          {silent, "", record.PaneAbsent, "silent", "try again"},
		"tmux does not answer about it": {func(w *world) { w.at(closed) }, "mine", record.PaneUnknown, "silent", "try again"},
		"something is queued":           {func(w *world) { w.at(closed); w.held[issue(1).Key()] = []string{"x"} }, "", record.PaneAbsent, "busy", "try again"},
		"something may still arrive": {func(w *world) {
			w.at("dead")
			w.change(issue(1), record.ResetSpawn{}, record.QueueSpawn{DeliveryID: "s", Run: "r"}, record.Start{On: record.OnNewPane, Until: w.now.Add(time.Hour)})
		}, "", record.PaneAbsent, "busy", "try again"},
		"something else has the name": {func(w *world) { w.at(none) }, "", record.PaneForeign, "occupied", "say --tmux-target"},
		"it is another conversation":  {func(w *world) { w.at(none) }, "mine", record.PaneForeign, "occupied", "not started for the conversation " + byHand},
		"nothing lives there":         {func(w *world) { w.at(none) }, "mine", record.PaneDead, "absent", "leave --tmux-target out"},
		"nothing is there":            {func(w *world) { w.at(none) }, "mine", record.PaneAbsent, "absent", "leave --tmux-target out"},
		"its last terminal stands before it": {func(w *world) {
			w.at(closed)
			w.change(issue(1), record.PutSession{Session: record.Session{Status: record.Shut, TmuxTarget: "loop-x", Host: "here"}})
		}, "mine", record.PaneDead, "kept", "kill-session -t =loop-x"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c.before(w)
			w.queued = nil
			before := w.records[issue(1).Key()]
			_, err := w.register(issue(1), c.target, c.at)
			if refusalOf(err) != c.reason || err == nil || !strings.Contains(err.Error(), "the-loop sessions register is refused: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if after := w.records[issue(1).Key()]; after.Item.Rev != before.Item.Rev || len(w.queued) > 0 {
				t.Errorf("recorded %+v, queued %v", after.Session, w.queued)
			}
		})
	}
}

// F7: a registration is decided again when the record changed meanwhile.
func TestARegistrationIsDecidedAgain(t *testing.T) {
	w := newWorld(t)
	w.at(closed)
	w.beforeCommit = func() { w.change(issue(1), record.End{At: w.now}) }
	if _, err := w.register(issue(1), "", record.PaneAbsent); refusalOf(err) != "ended" {
		t.Errorf("%v", err)
	}
	w = newWorld(t)
	w.at(closed)
	w.commitErr = record.ErrUnknown
	if _, err := w.register(issue(1), "mine", record.PaneLive); !errors.Is(err, record.ErrUnknown) {
		t.Errorf("%v", err)
	}
	w.wantQueued()
}

package session

import (
	"testing"
	"time"

	"theloop/record"
	"theloop/session/tmux"
)

// D5: what a look means for an item.
func TestLook(t *testing.T) {
	imported := record.Session{TmuxTarget: "loop-github.octo-repo-15", HarnessSessionID: sessionID}
	const name, ours = "loop-github_octo-repo-15", "/bin/sh -c '… session-exec …' 00"
	for _, c := range []struct {
		title     string
		look      tmux.Look
		row       *record.Session
		want      record.PaneState
		adoptable bool
	}{
		{"silent", tmux.Look{State: tmux.Silent}, nil, record.PaneUnknown, false},
		{"absent, no row", tmux.Look{State: tmux.Absent}, nil, record.PaneNone, false},
		{"absent, a row", tmux.Look{State: tmux.Absent}, &imported, record.PaneAbsent, false},
		{"ours, live", tmux.Look{State: tmux.Live, Owner: octoOwner, StartCommand: ours}, nil, record.PaneLive, true},
		{"ours, adopted", tmux.Look{State: tmux.Live, Owner: octoOwner, Name: name, StartCommand: "claude --resume " + sessionID}, &imported, record.PaneLive, true},
		{"ours, in the life that the row names", tmux.Look{State: tmux.Live, Owner: octoOwner, StartCommand: "vim", Identity: "1/2/3"}, &record.Session{Identity: "1/2/3"}, record.PaneLive, true},
		{"ours, respawned as a shell (D3)", tmux.Look{State: tmux.Live, Owner: octoOwner, StartCommand: "bash", Identity: "1/2/4"}, &record.Session{Identity: "1/2/3"}, record.PaneForeign, false},
		{"ours, respawned as a shell that has ended", tmux.Look{State: tmux.Dead, Owner: octoOwner, StartCommand: "bash"}, nil, record.PaneDead, true},
		{"let go, live", tmux.Look{State: tmux.Live, Owner: tmux.LeftMark(octoOwner), StartCommand: ours}, nil, record.PaneLive, true},
		{"let go, respawned as a shell", tmux.Look{State: tmux.Live, Owner: tmux.LeftMark(octoOwner), StartCommand: "bash"}, nil, record.PaneForeign, false},
		{"ours, dead", tmux.Look{State: tmux.Dead, Owner: octoOwner}, nil, record.PaneDead, true},
		{"another ledger's", tmux.Look{State: tmux.Live, Owner: "ffffffff-0123456789abcdef", Name: name, StartCommand: "claude --resume " + sessionID}, &imported, record.PaneForeign, false},
		{"unmarked", tmux.Look{State: tmux.Live, Name: name}, nil, record.PaneForeign, false},
		{"unmarked, the row's", tmux.Look{State: tmux.Live, Name: name, StartCommand: `"claude --session-id=` + sessionID + `"`}, &imported, record.PaneLive, true},
		{"unmarked, the row's name, another conversation", tmux.Look{State: tmux.Live, Name: name, StartCommand: "claude --resume 0" + sessionID}, &imported, record.PaneForeign, false},
		{"unmarked, the row's conversation, another name", tmux.Look{State: tmux.Live, Name: "x", StartCommand: "claude " + sessionID}, &imported, record.PaneForeign, false},
		{"unmarked, a row without an id", tmux.Look{State: tmux.Live, Name: name, StartCommand: "claude "}, &record.Session{TmuxTarget: name}, record.PaneForeign, false},
	} {
		t.Run(c.title, func(t *testing.T) {
			p := place{owner: octoOwner, look: c.look}.judge(c.row, false)
			if p.State != c.want || p.Adoptable != c.adoptable || (p.Holder != "") != (c.want == record.PaneForeign) {
				t.Errorf("%+v", p)
			}
		})
	}
	w := newWorld(t)
	w.live()
	rec := w.ledger.get(octoRef)
	if p := w.host.Look(t.Context(), octoRef, rec); p.State != record.PaneLive || p.HarnessSessionID != sessionID || p.ID == "" || len(w.tmux.calls) != 1 {
		t.Errorf("%+v after %v", p, w.tmux.calls)
	}
	rec.Session.Host = "machine-2"
	w.tmux.panes = nil
	if p := w.host.Look(t.Context(), octoRef, rec); p.State != record.PaneNone {
		t.Errorf("another machine's row: %+v", p)
	}
}

// D5: the numbers of spawns begin anew with a ledger that is put back. A
// spawn that has not started is started, whatever the ring of a dead pane seems to
// prove of it.
func TestARingOfALifeBefore(t *testing.T) {
	for _, c := range []struct {
		title    string
		identity string        // of the closed row
		ended    time.Duration // when it was closed, from the first sight
		row      bool
	}{
		{"of the life that was closed", "9/9/9", -time.Minute, true},
		{"of a life nobody remembers", "", -time.Minute, true},
		{"of a later life", "1/1/1", -time.Minute, true},
		{"not forgotten", "9/9/9", time.Hour, true},
		{"its row was cleaned up", "", 0, false},
	} {
		t.Run(c.title, func(t *testing.T) {
			w := newWorld(t)
			id := record.SpawnDeliveryID(octoRef, 1)
			w.tmux.add(tmux.Look{State: tmux.Dead, Name: "loop-github-octo-repo-15", Owner: octoOwner, Identity: "9/9/9", Ring: []string{record.Mark(id)}})
			if c.row {
				w.ledger.put(octoRef, record.PutSession{Session: record.Session{
					Harness: "claude", Status: record.Shut, Identity: c.identity, EndedAt: w.ledger.get(octoRef).Item.FirstSeenAt.Add(c.ended),
				}})
			}
			w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: id, Run: "run-1"})
			if got := w.host.Spawn(t.Context(), Spawn{Ref: octoRef, DeliveryID: id}); got != Done || w.tmux.count("respawn") != 1 {
				t.Errorf("%v, started %d times", got, w.tmux.count("respawn"))
			}
		})
	}
}

// D1: what counts as a live session of this ledger.
func TestLive(t *testing.T) {
	w := newWorld(t)
	w.live()
	w.tmux.add(tmux.Look{State: tmux.Dead, Owner: testInstance + "-0123456789abcdef"})
	w.tmux.add(tmux.Look{State: tmux.Live, Owner: testInstance + "-0123456789abcdef"})
	w.tmux.add(tmux.Look{State: tmux.Live, Owner: "ffffffff-0123456789abcdef"})
	if n, err := w.host.Live(t.Context()); n != 2 || err != nil {
		t.Errorf("%d %v", n, err)
	}
	w.tmux.silent = true
	if n, err := w.host.Live(t.Context()); err == nil {
		t.Errorf("%d sessions of a tmux that does not answer", n)
	}
}

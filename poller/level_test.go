package poller

import (
	"testing"
	"time"

	"theloop/record"
)

// X7: what lives serves a start that was recorded elsewhere.
func TestALivingSessionServesAStart(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.change(ref, record.Command{Control: record.Control{Command: "start", Source: "cli"}})
	w.cycle()
	if !w.records[ref.Key()].Item.Control.Served {
		t.Error("the start is not served")
	}
	w.wantQueued()
	w.pane(ref, record.PaneDead, "life-1")
	w.cycle()
	w.wantQueued()
}

// D5: a session of ours that no row names: taken over when its item is started or
// paused, closed when it is neither; and nothing else moves meanwhile.
func TestAnOwnerlessSession(t *testing.T) {
	for name, tt := range map[string]struct {
		command, actor string
		want           string
	}{
		"started":                       {"start", "octocat", "adopt adopt"},
		"started by somebody taken off": {"start", "eve", "adopt adopt"},
		"paused":                        {"pause", "octocat", "adopt adopt"},
		"stopped":                       {"stop", "octocat", "close close"},
		"told nothing":                  {"", "", "close close"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.open(1, "octocat")
			w.cycle()
			if tt.command != "" {
				w.change(ref, control(tt.command, tt.actor))
			}
			w.change(ref, record.QueueSpawn{DeliveryID: "s", Run: "r"}, record.Start{On: record.OnNewPane, Until: w.now}, record.Deliver{})
			w.pane(ref, record.PaneLive, "life-1")
			w.say(ref, "octocat", "hello")
			w.cycle()
			w.wantQueued(tt.want)
		})
	}
}

// D5: what lives and does not carry our mark is neither taken over nor closed.
func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	for _, command := range []string{"start", "pause", "stop", ""} {
		w := newWorld(t)
		ref := w.open(1, "octocat")
		w.cycle()
		if command != "" {
			w.change(ref, control(command, "octocat"))
		}
		w.change(ref, record.QueueSpawn{DeliveryID: "s", Run: "r"}, record.Fail{})
		w.panes[ref.Key()] = record.Pane{State: record.PaneLive, Identity: "life-1"}
		w.say(ref, "mallory", "bump")
		w.cycle()
		for _, did := range w.take() {
			if did == "adopt adopt" || did == "close close" {
				t.Errorf("%q: %s", command, did)
			}
		}
	}
}

// X7: a stop is not forgotten over a kill between the verdict on its spawn and
// the close: the row says that the session is there.
func TestAStoppedSessionWithoutARowIsFoundAfterAKill(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	id := w.records[ref.Key()].Item.Spawn.DeliveryID
	w.change(ref, record.Start{On: record.OnNewPane, Until: w.now})
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	w.restart("run-2", "v1.0.0")
	w.pane(ref, record.PaneLive, "life-1", id)
	w.cycle()
	w.wantQueued("close close")
	w.restart("run-3", "v1.0.0") // before the close
	w.src.listErr = errTracker
	w.cycle()
	w.wantQueued("close close")
	if s := w.records[ref.Key()].Session; s == nil || s.Identity != "life-1" || s.Host != "here" {
		t.Errorf("its row is %+v", s)
	}
}

// X7: a stop closes also when an attempt of before has no verdict yet and the
// tracker is down; but not before its deadline has passed (D3).
func TestAStopClosesOnceTheDeadlineHasPassed(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now.Add(150 * time.Second)})
	w.say(ref, "octocat", "the-loop stop")
	w.restart("run-2", "v1.0.0")
	w.cycle()
	w.wantQueued()
	w.src.listErr = errTracker
	w.cycle()
	w.wantQueued()
	w.cycle()
	w.wantQueued("close close")
}

// D5: a name that is somebody else's is said once, until it is free again.
func TestAnOccupiedNameIsSaidOnce(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	occupied := record.Pane{State: record.PaneForeign, Holder: "tmux session x"}
	w.panes[ref.Key()] = occupied
	said := func() (n int) {
		for _, e := range w.events {
			if e.Fields["reason"] == "session-occupied" {
				n++
			}
		}
		return n
	}
	w.say(ref, "mallory", "bump")
	w.cycle()
	if said() != 0 {
		t.Error("said although nothing waits")
	}
	w.say(ref, "octocat", "hello")
	for range 3 {
		w.cycle()
	}
	if said() != 1 {
		t.Errorf("said %d times", said())
	}
	w.pane(ref, record.PaneLive, "life-1")
	w.cycle()
	w.take()
	w.panes[ref.Key()] = occupied
	w.say(ref, "octocat", "again")
	w.cycle()
	if said() != 2 {
		t.Errorf("said %d times after it was free", said())
	}
}

// D2: what waits for an agent that goes on without its pane says how to end that.
func TestAnAgentWithoutAPaneIsSaidOnce(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.panes[ref.Key()] = record.Pane{State: record.PaneForeign, Holder: "process 7", Remedy: "end it"}
	w.say(ref, "octocat", "hello")
	for range 3 {
		w.cycle()
	}
	w.wantQueued()
	if w.told("dispatch.dropped") != 1 {
		t.Errorf("said %d times", w.told("dispatch.dropped"))
	}
	for _, e := range w.events {
		if e.Name == "dispatch.dropped" && e.Fields["error"] != "process 7: end it; what was said waits meanwhile" {
			t.Errorf("said %q", e.Fields["error"])
		}
	}
}

// D5: it is found out for an item that nobody said anything on, too, and costs
// nothing from then on.
func TestAnOccupiedNameCostsAnItemThatStartsAloneNothing(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart = false
	ref := w.open(1, "octocat")
	w.panes[ref.Key()] = record.Pane{State: record.PaneForeign, Holder: "tmux session x"}
	w.cycle()
	for _, id := range w.held[ref.Key()] { // its worker finds out and gives it back
		w.change(ref, record.Release{DeliveryID: id})
	}
	w.take()
	for range 3 {
		w.quietCycle()
	}
	if n := w.told("dispatch.dropped"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// X7, D4: a session that is not seen to live serves no start, and none is closed
// on an unknown.
func TestAnUnknownSessionServesNothing(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	w.change(ref, record.Command{Control: record.Control{Command: "start", Source: "cli"}})
	w.cycle()
	if w.records[ref.Key()].Item.Control.Served {
		t.Error("an unknown session serves the start")
	}
	w.change(ref, control("stop", "octocat"))
	w.say(ref, "mallory", "bump")
	w.cycle()
	w.wantQueued()
}

// D6: names are made of the ref as it was first spelled.
func TestTheFirstSpellingStays(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.src.items[0].Ref.Owner = "Octo"
	w.say(w.src.items[0].Ref, "octocat", "hello")
	w.cycle()
	if len(w.queued) != 1 || w.queued[0].Ref != ref {
		t.Errorf("queued %+v", w.queued)
	}
}

// D5: a name that is somebody else's is found out before the first start.
func TestAnOccupiedNameIsFoundBeforeAStart(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.cycle()
	w.change(ref, record.Command{Control: record.Control{Command: "start", Source: "cli"}})
	w.panes[ref.Key()] = record.Pane{State: record.PaneForeign, Holder: "tmux session x"}
	w.cycle()
	w.wantQueued()
	if n := w.told("dispatch.dropped"); n != 1 {
		t.Errorf("said %d times", n)
	}
}

// B2, X5: a spawn that had started when the stop came has its verdict although
// nothing else of the item is open.
func TestASpawnThatWasStoppedHasItsVerdict(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.change(ref, record.Start{On: record.OnNewPane, Until: w.now.Add(90 * time.Second)})
	w.say(ref, "octocat", "the-loop stop")
	w.restart("run-2", "v1.0.0")
	w.cycle()
	if s := w.records[ref.Key()].Item.Spawn; !s.Started() {
		t.Fatalf("the spawn row is %+v", s)
	}
	w.cycle()
	if s := w.records[ref.Key()].Item.Spawn; s.InHand() || s.Attempts != 1 || !s.MayRepeat {
		t.Errorf("the spawn row is %+v", s)
	}
	w.unreadCycle()
}

// What the head of the cycle does needs no tracker.
func TestTheHeadNeedsNoTracker(t *testing.T) {
	for name, tt := range map[string]struct {
		mark   bool
		queued []string
	}{
		"the spawn is proved, and taken over": {true, []string{"adopt adopt"}},
		"it lives":                            {false, []string{"adopt adopt"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.open(1, "octocat")
			w.say(ref, "octocat", "the-loop start")
			w.cycle()
			id := w.records[ref.Key()].Item.Spawn.DeliveryID
			w.change(ref, record.Start{On: record.OnNewPane, Until: w.now})
			w.restart("run-2", "v1.0.0")
			w.pane(ref, record.PaneLive, "life-1")
			if tt.mark {
				w.pane(ref, record.PaneLive, "life-1", id)
			}
			w.src.listErr = errTracker
			w.cycle()
			if s := w.records[ref.Key()].Item.Spawn; s.InHand() == tt.mark {
				t.Errorf("the spawn row is %+v", s)
			}
			w.wantQueued(tt.queued...)
		})
	}
}

// P8: what has ended is closed when the tracker is down, too.
func TestAnEndedSessionIsClosedWithoutATracker(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.end(ref)
	w.cycle()
	w.wantQueued("close close")
	w.restart("run-2", "v1.0.0") // before the close
	w.src.listErr = errTracker
	w.cycle()
	w.wantQueued("close close")
}

// P8: after an ending nothing is made of what was recorded before.
func TestWhatIsForgottenIsNotRecovered(t *testing.T) {
	f := restingFacts()
	for _, rec := range []record.Record{
		{},
		{Item: record.Item{
			Ref: issue(1).String(), EndedAt: noon, Control: &record.Control{Command: "stop"},
		}, Session: &record.Session{Status: record.Active, Host: "here"}},
	} {
		if d, err := Recover(issue(1), rec, f); err != nil || len(d.Changes)+len(d.Effects) > 0 {
			t.Errorf("%+v, %v", d, err)
		}
	}
}

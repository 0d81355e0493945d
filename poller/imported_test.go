package poller

import (
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// P8, X1: an item that was imported without its thread and that has ended since
// is seen and ended at once: nothing of its thread is said to anybody, its
// session is closed, and it is forgotten when that is gone.
func TestAnImportedItemThatNobodySawEnds(t *testing.T) {
	for name, session := range map[string]*record.Session{
		"with a session": {Status: record.Active, Harness: "claude", TmuxTarget: "loop-x", Host: "here"},
		"with none":      nil,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.open(1, "octocat")
			id := w.say(ref, "octocat", "said while nobody looked")
			start := &record.Control{Command: "start", Actor: "octocat", Served: true}
			w.change(ref, record.Import{Item: record.Item{Ref: ref.String(), Source: w.src.ID(), Control: start}, Session: session})
			if session != nil {
				w.pane(ref, record.PaneLive, "life-1")
			}
			w.end(ref)
			if r := w.cycle(); len(r.Errors) > 0 || r.Closures != 1 {
				t.Fatalf("%d closures, errors %v", r.Closures, r.Errors)
			}
			if session != nil {
				if i := w.records[ref.Key()].Item; !i.Ended() {
					t.Errorf("it has not ended: %+v", i)
				}
				w.want(ref, id, record.Baselined, record.FirstSight)
				w.wantQueued("close close")
				w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
				w.pane(ref, record.PaneAbsent, "")
				w.cycle()
			}
			if i := w.records[ref.Key()].Item; !i.Sealed() {
				t.Errorf("left %+v", i)
			}
			asked := len(w.src.asked)
			w.quietCycle()
			if len(w.src.asked) != asked {
				t.Error("it is asked for still")
			}
		})
	}
}

// P8, A4: an item that was imported without its thread and whose label was
// removed is left alone, whatever the policy starts by itself, and is asked for
// with the full resync alone.
func TestAnImportedItemThatIsNotListedIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart, w.policy.SpawnOnUnmatched = false, policy.SpawnAlways
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "said while nobody looked")
	w.change(ref, record.Import{Item: record.Item{Ref: ref.String(), Source: w.src.ID()}})
	w.set(ref, func(i *workitem.Item) { i.Labelled = false })
	w.resync = time.Hour
	for range 3 {
		if r := w.cycle(); len(r.Errors) > 0 {
			t.Fatal(r.Errors)
		}
	}
	if rec := w.records[ref.Key()]; rec.Item.Known() || rec.Comments.Len() > 0 || len(w.queued) > 0 {
		t.Errorf("it is not left alone: %+v, queued %v", rec.Item, w.queued)
	}
	if len(w.src.asked) != 1 {
		t.Errorf("asked %d times in three cycles", len(w.src.asked))
	}
	w.set(ref, func(i *workitem.Item) { i.Labelled = true })
	w.cycle()
	if !w.records[ref.Key()].Item.Known() {
		t.Error("listed again, it is not seen")
	}
}

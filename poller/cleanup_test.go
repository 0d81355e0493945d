package poller

import (
	"slices"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// over leaves the item's session closed, with its pane kept.
func (w *world) over(ref workitem.Ref) {
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
	w.pane(ref, record.PaneDead, "life-1")
}

// X4: a start behind a cleanup begins afresh, also when both are read in one cycle, and
// when it is said on a pull request that is read before its item.
func TestAStartBehindACleanupBeginsAfresh(t *testing.T) {
	for name, say := range map[string]func(w *world, item, pull workitem.Ref){
		"read at once": func(w *world, item, _ workitem.Ref) {
			w.over(item)
			w.say(item, "octocat", "the-loop cleanup")
			w.say(item, "octocat", "the-loop start")
		},
		"read at once, on its pull request": func(w *world, item, pull workitem.Ref) {
			w.over(item)
			w.review(pull, "octocat", "the-loop cleanup")
			w.review(pull, "octocat", "the-loop start")
		},
		"on its pull request, which is read first": func(w *world, item, pull workitem.Ref) {
			w.say(item, "octocat", "the-loop cleanup")
			w.cycle()
			w.take()
			w.over(item)
			slices.Reverse(w.src.items)
			w.review(pull, "octocat", "the-loop start")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, _, item, pull := reviewed(t)
			say(w, item, pull)
			w.cycle()
			w.cycle()
			if rec := w.records[item.Key()]; rec.Session != nil || rec.Item.Control.Command != "start" {
				t.Errorf("recorded %s, the row is %+v", rec.Item.Control.Command, rec.Session)
			}
			w.wantFor("spawn " + record.SpawnDeliveryID(item, 2) + ": #1 for #1")
		})
	}
}

// D3: the row of a cut close keeps its deadline until that has passed.
func TestACleanupKeepsADeadline(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "the-loop cleanup")
	w.cycle()
	w.over(ref)
	w.cut(ref)
	w.cycle()
	if w.records[ref.Key()].Session == nil {
		t.Error("its row is gone before the deadline")
	}
	w.now = w.now.Add(10 * time.Minute)
	w.cycle()
	if s := w.records[ref.Key()].Session; s != nil {
		t.Errorf("the row is still there: %+v", s)
	}
}

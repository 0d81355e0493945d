package poller

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"theloop/workitem"
)

// A preview says what the next cycle would do and does none of it.
func TestAPreviewTellsAndDoesNothing(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "and a test, please")
	w.say(ref, "mallory", "your keys")
	w.open(2, "octocat")
	w.say(issue(2), "octocat", "the-loop start")
	commits, events := w.commits, len(w.events)
	o := w.poller.Options
	got := Foresee(t.Context(), o)
	if w.commits != commits || len(w.events) != events || len(w.queued) != 0 {
		t.Errorf("%d commits, %d events, %d queued", w.commits-commits, len(w.events)-events, len(w.queued))
	}
	var steps []string
	for _, item := range got.Items {
		for _, s := range item.Steps {
			steps = append(steps, fmt.Sprintf("#%d %s %s %s", item.Ref.Number, s.Kind, s.Comment, s.Reason))
		}
	}
	want := []string{
		"#1 deliver c2 ", "#1 settle c3 unauthorized",
		"#2 spawn  start", "#2 command  start", "#2 settle c1 control-executed", "#2 note  first-seen",
	}
	if !slices.Equal(steps, want) || len(got.Errors) != 0 {
		t.Errorf("foresees %q, errors %q", steps, got.Errors)
	}
	w.cycle()
	if n := len(w.take()); n != 2 {
		t.Errorf("the cycle did %d things", n)
	}
}

// P1, P8: a preview asks for an item that is off the list when a cycle would.
func TestAPreviewAsksForNoMoreThanACycle(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.cycle()
	w.set(ref, func(i *workitem.Item) { i.Labelled = false })
	w.cycle()
	before := len(w.src.asked)
	if got := Foresee(t.Context(), w.poller.Options); len(w.src.asked) != before || got.Quiet != 1 || len(got.Errors) != 0 {
		t.Errorf("asked for %q; quiet %d, errors %q", w.src.asked[before:], got.Quiet, got.Errors)
	}
	w.now = w.now.Add(2 * time.Hour)
	if Foresee(t.Context(), w.poller.Options); len(w.src.asked) != before+1 {
		t.Errorf("after the full resync it was asked for %q", w.src.asked[before:])
	}
}

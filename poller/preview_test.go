package poller

import (
	"fmt"
	"slices"
	"testing"
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

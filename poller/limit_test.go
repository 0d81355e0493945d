package poller

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/workitem"
)

// limitedWorld is a world whose first source is limited from its next listing on, and
// whose second one is not; each has an item that was closed meanwhile.
func limitedWorld(t *testing.T) (w *world, first, second *named) {
	t.Helper()
	w = newWorld(t)
	first = &named{tracker: w.src, id: w.src.ID()}
	second = &named{tracker: &tracker{}, id: "github:octo/other"}
	other := workitem.Ref{Provider: "github", Owner: "octo", Repo: "other", Number: 1}
	second.items = []workitem.Item{{
		Ref: other, Kind: workitem.Issue, Title: "other", State: workitem.Open, Labelled: true,
		Author: workitem.Author{Login: "octocat"}, Source: second.id, CreatedAt: w.now, UpdatedAt: w.now,
	}}
	w.poller.Sources = []Source{first, second}
	w.open(1, "octocat")
	w.cycle()
	w.set(issue(1), func(i *workitem.Item) { i.State = workitem.Closed })
	second.items[0].State = workitem.Closed
	w.src.listErr = limit(w) // an hour from now
	return w, first, second
}

// P7, C2, P8: a source that was told to wait is not asked before its time, by no
// cycle, and closes nothing; the others are polled as ever. The first cycle is
// a failed one, those that leave it alone are not.
func TestASourceThatWasToldToWaitIsLeftAlone(t *testing.T) {
	w, first, second := limitedWorld(t)
	complete := w.sources[first.id].CompleteAt
	until := limit(w).(*workitem.RateLimitError).Until
	if r := w.cycle(); len(r.Errors) != 1 || len(r.Waiting) != 0 || !r.Until.Equal(until) || r.Closures != 1 {
		t.Errorf("the cycle that was told: %+v", r)
	}
	listed, others := first.listed, second.listed
	w.src.listErr = nil // it would answer, and has not been asked
	for n := range 58 {
		r := w.cycle()
		if len(r.Errors) != 0 || len(r.Waiting) != 1 || !strings.Contains(r.Waiting[0], first.id) || !r.Until.Equal(until) || r.Closures != 0 {
			t.Fatalf("cycle %d: %+v", n, r)
		}
	}
	if first.listed != listed || len(w.src.asked) != 0 {
		t.Errorf("it was listed %d times and asked for %v", first.listed-listed, w.src.asked)
	}
	if n := second.listed - others; n != 58 {
		t.Errorf("the other one was listed %d times in 58 cycles", n)
	}
	if row := w.sources[first.id]; !row.CompleteAt.Equal(complete) {
		t.Errorf("it was last listed completely at %s, want %s", row.CompleteAt, complete)
	}
	if w.told("poll.rate_limited") != 1 || w.told("poll.provider_error") != 1 {
		t.Error("it is told of again and again")
	}
	w.now = until
	if r := w.poller.Cycle(t.Context()); len(r.Errors)+len(r.Waiting) != 0 || !r.Until.IsZero() || r.Closures != 1 || first.listed != listed+1 {
		t.Errorf("after its time: listed %d times, %+v", first.listed-listed, r)
	}
}

// P7: the next process knows as well: a poller from cron, or one that was
// restarted, does not hammer.
func TestALimitOutlivesItsProcess(t *testing.T) {
	w, first, second := limitedWorld(t)
	w.cycle()
	listed, others := first.listed, second.listed
	for _, run := range []string{"run-2", "run-3"} {
		w.restart(run, "v1.0.0")
		w.poller.Sources = []Source{first, second}
		if r := w.cycle(); len(r.Waiting) != 1 {
			t.Errorf("%s: %+v", run, r)
		}
		if v := Foresee(t.Context(), w.poller.Options); !slices.ContainsFunc(v.Errors, func(s string) bool { return strings.Contains(s, first.id) }) {
			t.Errorf("%s: a preview says nothing of it: %q", run, v.Errors)
		}
	}
	if first.listed != listed || second.listed != others+4 {
		t.Errorf("listed %d and %d times", first.listed-listed, second.listed-others)
	}
}

// P7: a limit that is met behind the listing silences its source as well.
func TestALimitBehindTheListing(t *testing.T) {
	for name, set := range map[string]func(*world){
		"while reading":                func(w *world) { w.src.readErr = limit(w) },
		"while asking for what closed": func(w *world) { w.src.stateErr = map[string]error{issue(1).Key(): limit(w)} },
	} {
		t.Run(name, func(t *testing.T) {
			w, first, _ := limitedWorld(t)
			w.src.listErr = nil
			w.open(2, "octocat")
			w.say(issue(2), "mallory", "bump")
			set(w)
			w.cycle()
			listed := first.listed
			if r := w.cycle(); len(r.Waiting) != 1 || first.listed != listed {
				t.Errorf("listed %d times: %+v", first.listed-listed, r)
			}
		})
	}
}

// P7: a time that no tracker can have named was noted by a clock that has been
// moved since.
func TestAClockThatWasMovedSilencesNobody(t *testing.T) {
	w, first, _ := limitedWorld(t)
	w.cycle()
	w.src.listErr = nil
	w.now = w.now.Add(-48 * time.Hour)
	listed := first.listed
	if r := w.cycle(); len(r.Waiting) != 0 || first.listed != listed+1 {
		t.Errorf("listed %d times: %+v", first.listed-listed, r)
	}
}

// P7: a limit is told of with its kind, once, however many sources share it.
func TestALimitIsToldOfOnce(t *testing.T) {
	w := newWorld(t)
	shared := &workitem.RateLimitError{Host: "api.github.com", Kind: workitem.LimitSecondary, Until: w.now.Add(time.Hour)}
	w.src.listErr = shared
	w.poller.Sources = append(w.poller.Sources, &named{tracker: &tracker{listErr: shared}, id: "github:octo/other"})
	if r := w.cycle(); len(r.Errors) != 2 {
		t.Errorf("%+v", r)
	}
	var kinds []any
	for _, e := range w.events {
		if e.Name == "poll.rate_limited" {
			kinds = append(kinds, e.Fields["kind"])
		}
	}
	if !slices.Equal(kinds, []any{"secondary"}) {
		t.Errorf("told of %v", kinds)
	}
}

// refusing is a source that limits us just when a stop comes.
type refusing struct {
	*tracker
	stop func()
	err  error
}

func (s refusing) List(context.Context) (workitem.Listing, error) {
	s.stop()
	return workitem.Listing{}, s.err
}

// P7: what a tracker has said is kept although a stop came at that moment.
func TestALimitThatComesWithAStopIsKept(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	w.poller.Sources = []Source{refusing{w.src, stop, limit(w)}}
	if r := w.poller.Cycle(ctx); !r.Interrupted {
		t.Errorf("%+v", r)
	}
	if row := w.sources[w.src.ID()]; row.Until.IsZero() {
		t.Errorf("it is forgotten: %+v", row)
	}
}

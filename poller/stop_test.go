package poller

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// deaf is a source that does not notice that it is cut.
type deaf struct{ *tracker }

func (s deaf) Comments(_ context.Context, item workitem.Item) ([]workitem.Comment, error) {
	return s.tracker.Comments(context.Background(), item)
}

// C1: an item that was being read when the stop came counts as not reached,
// whatever its source makes of the stop.
func TestAStopWhileReadingIsNoDecision(t *testing.T) {
	w := newWorld(t)
	w.poller.Sources = []Source{deaf{w.src}}
	w.say(w.open(1, "octocat"), "octocat", "the-loop start")
	ctx, stop := context.WithCancel(t.Context())
	w.src.onRead = stop
	r := w.poller.Cycle(ctx)
	if len(r.Errors) != 0 || len(w.records) != 0 || r.ItemsSeen != 0 {
		t.Errorf("%d items seen, %d committed, errors %v", r.ItemsSeen, len(w.records), r.Errors)
	}
	w.wantQueued()
}

// C1: from Decide on the item finishes: tmux is looked at, the decision is
// committed and acted on, also when the record changed meanwhile (F7).
func TestFromDecideOnTheItemFinishes(t *testing.T) {
	for name, when := range map[string]func(*world, workitem.Ref, func()){
		"the stop comes at the look":   func(w *world, _ workitem.Ref, stop func()) { w.onLook = stop },
		"the stop comes at the commit": func(w *world, _ workitem.Ref, stop func()) { w.beforeCommit = stop },
		"at the commit, which is sent back": func(w *world, ref workitem.Ref, stop func()) {
			w.beforeCommit = func() { stop(); w.change(ref, record.Withhold{Author: "x"}) }
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			w.cycle()
			other := w.open(2, "octocat")
			id := w.say(ref, "octocat", "hello")
			ctx, stop := context.WithCancel(t.Context())
			w.src.onRead = func() { when(w, ref, stop) }
			w.now = w.now.Add(time.Minute)
			r := w.poller.Cycle(ctx)
			if len(r.Errors) != 0 || !r.Interrupted || r.ItemsSeen != 1 {
				t.Errorf("%d items seen, errors %v", r.ItemsSeen, r.Errors)
			}
			w.wantQueued("deliver poll-comment-" + id)
			if _, seen := w.records[other.Key()]; seen {
				t.Error("an item below it was begun")
			}
			if len(w.cycles) == 0 || !w.cycles[len(w.cycles)-1].Interrupted {
				t.Error("the cycle was not recorded as interrupted") // C3
			}
		})
	}
}

// C1: in the head of the cycle as well.
func TestAStopInTheHeadOfTheCycle(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= 2; n++ {
		w.say(w.open(n, "octocat"), "octocat", "the-loop start")
	}
	w.cycle()
	w.bringUpAll(1, 2)
	ids := []string{w.say(issue(1), "octocat", "a"), w.say(issue(2), "octocat", "b")}
	w.cycle()
	for n, id := range ids {
		w.change(issue(n+1), record.Start{Comment: id, On: "life-1", Until: w.now.Add(time.Minute)})
		w.pane(issue(n+1), record.PaneLive, "life-1", "poll-comment-"+id)
	}
	w.restart("run-2", "v1.0.0")
	ctx, stop := context.WithCancel(t.Context())
	w.onLook = stop
	w.poller.Cycle(ctx)
	w.want(issue(1), ids[0], record.Delivered, "")
	w.want(issue(2), ids[1], record.Pending, "")
}

// bringUpAll is bringUp for several items at once.
func (w *world) bringUpAll(numbers ...int) {
	w.t.Helper()
	for _, n := range numbers {
		w.bringUp(issue(n))
	}
}

// C1: no further source is begun.
func TestAStopBeginsNoFurtherSource(t *testing.T) {
	w := newWorld(t)
	second := &named{tracker: &tracker{}, id: "github:octo/other"}
	w.poller.Sources = append(w.poller.Sources, second)
	w.say(w.open(1, "octocat"), "octocat", "the-loop start")
	ctx, stop := context.WithCancel(t.Context())
	w.beforeCommit = stop
	w.poller.Cycle(ctx)
	if second.listed != 0 {
		t.Error("the second source was listed")
	}
	w.poller.Cycle(t.Context())
	if second.listed != 1 {
		t.Errorf("without a stop it was listed %d times", second.listed)
	}
}

// named is a second tracker.
type named struct {
	*tracker
	id     string
	listed int
}

func (s *named) ID() string { return s.id }

func (s *named) List(ctx context.Context) (workitem.Listing, error) {
	s.listed++
	return s.tracker.List(ctx)
}

// C2: a cycle that is cut in its last listed item asks for no closure, and says
// that the source was not listed completely.
func TestAnInterruptedListingClosesNothing(t *testing.T) {
	w := newWorld(t)
	gone := w.started()
	w.sources = map[string]record.SourceRow{}
	w.set(gone, func(i *workitem.Item) { i.State = workitem.Closed })
	w.open(2, "octocat")
	ctx, stop := context.WithCancel(t.Context())
	w.src.onRead = func() { w.beforeCommit = stop }
	w.poller.Cycle(ctx)
	if len(w.src.asked) != 0 {
		t.Errorf("asked for %v", w.src.asked)
	}
	if row := w.sources[w.src.ID()]; !row.CompleteAt.IsZero() {
		t.Errorf("the source counts as complete: %+v", row)
	}
	if _, seen := w.records[issue(2).Key()]; !seen {
		t.Error("the item that was being decided did not finish")
	}
}

// C1: a stop between two answers about unlisted items.
func TestAStopBetweenUnlistedItems(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= 3; n++ {
		w.open(n, "octocat")
	}
	w.cycle()
	for n := 1; n <= 3; n++ {
		w.set(issue(n), func(i *workitem.Item) { i.State = workitem.Closed })
	}
	ctx, stop := context.WithCancel(t.Context())
	var after []string
	w.beforeCommit = func() {
		stop()
		w.trace = func(what string) { after = append(after, what) }
	}
	r := w.poller.Cycle(ctx)
	if len(after) != 0 {
		t.Errorf("after the stop it still reads: %v", after)
	}
	if len(w.src.asked) != 1 || len(r.Errors) != 0 || w.records[issue(1).Key()].Item.EndedAt.IsZero() {
		t.Errorf("asked for %v, errors %v", w.src.asked, r.Errors)
	}
}

// F7: what was not applied is not acted on; the decision is made again.
func TestAnEffectOfAChangeThatWasNotAppliedIsNotActedOn(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.short = true // the last change is the one that pays for the delivery
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	if row := w.row(ref, id); row.Attempts != 1 || !row.InHand() {
		t.Errorf("it was queued and not paid for: %+v", row.Delivery)
	}
}

// F7: a record that changes under every decision is an error of the cycle in the
// end.
func TestARecordThatNeverStandsStillIsAnError(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "hello")
	n := 0
	var change func()
	change = func() {
		n++
		w.change(ref, record.Withhold{Author: strings.Repeat("x", n)})
		w.beforeCommit = change
	}
	w.src.onRead = func() { w.beforeCommit = change }
	r := w.cycle()
	if len(r.Errors) != 1 || n != maxConflicts {
		t.Errorf("%d rounds, errors %v", n, r.Errors)
	}
	w.wantQueued()
}

// F7: in the head of the cycle a changed record is no error; its turn comes.
func TestAChangedRecordInTheHeadIsNoError(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now})
	w.restart("run-2", "v1.0.0")
	w.pane(ref, record.PaneLive, "life-1", "poll-comment-"+id)
	w.beforeCommit = func() { w.change(ref, record.Withhold{Author: "x"}) }
	if r := w.cycle(); len(r.Errors) != 0 {
		t.Error(r.Errors)
	}
	w.want(ref, id, record.Delivered, "")
}

// limit is what a tracker answers that asks to be left alone.
func limit(w *world) error {
	return &workitem.RateLimitError{Host: "api.github.com", Until: w.now.Add(time.Hour)}
}

// P7: a rate limit ends its source early, asks for nothing more, closes nothing,
// and is told of once; other sources go on.
func TestARateLimitEndsItsSource(t *testing.T) {
	for name, set := range map[string]func(*world){
		"while listing":                func(w *world) { w.src.listErr = limit(w) },
		"while reading":                func(w *world) { w.src.readErr = limit(w) },
		"while asking for what closed": func(w *world) { w.src.stateErr = map[string]error{issue(1).Key(): limit(w)} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			second := &named{tracker: &tracker{}, id: "github:octo/other"}
			w.poller.Sources = append(w.poller.Sources, second)
			for n := 1; n <= 4; n++ {
				w.open(n, "octocat")
			}
			w.cycle()
			for n := 1; n <= 2; n++ {
				w.set(issue(n), func(i *workitem.Item) { i.State = workitem.Closed })
			}
			for n := 3; n <= 4; n++ {
				w.say(issue(n), "mallory", "bump")
			}
			set(w)
			reads := w.src.reads
			r := w.cycle()
			if len(r.Errors) != 1 || !r.Until.Equal(limit(w).(*workitem.RateLimitError).Until.Add(-time.Minute)) {
				t.Errorf("until %v, errors %v", r.Until, r.Errors)
			}
			if w.told("poll.rate_limited") != 1 || w.told("poll.item_error") != 0 {
				t.Error("it is told of in another way")
			}
			if asked := w.src.reads - reads + len(w.src.asked); asked > 3 || name == "while reading" && asked != 1 {
				t.Errorf("%d requests were made", asked)
			}
			for n := 1; n <= 2; n++ {
				if !w.records[issue(n).Key()].Item.EndedAt.IsZero() {
					t.Errorf("item %d was closed", n)
				}
			}
			if second.listed != 2 {
				t.Error("the second source was not listed")
			}
		})
	}
}

// C5: a panic in a source, or before one is asked, is an error of the cycle.
func TestAPanicIsAnErrorOfTheCycle(t *testing.T) {
	w := newWorld(t)
	second := &named{tracker: &tracker{}, id: "github:octo/other"}
	w.poller.Sources = []Source{broken{w.src}, second}
	if r := w.cycle(); len(r.Errors) != 1 || second.listed != 1 {
		t.Errorf("errors %v, the second source was listed %d times", r.Errors, second.listed)
	}
	w.poller.Sessions = nil
	if r := w.cycle(); len(r.Errors) != 1 || len(w.cycles) != 2 {
		t.Errorf("errors %v, %d cycles recorded", r.Errors, len(w.cycles))
	}
}

type broken struct{ *tracker }

func (broken) List(context.Context) (workitem.Listing, error) { panic("a fault") }

// P5: an item of the listing that cannot be read fails alone and counts as
// listed.
func TestAnItemOfTheListingThatCannotBeReadIsNoAbsence(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.set(ref, func(i *workitem.Item) { i.State = workitem.Closed }) // were it asked for
	w.src.bad = []workitem.ItemError{{Ref: ref, Err: errTracker}}
	r := w.cycle()
	if len(r.Errors) != 1 || w.told("poll.item_error") != 1 || len(w.src.asked) != 0 {
		t.Errorf("errors %v, asked %v", r.Errors, w.src.asked)
	}
}

// B9, story 6: the ledger is read before what is in flight, and that before tmux: a worker
// that ends in between is seen by the commit at the latest.
func TestTheFactsAreReadInTheirOrder(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now})
	w.say(ref, "mallory", "bump")
	var order []string
	w.trace = func(what string) { order = append(order, what) }
	w.src.onRead = func() { order = nil }
	w.now = w.now.Add(time.Minute)
	w.cycle()
	if want := []string{"ledger", "in flight", "tmux"}; len(order) < 3 || !slices.Equal(order[:3], want) {
		t.Errorf("read in the order %v", order)
	}
}

// cutoff is a source whose listing is cut.
type cutoff struct {
	*tracker
	stop func()
}

func (s cutoff) List(ctx context.Context) (workitem.Listing, error) {
	s.stop()
	return workitem.Listing{}, ctx.Err()
}

// C1: a listing that a stop cuts is no error.
func TestAStopWhileListingIsNoError(t *testing.T) {
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	w.poller.Sources = []Source{cutoff{w.src, stop}}
	if r := w.poller.Cycle(ctx); len(r.Errors) != 0 || !r.Interrupted || w.told("poll.provider_error") != 0 {
		t.Errorf("interrupted %v, errors %v", r.Interrupted, r.Errors)
	}
}

// F7: what the queue refuses is not counted as forwarded.
func TestARefusedJobIsNotCounted(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.held[ref.Key()] = []string{"poll-comment-" + id} // its last attempt is about to end
	if r := w.cycle(); r.CommentsForwarded != 0 {
		t.Errorf("%d comments forwarded", r.CommentsForwarded)
	}
	w.take()
	if r := w.cycle(); r.CommentsForwarded != 1 {
		t.Errorf("%d comments forwarded", r.CommentsForwarded)
	}
	if row := w.row(ref, id); row.Attempts != 1 {
		t.Errorf("the refusal cost an attempt: %+v", row.Delivery)
	}
}

// C3: a stop that comes in the head of a cycle is no error of it.
func TestAStopInTheHeadIsNoError(t *testing.T) {
	w := newWorld(t)
	w.started()
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if r := w.poller.Cycle(ctx); len(r.Errors) != 0 || !r.Interrupted {
		t.Errorf("interrupted %v, errors %q", r.Interrupted, r.Errors)
	}
}

// P7: of several limits the last one to end is told of.
func TestTheLatestLimitCounts(t *testing.T) {
	w := newWorld(t)
	late, soon := limit(w), &workitem.RateLimitError{Host: "github.example", Until: w.now.Add(time.Minute)}
	w.src.listErr = late
	w.poller.Sources = append(w.poller.Sources, &named{tracker: &tracker{listErr: soon}, id: "github:octo/other"})
	if r := w.cycle(); !r.Until.Equal(late.(*workitem.RateLimitError).Until) || w.told("poll.rate_limited") != 2 {
		t.Errorf("until %s", r.Until)
	}
}

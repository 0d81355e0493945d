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

// F6: a quiet item costs no request and no transaction.
func TestAQuietItemCostsNothing(t *testing.T) {
	w := newWorld(t)
	w.started()
	w.cycle()
	reads := w.src.reads
	for range 5 {
		w.quietCycle()
	}
	if w.src.reads != reads {
		t.Errorf("%d threads were read", w.src.reads-reads)
	}
}

// P1, story 16: what may come in the same second as the listing is not taken
// for seen.
func TestAnUpdateInTheListingsOwnSecondIsReadAgain(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.src.date = w.now.Truncate(time.Second) // listed in the second of the update
	w.cycle()
	reads := w.src.reads
	w.cycle()
	if w.src.reads == reads {
		t.Error("the thread was not read again")
	}
	w.src.date = w.now.Add(time.Hour)
	w.cycle()
	reads = w.src.reads
	w.cycle()
	if w.src.reads != reads {
		t.Error("it is read for ever")
	}
	_ = ref
}

// What a listing says of an item is reason enough to read it, whether its time of
// update has moved or not.
func TestWhatAListingChangesIsRead(t *testing.T) {
	for name, edit := range map[string]func(*workitem.Item){
		"its title":              func(i *workitem.Item) { i.Title = "another" },
		"its number of comments": func(i *workitem.Item) { i.CommentCount++ },
		"its source":             func(i *workitem.Item) { i.Source = "github:octo/other" },
		"its time of update":     func(i *workitem.Item) { i.UpdatedAt = i.UpdatedAt.Add(time.Second) },
		"nothing":                nil,
		"that it is on it again": func(i *workitem.Item) { i.Labelled = true },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			w.src.items[0].Labelled = name != "that it is on it again"
			w.cycle()
			w.cycle()
			if edit == nil {
				w.unreadCycle()
				return
			}
			edit(&w.src.items[0])
			reads := w.src.reads
			w.cycle()
			if w.src.reads == reads {
				t.Error("it was not read")
			}
			if at := w.records[ref.Key()].Item.OffListAt; !at.IsZero() {
				t.Errorf("off the list since %s", at)
			}
		})
	}
}

// Without a full resync an unchanged item is not read.
func TestWithoutAFullResync(t *testing.T) {
	w := newWorld(t)
	w.resync = 0
	w.started()
	w.cycle()
	for range 3 {
		w.now = w.now.Add(24 * time.Hour)
		w.unreadCycle()
	}
}

// The full resync reads an unchanged item once in its time, and writes that
// down.
func TestTheFullResyncReadsAnUnchangedItem(t *testing.T) {
	w := newWorld(t)
	w.open(1, "octocat")
	w.cycle()
	w.cycle()
	reads := w.src.reads
	w.now = w.now.Add(2 * time.Hour)
	w.cycle()
	w.cycle()
	if got := w.src.reads - reads; got != 1 {
		t.Errorf("read %d times", got)
	}
}

// C1: a stop cuts reading at once; from Decide on the item finishes, nothing
// below it starts.
func TestAStopBetweenItems(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= 5; n++ {
		w.say(w.open(n, "octocat"), "octocat", "the-loop start")
	}
	ctx, stop := context.WithCancel(t.Context())
	var after []string
	w.beforeCommit = func() { // the stop comes when item 1 is decided
		stop()
		w.trace = func(what string) { after = append(after, what) }
	}
	r := w.poller.Cycle(ctx)
	if !r.Interrupted || len(r.Errors) != 0 {
		t.Errorf("interrupted %v, errors %v", r.Interrupted, r.Errors)
	}
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
	if len(after) > 0 {
		t.Errorf("after the stop it still reads: %v", after)
	}
	if len(w.records) != 1 {
		t.Errorf("%d items were committed", len(w.records))
	}
	if fields := w.events[len(w.events)-1].Fields; fields["interrupted"] != true {
		t.Errorf("poll.cycle says %v", fields) // C3
	}
}

// C1: an item that is still being read counts as not reached.
func TestAStopWhileReadingLeavesTheItemAlone(t *testing.T) {
	w := newWorld(t)
	w.say(w.open(1, "octocat"), "octocat", "the-loop start")
	ctx, stop := context.WithCancel(t.Context())
	w.src.onRead = stop
	r := w.poller.Cycle(ctx)
	if len(r.Errors) != 0 || len(w.records) != 0 || !r.Interrupted {
		t.Errorf("errors %v, %d records", r.Errors, len(w.records))
	}
}

// C2: neither an interrupted listing nor a failed one closes anything.
func TestAnIncompleteListingClosesNothing(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	other := w.open(2, "octocat")
	w.set(ref, func(i *workitem.Item) { i.State = workitem.Closed })
	w.src.listErr = errTracker
	w.cycle()
	if len(w.src.asked) != 0 {
		t.Error("a failed listing asked for states")
	}
	w.src.listErr = nil
	ctx, stop := context.WithCancel(t.Context())
	w.src.onRead = stop
	w.poller.Cycle(ctx)
	if len(w.src.asked) != 0 || w.records[ref.Key()].Item.Ended() {
		t.Error("an interrupted listing closed an item")
	}
	_ = other
}

// P8, story 14: ended → its session closed → gone → forgotten but for the tombstone.
func TestAClosedItemEndsInOrder(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	last := w.say(ref, "octocat", "thanks, last words")
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	late := w.say(ref, "octocat", "after the end")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + last)
	w.want(ref, late, record.Settled, record.ItemEnded)
	w.deliver(ref, last)
	w.cycle()
	w.wantQueued("close close")
	if w.records[ref.Key()].Item.Sealed() {
		t.Fatal("forgotten before its session was gone")
	}
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
	w.pane(ref, record.PaneDead, "life-1")
	w.cycle()
	if n := w.told("poll.closure_detected"); n != 1 {
		t.Errorf("the ending is told of %d times", n)
	}
	rec := w.records[ref.Key()]
	if !rec.Item.Sealed() || rec.Comments.Len() != 0 || rec.Session == nil {
		t.Errorf("left: %+v", rec.Item)
	}
	w.quietCycle()
}

// P8, story 15: reopened, it begins anew and the old start does not run again;
// words after the ending do.
func TestAReopenedItemBeginsAnew(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	w.cycle()
	w.take()
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
	w.pane(ref, record.PaneDead, "life-1")
	w.cycle()
	w.set(ref, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Open, time.Time{} })
	w.cycle()
	w.wantQueued()
	rec := w.records[ref.Key()]
	if !rec.Item.Known() || rec.Item.Control != nil {
		t.Errorf("after the reopening: %+v", rec.Item)
	}
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	if got := w.take(); len(got) != 1 || !strings.HasPrefix(got[0], "spawn ") {
		t.Errorf("queued %q", got)
	}
	if s := conversation(w.records[ref.Key()], "here"); s != nil {
		t.Error("the old conversation would be resumed")
	}
}

// P8: label removed is not ended.
func TestALabelRemovedLeavesTheSessionAlone(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.set(ref, func(i *workitem.Item) { i.Labelled = false })
	w.cycle()
	w.wantQueued()
	rec := w.records[ref.Key()]
	if rec.Item.Ended() || rec.Item.OffListAt.IsZero() {
		t.Errorf("the item is %+v", rec.Item)
	}
	w.quietCycle()
	id := w.say(ref, "octocat", "still there?")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	w.deliver(ref, id)
	w.set(ref, func(i *workitem.Item) { i.Labelled = true })
	w.cycle()
	if !w.records[ref.Key()].Item.OffListAt.IsZero() {
		t.Error("listed again and still off the list")
	}
	w.quietCycle()
}

// P8: unanswered is left alone; proof that it is gone ends it.
func TestAnUnansweredItemIsLeftAlone(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.src.items = nil
	w.src.stateErr = map[string]error{ref.Key(): errTracker}
	r := w.cycle()
	if len(r.Errors) != 1 || w.records[ref.Key()].Item.Ended() {
		t.Errorf("errors %v", r.Errors)
	}
	w.src.stateErr = map[string]error{ref.Key(): workitem.ErrGone}
	w.cycle()
	if !w.records[ref.Key()].Item.Ended() {
		t.Error("proved gone and not ended")
	}
}

// F1, F2: every item's decision is committed before the next is looked at, and
// one that fails does not stop the others.
func TestOneItemThatFailsDoesNotStopTheOthers(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= 3; n++ {
		w.say(w.open(n, "octocat"), "octocat", "the-loop start")
	}
	seen := 0
	w.src.onRead = func() {
		seen++
		if len(w.records) != max(0, seen-1) && seen != 3 {
			t.Errorf("item %d is read with %d items committed", seen, len(w.records))
		}
		if seen == 2 {
			panic("a fault in one item") // C5
		}
	}
	r := w.cycle()
	if len(r.Errors) != 1 || !strings.Contains(r.Errors[0], "octo/repo#2") {
		t.Errorf("errors %q", r.Errors)
	}
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1", "spawn poll-spawn-github-octo-repo-3-1")
}

// D5: a live session of ours that no row names is adopted when its item is
// started.
func TestAnOwnerlessSessionIsAdopted(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	id := strings.TrimPrefix(w.take()[0], "spawn ")
	w.change(ref, record.Start{On: record.OnNewPane, Until: w.now.Add(10 * time.Second)})
	w.restart("run-2", "v1.0.0")
	w.pane(ref, record.PaneLive, "life-1", id)
	w.cycle()
	if got := w.take(); !slices.Equal(got, []string{"adopt adopt"}) {
		t.Errorf("queued %q", got)
	}
	if s := w.records[ref.Key()].Item.Spawn; s.InHand() {
		t.Errorf("the spawn is still in hand: %+v", s)
	}
}

// Story 3: a close goes through the session's queue and is not queued twice.
func TestACloseIsQueuedOnce(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "the-loop stop")
	for range 3 {
		w.cycle()
	}
	w.wantQueued("close close")
}

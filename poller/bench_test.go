package poller

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// resting is an item with a live session and comments that are all dealt with:
// half of them of an authorised author, delivered, half of a stranger.
func resting(tb testing.TB, n, comments int) (workitem.Item, []workitem.Comment, record.Record) {
	tb.Helper()
	item := workitem.Item{
		Ref: issue(n), Kind: workitem.Issue, Title: fmt.Sprint("issue ", n), State: workitem.Open, Labelled: true,
		Author: workitem.Author{Login: "octocat"}, Source: "github:octo/repo", CommentCount: comments, UpdatedAt: noon,
	}
	draft := record.NewDraft(record.Record{})
	do := func(changes ...record.Change) {
		for _, c := range changes {
			if err := draft.Do(c); err != nil {
				tb.Fatal(err)
			}
		}
	}
	do(record.Observe{Item: item, UpdatedAt: item.UpdatedAt, ReadAt: noon}, record.FirstSeen{At: noon.Add(-time.Hour)},
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat", Served: true}},
		record.PutSession{Session: record.Session{Status: record.Active, Host: "here", Identity: "life-1"}})
	var thread []workitem.Comment
	for i := range comments {
		c := workitem.Comment{
			ID: fmt.Sprintf("IC_%d_%d", n, i), Author: workitem.Author{Login: []string{"octocat", "mallory"}[i%2]},
			Body: "please look at this", CreatedAt: noon.Add(time.Duration(i) * time.Second),
		}
		thread = append(thread, c)
		if i%2 == 1 {
			do(record.Baseline{Note: record.NoteOf(c), Outcome: record.Unauthorized})
			continue
		}
		do(record.Hold{Note: record.NoteOf(c)}, record.Queue{Comment: c.ID, DeliveryID: record.CommentDeliveryID(c.ID), Run: "r"}, record.Deliver{Comment: c.ID})
	}
	rec, _ := draft.Done()
	return item, thread, rec
}

func restingFacts() Facts {
	return Facts{
		Now: noon.Add(time.Hour), Run: "run-1", Version: "v1.0.0", Host: "here", Room: 7, TooLong: tooLong, Held: map[string]bool{},
		Policy: policyOf(policy.Options{}), Pane: record.Pane{State: record.PaneLive, Identity: "life-1", Adoptable: true},
	}
}

// F6: a decision that finds nothing to do copies nothing: what it allocates does
// not grow with the thread.
func TestAQuietDecisionCopiesNothing(t *testing.T) {
	var allocs [2]float64
	for i, comments := range []int{2, 500} {
		item, thread, rec := resting(t, 1, comments)
		facts := restingFacts()
		if d, err := Decide(item, thread, rec, facts); err != nil || len(d.Changes)+len(d.Effects)+len(d.Events) > 0 {
			t.Fatalf("it is not quiet: %+v, %v", d, err)
		}
		allocs[i] = testing.AllocsPerRun(100, func() { _, _ = Decide(item, thread, rec, facts) })
	}
	if allocs[0] != allocs[1] || allocs[0] > 8 {
		t.Errorf("%v allocations with 2 comments, %v with 500", allocs[0], allocs[1])
	}
}

// Ten thousand quiet items with twenty comments each, decided without a ledger: the
// aim is a tenth of a second for all of them, and less than one allocation for each
// comment.
func BenchmarkDecideQuiet(b *testing.B) {
	const items, comments = 10_000, 20
	type one struct {
		item   workitem.Item
		thread []workitem.Comment
		rec    record.Record
	}
	all := make([]one, items)
	for n := range all {
		all[n].item, all[n].thread, all[n].rec = resting(b, n+1, comments)
	}
	facts := restingFacts()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	for b.Loop() {
		for i := range all {
			if d, err := Decide(all[i].item, all[i].thread, all[i].rec, facts); err != nil || len(d.Changes) > 0 {
				b.Fatal(d, err)
			}
		}
	}
	runtime.ReadMemStats(&after)
	decided := float64(b.N) * items
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/decided, "ns/item")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/decided/comments, "allocs/comment")
}

// The same, when each has one new comment of an authorised author: what a busy
// cycle costs beside its transactions.
func BenchmarkDecideBusy(b *testing.B) {
	item, thread, rec := resting(b, 1, 20)
	thread = append(thread, workitem.Comment{
		ID: "IC_new", Author: workitem.Author{Login: "octocat"}, Body: "please look at this as well", CreatedAt: noon.Add(time.Hour),
	})
	facts := restingFacts()
	b.ReportAllocs()
	for b.Loop() {
		if d, err := Decide(item, thread, rec, facts); err != nil || len(d.Effects) != 1 {
			b.Fatal(d, err)
		}
	}
}

// A whole quiet cycle over a thousand items, on a ledger in memory.
func BenchmarkQuietCycle(b *testing.B) {
	w := newWorld(b)
	for n := 1; n <= 1000; n++ {
		item, thread, rec := resting(b, n, 20)
		w.src.items = append(w.src.items, item)
		w.records[item.Ref.Key()] = rec
		w.panes[item.Ref.Key()] = record.Pane{State: record.PaneLive, Identity: "life-1", Adoptable: true}
		if w.src.threads == nil {
			w.src.threads = map[string][]workitem.Comment{}
		}
		w.src.threads[item.Ref.Key()] = thread
	}
	b.ReportAllocs()
	for b.Loop() {
		w.poller.Cycle(b.Context())
		w.events, w.cycles = nil, nil
	}
	if w.commits > 0 || w.src.reads > 0 {
		b.Fatalf("%d commits, %d reads", w.commits, w.src.reads)
	}
}

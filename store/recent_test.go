package store_test

import (
	"errors"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"theloop/record"
	"theloop/store/storetest"
	"theloop/workitem"
)

// TestBigThreads: what is remembered of big items is never older than the file,
// through commits, forgetting, a failed commit and a restart.
func TestBigThreads(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	defer func() { shut(t, l); storetest.Check(t, path) }()
	model := map[string]record.Record{}
	apply := func(r workitem.Ref, changes ...record.Change) {
		t.Helper()
		after, _, err := record.Apply(model[r.Key()], changes)
		must(t, err)
		after.Item.Ref = r.String()
		model[r.Key()] = after
		_, err = l.Commit(t.Context(), r, after.Item.Rev-1, changes)
		if err != nil && !errors.Is(err, record.ErrUnknown) {
			t.Fatal(err)
		}
	}
	for step := range rounds(t, 40) {
		r := ref(rand.IntN(2) + 1)
		switch rec := model[r.Key()]; {
		case rec.Item.Rev == 0:
			apply(r, baselines(step, 110)...)
		case step%9 == 0: // the next thread has other rows, and an item row that is the same
			must(t, l.ForgetAll(t.Context(), []workitem.Ref{r}))
			delete(model, r.Key())
		case step%11 == 0:
			shut(t, l)
			l = open(t, path)
		case step%5 == 0:
			l.FailCommits(func() error { return errors.New("input/output error") })
			apply(r, record.Hold{Note: note(commentID(10_000 + step))})
			l.FailCommits(nil)
		default:
			apply(r, record.Hold{Note: note(commentID(20_000 + step))}, record.Withhold{Author: commentID(step)})
		}
		for range 2 {
			same(t, r.String(), model[r.Key()], get(t, l, r))
		}
	}
}

// TestSameRowOtherThread: an item that was forgotten and seen again can have the
// same row as before, byte for byte, and another thread.
func TestSameRowOtherThread(t *testing.T) {
	l := storetest.Open(t)
	for n := range 2 {
		commit(t, l, ref(1), baselines(n, 110)...)
		if first := get(t, l, ref(1)).Comments.All()[0].ID; first != commentID(n*1_000_000) {
			t.Fatalf("thread %d begins with %s", n, first)
		}
		must(t, l.ForgetAll(t.Context(), []workitem.Ref{ref(1)}))
	}
}

// baselines makes rows whose ids depend on a number and nothing else does.
func baselines(n, rows int) (changes []record.Change) {
	for i := range rows {
		same := note("IC_0")
		same.ID = commentID(n*1_000_000 + i)
		changes = append(changes, record.Baseline{Note: same, Outcome: record.FirstSight})
	}
	return changes
}

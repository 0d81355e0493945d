package store_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"
	"testing"

	"theloop/record"
	"theloop/store"
	"theloop/store/storetest"
	"theloop/workitem"
)

// TestQuiet: what changes nothing costs no transaction and no byte; a quiet
// cycle costs one (F6).
func TestQuiet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := storetest.OpenAt(t, path)
	commit(t, l, ref(1), append(queued("IC_1"), observe(ref(1), "s1"))...)
	before, commits := contents(t, filepath.Dir(path)), l.Commits()
	if applied := commit(t, l, ref(1), observe(ref(1), "s1"), record.Release{Comment: "IC_1", DeliveryID: "another"}); applied != nil {
		t.Fatalf("applied %v", applied)
	}
	if applied := commit(t, l, ref(2)); applied != nil {
		t.Fatalf("applied %v", applied)
	}
	for _, held := range [][]record.Held{nil, {{Ref: ref(1).String(), DeliveryID: "another"}, {Ref: "nonsense", DeliveryID: "x"}}} {
		if back, err := l.Release(t.Context(), held); err != nil || back != nil {
			t.Fatalf("released %v, %v", back, err)
		}
	}
	must(t, l.Batch(t.Context(), nil))
	must(t, l.ForgetAll(t.Context(), nil))
	if n, err := l.Expire(t.Context(), noon); n != 0 || err != nil {
		t.Fatalf("expired %d, %v", n, err)
	}
	same(t, "the folder", before, contents(t, filepath.Dir(path)))
	must(t, l.EndCycle(t.Context(), record.Cycle{At: noon}, []record.SourceRow{{ID: "a"}, {ID: "b"}}))
	if n := l.Commits() - commits; n != 1 {
		t.Fatalf("a quiet cycle made %d transactions", n)
	}
}

// TestStale: a decision on a revision that moved is refused, with the record as
// it was, whether of the item or of the target that it relied on (F7).
func TestStale(t *testing.T) {
	l := storetest.Open(t)
	commit(t, l, ref(1), observe(ref(1), "s1"))
	commit(t, l, ref(2), observe(ref(2), "s1"))
	before := get(t, l, ref(1))
	withhold := []record.Change{record.Withhold{Author: "x"}}
	for _, rev := range []uint64{0, 2} {
		if _, err := l.Commit(t.Context(), ref(1), rev, withhold); !errors.Is(err, record.ErrChanged) {
			t.Errorf("revision %d: %v", rev, err)
		}
	}
	if _, _, err := l.CommitBoth(t.Context(), ref(1), 1, withhold, ref(2), 0, nil); !errors.Is(err, record.ErrChanged) {
		t.Errorf("the target moved: %v", err)
	}
	err := l.Batch(t.Context(), []store.Write{{Ref: ref(1), Rev: 1, Changes: withhold}, {Ref: ref(3), Rev: 1}})
	if !errors.Is(err, record.ErrChanged) {
		t.Errorf("a batch: %v", err)
	}
	same(t, "the record", before, get(t, l, ref(1)))
}

// TestBoth writes a pull request and the control row of its target in one
// transaction (F1, X6).
func TestBoth(t *testing.T) {
	l := storetest.Open(t)
	stop := record.Command{Control: record.Control{Command: "stop", Source: "comment", RequestedAt: noon}}
	pr, target, err := l.CommitBoth(t.Context(),
		ref(2), 0, []record.Change{record.Settle{Note: note("IC_1"), Outcome: record.ControlExecuted}},
		ref(1), 0, []record.Change{stop, record.Serve{}})
	must(t, err)
	if len(pr) != 1 || len(target) != 1 || l.Commits() != 1 {
		t.Fatalf("applied %v and %v in %d transactions", pr, target, l.Commits())
	}
	if rec := get(t, l, ref(1)); rec.Item.Control.Command != "stop" || rec.Item.Ref != ref(1).String() {
		t.Errorf("the target: %+v", rec.Item)
	}
	_, _, err = l.CommitBoth(t.Context(), ref(1), 1, nil, workitem.Ref{Provider: "GitHub", Owner: "OCTO", Repo: "Repo", Number: 1}, 1, nil)
	if !errors.Is(err, record.ErrIllegal) {
		t.Errorf("an item and itself: %v", err)
	}
}

// TestNotWritten: what could not be read back is refused before it is written.
func TestNotWritten(t *testing.T) {
	l := storetest.Open(t)
	row := func(id string, seq uint64) record.Comment {
		return record.Comment{ID: id, State: record.Baselined, Seq: seq}
	}
	for name, c := range map[string]record.Change{
		"another item":       observe(ref(2), "s1"),
		"no comment id":      record.Hold{},
		"a NUL":              record.Hold{Note: note("IC_1\x00x")},
		"no UTF-8":           record.Hold{Note: note("IC_\xff")},
		"a long id":          record.Hold{Note: note(fmt.Sprintf("%01025d", 1))},
		"one id twice":       record.Import{Comments: []record.Comment{row("a", 1), row("a", 2)}},
		"one seq twice":      record.Import{Comments: []record.Comment{row("a", 1), row("b", 1)}},
		"no seq":             record.Import{Comments: []record.Comment{row("a", 0)}},
		"an unreadable name": record.Import{Item: record.Item{Ref: "nonsense"}},
	} {
		if _, err := l.Commit(t.Context(), ref(1), 0, []record.Change{c}); !errors.Is(err, record.ErrIllegal) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, r := range []workitem.Ref{{}, {Provider: "github", Owner: "octo", Repo: "../x", Number: 1}} {
		if _, err := l.Commit(t.Context(), r, 0, queued("IC_1")); err == nil {
			t.Errorf("%q was written", r)
		}
		if _, err := l.Record(t.Context(), r); err == nil {
			t.Errorf("%q was read", r)
		}
	}
	if l.Commits() != 0 {
		t.Errorf("%d transactions", l.Commits())
	}
}

// TestConcurrent: many goroutines decide on what they read and commit; each
// commit that went through was decided on the record right before it (F7), and
// readers see whole records.
func TestConcurrent(t *testing.T) {
	l := storetest.Open(t)
	const workers, each = 6, 15
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := range each {
				if err := addComment(t.Context(), l, ref(w%2+1), fmt.Sprintf("IC_%d_%d", w, n)); err != nil {
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for range each {
				if err := readAll(t.Context(), l); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	for n := range 2 {
		rec := get(t, l, ref(n+1))
		if rec.Item.Rev != workers/2*each || rec.Comments.Len() != workers/2*each {
			t.Errorf("revision %d, %d comments", rec.Item.Rev, rec.Comments.Len())
		}
	}
}

func addComment(ctx context.Context, l *store.Ledger, r workitem.Ref, id string) error {
	for {
		rec, err := l.Record(ctx, r)
		if err != nil {
			return err
		}
		if _, err = l.Commit(ctx, r, rec.Item.Rev, queued(id)); !errors.Is(err, record.ErrChanged) {
			return err
		}
	}
}

func readAll(ctx context.Context, l *store.Ledger) error {
	for rec, err := range l.Items(ctx) {
		if err != nil {
			return err
		}
		r, _ := workitem.ParseRef(rec.Item.Ref)
		whole, err := l.Record(ctx, r)
		if err != nil {
			return err
		}
		if whole.Comments.Len() != whole.Item.Counts.Pending || whole.Comments.Len() != int(whole.Item.Rev) {
			return fmt.Errorf("%d rows, %+v at revision %d", whole.Comments.Len(), whole.Item.Counts, whole.Item.Rev)
		}
	}
	_, err := l.Pending(ctx)
	return err
}

// TestClosed: every call on a closed ledger, under a context that is over, or
// to write what is open for reading, is an error that says so.
func TestClosed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 3)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	l := storetest.OpenAt(t, path)
	for name, call := range calls(l) {
		if err := call(over); !errors.Is(err, context.Canceled) {
			t.Errorf("%s, the context is over: %v", name, err)
		}
	}
	if _, err := store.Open(over, options(path)); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	shut(t, l)
	for name, call := range calls(l) {
		if err := call(t.Context()); !errors.Is(err, fs.ErrClosed) {
			t.Errorf("%s, it is closed: %v", name, err)
		}
	}
	if err := l.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Errorf("close: %v", err)
	}
}

// TestReadOnly: a reader writes nothing, whatever is asked of it, and shares the
// file with others.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 3)
	before := contents(t, filepath.Dir(path))
	opts := options(path)
	opts.ReadOnly, opts.Writer = true, "another"
	l, err := store.Open(t.Context(), opts)
	must(t, err)
	second, err := store.Open(t.Context(), opts)
	must(t, err)
	for name, call := range calls(l) {
		err := call(t.Context())
		if want := writes()[name]; want != errors.Is(err, fs.ErrPermission) || !want && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	shut(t, l)
	shut(t, second)
	same(t, "the folder", before, contents(t, filepath.Dir(path)))
}

func writes() map[string]bool {
	return map[string]bool{
		"Commit": true, "CommitBoth": true, "Batch": true, "Release": true,
		"EndCycle": true, "Expire": true, "ForgetAll": true, "FinishImport": true,
	}
}

// calls is every method that uses the file.
func calls(l *store.Ledger) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Record": func(ctx context.Context) error { _, err := l.Record(ctx, ref(1)); return err },
		"Commit": func(ctx context.Context) error { _, err := l.Commit(ctx, ref(9), 0, queued("IC_1")); return err },
		"CommitBoth": func(ctx context.Context) error {
			_, _, err := l.CommitBoth(ctx, ref(8), 0, queued("IC_1"), ref(9), 0, nil)
			return err
		},
		"Batch": func(ctx context.Context) error {
			return l.Batch(ctx, []store.Write{{Ref: ref(9), Changes: queued("IC_1")}})
		},
		"Release": func(ctx context.Context) error {
			_, err := l.Release(ctx, []record.Held{{Ref: ref(1).String(), DeliveryID: record.CommentDeliveryID("IC_9")}})
			return err
		},
		"EndCycle":     func(ctx context.Context) error { return l.EndCycle(ctx, record.Cycle{}, nil) },
		"Expire":       func(ctx context.Context) error { _, err := l.Expire(ctx, noon); return err },
		"ForgetAll":    func(ctx context.Context) error { return l.ForgetAll(ctx, []workitem.Ref{ref(1)}) },
		"FinishImport": func(ctx context.Context) error { return l.FinishImport(ctx, noon) },
		"ImportedAt":   func(ctx context.Context) error { _, err := l.ImportedAt(ctx); return err },
		"Empty":        func(ctx context.Context) error { _, err := l.Empty(ctx); return err },
		"Pending":      func(ctx context.Context) error { _, err := l.Pending(ctx); return err },
		"Unfinished":   func(ctx context.Context) error { _, err := l.Unfinished(ctx); return err },
		"Known":        func(ctx context.Context) error { _, err := l.Known(ctx, "s1"); return err },
		"Linked":       func(ctx context.Context) error { _, err := l.Linked(ctx, ref(1)); return err },
		"Cycles":       func(ctx context.Context) error { _, err := l.Cycles(ctx, 1); return err },
		"Sources":      func(ctx context.Context) error { _, err := l.Sources(ctx); return err },
		"Backup":       func(ctx context.Context) error { return l.Backup(ctx, &countWriter{}) },
		"Check":        func(ctx context.Context) error { _, err := l.Check(ctx); return err },
		"Items": func(ctx context.Context) error {
			for _, err := range l.Items(ctx) {
				return err
			}
			return errors.New("there are none")
		},
	}
}

type countWriter struct{ n int }

func (w *countWriter) Write(b []byte) (int, error) { w.n += len(b); return len(b), nil }

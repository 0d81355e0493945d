package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
	"theloop/store"
	"theloop/store/storetest"
	"theloop/workitem"
)

func wantRowError(t *testing.T, err error, bucket, key string) {
	t.Helper()
	var bad *store.RowError
	if !errors.As(err, &bad) || bad.Bucket != bucket || bad.Key != key {
		t.Fatalf("%v, want row %q of %s", err, key, bucket)
	}
}

// TestEmpty: a ledger that has one row of one item is not empty, whichever it is.
func TestEmpty(t *testing.T) {
	l := storetest.OpenAt(t, filepath.Join(t.TempDir(), "ledger.db"))
	is := func(name string, want bool) {
		t.Helper()
		if got, err := l.Empty(t.Context()); err != nil || got != want {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	is("new", true)
	must(t, l.FinishImport(t.Context(), noon))
	is("without items", true)
	closed := record.PutSession{Session: record.Session{Harness: "claude", Status: record.Shut, EndedAt: noon}}
	commit(t, l, ref(1), observe(ref(1), "s1"), record.FirstSeen{At: noon}, closed)
	is("with an item", false)
	must(t, l.ForgetAll(t.Context(), []workitem.Ref{ref(1)}))
	is("with the session of one", false)
}

// TestBadRow: one row that does not decode concerns its item alone; the rest
// goes on, and the row is named wherever it is met.
func TestBadRow(t *testing.T) {
	for bucket, key := range map[string]string{
		"items": "github:octo/repo#2", "sessions": "github:octo/repo#2", "links": "github:octo/repo#2",
		"comments": "github:octo/repo#2\x00IC_9",
	} {
		t.Run(bucket, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			populate(t, path, 3)
			edit(set(bucket, key, `{"rev":"x","id":7,"status":7,"target":7}`))(t, path)
			l := open(t, path)
			defer closes(t, l)
			_, err := l.Record(t.Context(), ref(2))
			wantRowError(t, err, bucket, key)
			_, err = l.Commit(t.Context(), ref(2), 1, queued("IC_5"))
			wantRowError(t, err, bucket, key)
			commit(t, l, ref(1), queued("IC_10")...)
			commit(t, l, ref(3), queued("IC_10")...)

			unfinished, err := l.Unfinished(t.Context())
			must(t, err)
			same(t, "unfinished", []workitem.Ref{ref(1), ref(2), ref(3)}, unfinished)
			known, err := l.Known(t.Context(), "s1")
			if bucket == "items" {
				same(t, "known", []workitem.Ref{ref(1), ref(3)}, known)
				wantRowError(t, err, bucket, key)
			} else {
				must(t, err)
			}
			good := 0
			for _, err := range l.Items(t.Context()) {
				if err == nil {
					good++
				} else {
					wantRowError(t, err, bucket, key)
				}
			}
			if want := map[string]int{"comments": 3}[bucket]; good != max(want, 2) {
				t.Errorf("%d items were read", good)
			}
			problems, err := l.Check(t.Context())
			must(t, err)
			if len(problems) != 1 || problems[0].Bucket != bucket || problems[0].Key != key {
				t.Errorf("check: %v", problems)
			}
		})
	}
}

// TestItems walks over more items than a page in order, and holds no
// transaction meanwhile: commits that make the file grow go through, and an item
// that is written ahead of the walk is met.
func TestItems(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 603)
	l := storetest.OpenAt(t, path)
	var keys []string
	for rec, err := range l.Items(t.Context()) {
		must(t, err)
		if rec.Item.Counts.Baselined != 5 && rec.Item.Ref != ref(9999).String() || rec.Comments.Len() != 0 {
			t.Fatalf("%+v", rec)
		}
		if keys = append(keys, rec.Item.Ref); len(keys) == 1 {
			commit(t, l, ref(9999), observe(ref(9999), "s1"))
		}
		if len(keys)%100 == 1 {
			commit(t, l, ref(5000), record.Observe{Item: workitem.Item{Ref: ref(5000), Title: strings.Repeat("x", 2000*len(keys))}},
				record.FirstSeen{At: noon})
			must(t, l.ForgetAll(t.Context(), []workitem.Ref{ref(5000)}))
		}
	}
	if len(keys) != 604 || !slices.IsSorted(keys) {
		t.Errorf("%d items, sorted %t", len(keys), slices.IsSorted(keys))
	}
	for range l.Items(t.Context()) {
		break
	}
}

// TestKnown: closures are looked for among the items of a source, those too that
// were imported and not seen yet, and those that have ended and are not forgotten
// yet (P8).
func TestKnown(t *testing.T) {
	l := storetest.Open(t)
	for n, source := range []string{"a", "a", "b", "a", "a"} {
		commit(t, l, ref(n+1), observe(ref(n+1), source))
	}
	for _, n := range []int{1, 2, 3, 5} {
		commit(t, l, ref(n), record.FirstSeen{At: noon})
	}
	commit(t, l, ref(5), record.End{At: noon})
	commit(t, l, ref(1), record.End{At: noon}, record.Forget{})
	known, err := l.Known(t.Context(), "a")
	must(t, err)
	same(t, "known of a", []workitem.Ref{ref(2), ref(4), ref(5)}, known)
	if known, err := l.Known(t.Context(), "c"); err != nil || known != nil {
		t.Errorf("known of c: %v, %v", known, err)
	}
}

// TestLinked finds the pull requests that were routed to an item (P3).
func TestLinked(t *testing.T) {
	l := storetest.Open(t)
	for n, link := range []record.Link{{Target: ref(1).String()}, {Target: "github:OCTO/repo#1"}, {Target: ref(1).String(), Ended: true}, {Target: ref(15).String()}} {
		commit(t, l, ref(n+20), record.PutLink{Link: link})
	}
	linked, err := l.Linked(t.Context(), ref(1))
	must(t, err)
	same(t, "linked", []workitem.Ref{ref(20), ref(21)}, linked)
}

// TestCycles: the last 1 440 stay, the newest comes first; sources keep their
// rows.
func TestCycles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	must(t, storeCycles(t, path, 1440))
	l := storetest.OpenAt(t, path)
	for n := range 3 {
		sources := []record.SourceRow{{ID: "a", ListedAt: noon}, {ID: fmt.Sprint(n), Error: "x"}}
		must(t, l.EndCycle(t.Context(), record.Cycle{At: noon, ItemsSeen: 10000 + n}, sources))
	}
	all, err := l.Cycles(t.Context(), 0)
	must(t, err)
	if len(all) != 1440 || all[0].ItemsSeen != 10002 || all[3].ItemsSeen != 1440 || all[1439].ItemsSeen != 4 {
		t.Errorf("%d cycles: %v … %v", len(all), all[:4], all[len(all)-1])
	}
	if last, err := l.Cycles(t.Context(), 2); err != nil || len(last) != 2 || last[0].ItemsSeen != 10002 {
		t.Errorf("the last two: %v, %v", last, err)
	}
	sources, err := l.Sources(t.Context())
	must(t, err)
	if len(sources) != 4 || !sources["a"].ListedAt.Equal(noon) || sources["2"].Error != "x" {
		t.Errorf("sources: %v", sources)
	}
}

// storeCycles writes cycle rows 1 to n in one transaction.
func storeCycles(t *testing.T, path string, n int) error {
	edit(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("cycles"))
		for i := range n {
			key := []byte{0, 0, 0, 0, 0, 0, byte((i + 1) >> 8), byte(i + 1)}
			if err := b.Put(key, fmt.Appendf(nil, `{"itemsSeen":%d}`, i+1)); err != nil {
				return err
			}
		}
		return b.SetSequence(uint64(n))
	})(t, path)
	return nil
}

// TestImported: a finished import gives a ledger its history.
func TestImported(t *testing.T) {
	l := storetest.Open(t)
	if at, err := l.ImportedAt(t.Context()); err != nil || !at.IsZero() {
		t.Errorf("before: %v, %v", at, err)
	}
	must(t, l.FinishImport(t.Context(), noon))
	if at, err := l.ImportedAt(t.Context()); err != nil || !at.Equal(noon) {
		t.Errorf("after: %v, %v", at, err)
	}
}

// TestBackup copies a ledger that is in use; the copy is a ledger.
func TestBackup(t *testing.T) {
	dir := t.TempDir()
	populate(t, filepath.Join(dir, "ledger.db"), 50)
	l := storetest.OpenAt(t, filepath.Join(dir, "ledger.db"))
	var buf bytes.Buffer
	must(t, l.Backup(t.Context(), &buf))
	want := get(t, l, ref(7))
	commit(t, l, ref(7), queued("IC_77")...)
	must(t, os.WriteFile(filepath.Join(dir, "backup"), buf.Bytes(), 0o600))
	copied := storetest.OpenAt(t, filepath.Join(dir, "backup"))
	same(t, "the record in the copy", want, get(t, copied, ref(7)))
	if copied.Instance() != l.Instance() {
		t.Error("the copy is another instance")
	}
	broken := errors.New("broken pipe")
	if err := l.Backup(t.Context(), failWriter{broken}); !errors.Is(err, broken) && !strings.Contains(err.Error(), broken.Error()) {
		t.Errorf("a writer that fails: %v", err)
	}
}

type failWriter struct{ err error }

func (w failWriter) Write([]byte) (int, error) { return 0, w.err }

// TestCompact gives free pages back and loses nothing.
func TestCompact(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ledger.db")
	populate(t, path, 600)
	l := open(t, path)
	must(t, l.EndCycle(t.Context(), record.Cycle{ItemsSeen: 1}, nil))
	instance, want := l.Instance(), get(t, l, ref(600))
	var rest []workitem.Ref
	for n := 1; n < 600; n++ {
		rest = append(rest, ref(n))
	}
	must(t, l.ForgetAll(t.Context(), rest))
	if _, _, err := store.Compact(t.Context(), withTimeout(path)); !errors.As(err, new(*store.InUseError)) {
		t.Errorf("while it is open: %v", err)
	}
	shut(t, l)
	before, after, err := store.Compact(t.Context(), options(path))
	must(t, err)
	if info, _ := os.Stat(path); after*4 > before || info.Size() != after || info.Mode().Perm() != 0o600 {
		t.Errorf("from %d to %d bytes", before, after)
	}
	l = storetest.OpenAt(t, path)
	same(t, "the record", want, get(t, l, ref(600)))
	must(t, l.EndCycle(t.Context(), record.Cycle{ItemsSeen: 2}, nil))
	if cycles, err := l.Cycles(t.Context(), 0); err != nil || len(cycles) != 2 || cycles[0].ItemsSeen != 2 || l.Instance() != instance {
		t.Errorf("cycles %v, %v, instance %s", cycles, err, l.Instance())
	}
	if len(contents(t, dir)) != 1 {
		t.Errorf("files were left behind: %v", len(contents(t, dir)))
	}
}

func withTimeout(path string) store.Options {
	opts := options(path)
	opts.Timeout = 50_000_000
	return opts
}

// TestWriter: the release that wrote last is kept, and opening alone is no
// writing.
func TestWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 1)
	before := contents(t, filepath.Dir(path))
	opts := options(path)
	opts.Writer = "99.0.0"
	l, err := store.Open(t.Context(), opts)
	must(t, err)
	same(t, "the folder", before, contents(t, filepath.Dir(path)))
	commit(t, l, ref(1), queued("IC_77")...)
	shut(t, l)
	edit(setMeta("schema", "2"))(t, path)
	_, err = store.Open(t.Context(), options(path))
	var newer *store.SchemaError
	if !errors.As(err, &newer) || newer.Writer != "99.0.0" {
		t.Errorf("%v", err)
	}
}

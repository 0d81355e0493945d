package store_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"theloop/record"
	"theloop/store"
	"theloop/store/storetest"
)

// populate makes a ledger with items that have comments, and closes it.
func populate(t testing.TB, path string, items int) {
	t.Helper()
	l := open(t, path)
	var writes []store.Write
	for n := range items {
		r := ref(n + 1)
		changes := []record.Change{observe(r, "s1"), record.FirstSeen{At: noon}}
		for i := range 5 {
			changes = append(changes, record.Baseline{Note: note(fmt.Sprintf("IC_%d", i)), Outcome: record.FirstSight})
		}
		writes = append(writes, store.Write{Ref: r, Changes: append(changes, queued("IC_9")...)})
	}
	if err := l.Batch(t.Context(), writes); err != nil {
		t.Fatal(err)
	}
	shut(t, l)
}

// TestHeldByAnotherProcess: a held file is an error within the timeout, never a
// hang, and two processes cannot both have it (L11).
func TestHeldByAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	holder := start(t, "hold", path)
	if got := holder.line(); got != "open" {
		t.Fatalf("the holder says %q", got)
	}
	for _, readOnly := range []bool{false, true} {
		opts := options(path)
		opts.ReadOnly, opts.Timeout = readOnly, 200*time.Millisecond
		began := time.Now()
		_, err := store.Open(t.Context(), opts)
		var inUse *store.InUseError
		if !errors.As(err, &inUse) || inUse.Path != path {
			t.Fatalf("read-only %t: %v", readOnly, err)
		}
		if took := time.Since(began); took > 5*time.Second {
			t.Fatalf("it took %v", took)
		}
	}
	if err := holder.finish(); err != nil {
		t.Fatal(err)
	}
	shut(t, open(t, path))
}

// TestMadeByManyAtOnce: of several processes that find no ledger one makes and
// has it; the others are told that it is in use.
func TestMadeByManyAtOnce(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux renames without replacing; elsewhere the run lock alone keeps makers apart")
	}
	dir := t.TempDir()
	for round := range rounds(t, 1) {
		path := filepath.Join(dir, fmt.Sprint(round), "ledger.db")
		if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		var all []*child
		for range 4 {
			all = append(all, start(t, "hold", path))
		}
		said := map[string]int{}
		for _, c := range all {
			said[c.line()]++
		}
		if said["open"] != 1 {
			t.Fatalf("they said %v", said)
		}
		for _, c := range all {
			_ = c.finish()
		}
		storetest.Check(t, path)
	}
}

// TestMadeMeanwhile: a ledger that somebody else made while this one was being
// made keeps its name and what is in it.
func TestMadeMeanwhile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux renames without replacing; elsewhere the run lock alone keeps makers apart")
	}
	path := filepath.Join(t.TempDir(), "ledger.db")
	opts := options(path)
	opts.OnBuilt(func() { populate(t, path+".first", 1); rename(t, path+".first", path) })
	l, err := store.Open(t.Context(), opts)
	must(t, err)
	if rec := get(t, l, ref(1)); rec.Comments.Len() != 6 {
		t.Errorf("the other one was replaced: %+v", rec.Item)
	}
	shut(t, l)
	if all := contents(t, filepath.Dir(path)); len(all) != 1 {
		t.Errorf("%d files", len(all))
	}
}

// TestKilled: what a commit returned for is there after kill -9, whole, and at
// most one commit more (F1, F4, F5).
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	acked := map[string]int{}
	for round := range rounds(t, 8) {
		c := start(t, "commit", path)
		for range 1 + rand.IntN(30) {
			c.ack(acked)
		}
		go c.kill()
		for c.ack(acked) {
		}
		l := open(t, path)
		extra := 0
		for n := range 7 {
			r := ref(n + 1)
			rec := get(t, l, r)
			extra += len(rec.Comments.Pending()) - acked[r.String()]
			acked[r.String()] = len(rec.Comments.Pending())
			if rec.Comments.Len() != int(rec.Item.Rev) || rec.Item.Counts.Pending != rec.Comments.Len() {
				t.Fatalf("round %d: %s has revision %d, %+v and %d rows", round, r, rec.Item.Rev, rec.Item.Counts, rec.Comments.Len())
			}
		}
		if extra < 0 || extra > 1 {
			t.Fatalf("round %d: %d commits more than were acknowledged", round, extra)
		}
		shut(t, l)
		storetest.Check(t, path)
	}
}

// ack counts the next commit that the child says it made.
func (c *child) ack(acked map[string]int) bool {
	item, id, ok := strings.Cut(c.line(), " ")
	if ok && strings.HasPrefix(id, "IC_") {
		acked[item]++
	}
	return ok
}

// TestFirstCreationOnAFullDisk leaves nothing that a later start would open or
// trip over.
func TestFirstCreationOnAFullDisk(t *testing.T) {
	needsLimits(t)
	runs(t, "full-create", t.TempDir())
}

// TestFullDisk: a commit that fails is unknown (B9), the ledger works again
// when there is room, in the same process.
func TestFullDisk(t *testing.T) {
	needsLimits(t)
	path := filepath.Join(t.TempDir(), "ledger.db")
	runs(t, "full-commit", path)
	storetest.Check(t, path)
}

func needsLimits(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no limit on the size of files that a process writes")
	}
}

// TestCutWhileOpen: a page fault is an error that names the ledger, not the end
// of the process, and nothing is written into what is left.
func TestCutWhileOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not cut a file that is mapped")
	}
	whole := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, whole, 40)
	for _, size := range []int{0, 8192, 20480} {
		path := filepath.Join(t.TempDir(), "ledger.db")
		copyFile(t, whole, path)
		runs(t, "cut", path, fmt.Sprint(size))
	}
	l := open(t, whole)
	for range 3 { // what a cycle needs moves away from the end of the file
		must(t, l.EndCycle(t.Context(), record.Cycle{}, nil))
	}
	shut(t, l)
	runs(t, "refill", whole)
}

// TestUnknownCommit: a commit that took effect and failed to say so is unknown,
// not undone; the next read is made on a file that was opened anew (B9).
func TestUnknownCommit(t *testing.T) {
	l := storetest.Open(t)
	commit(t, l, ref(1), observe(ref(1), "s1"))
	fsync := errors.New("input/output error")
	l.FailCommits(func() error { return fsync })
	_, err := l.Commit(t.Context(), ref(1), 1, []record.Change{record.Withhold{Author: "x"}})
	if !errors.Is(err, record.ErrUnknown) || !errors.Is(err, fsync) || !strings.Contains(err.Error(), l.Path()) {
		t.Fatalf("the commit: %v", err)
	}
	if err := l.EndCycle(t.Context(), record.Cycle{}, nil); !errors.Is(err, record.ErrUnknown) {
		t.Fatalf("the cycle: %v", err)
	}
	_, err = l.Release(t.Context(), nil)
	if err != nil {
		t.Fatalf("nothing to release: %v", err)
	}
	l.FailCommits(nil)
	if rec := get(t, l, ref(1)); rec.Item.Withheld != "x" || rec.Item.Rev != 2 {
		t.Fatalf("after it: %+v", rec.Item)
	}
	commit(t, l, ref(1), record.Withhold{Author: "y"})
}

// TestReplaced: a ledger that is removed or replaced is noticed (L11), by asking
// and when it has to be opened again; the file that took its place is left alone.
func TestReplaced(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"removed":  func(t *testing.T, path string) { rename(t, path, path+".gone") },
		"replaced": func(t *testing.T, path string) { rename(t, path, path+".gone"); populate(t, path, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			l := open(t, path)
			if is, err := l.Replaced(); err != nil || is {
				t.Fatalf("before: %t, %v", is, err)
			}
			change(t, path)
			if is, err := l.Replaced(); err != nil || !is {
				t.Fatalf("after: %t, %v", is, err)
			}
			before := contents(t, filepath.Dir(path))
			delete(before, "ledger.db.gone")
			l.FailCommits(func() error { return errors.New("input/output error") })
			_, _ = l.Commit(t.Context(), ref(1), 0, []record.Change{record.Withhold{Author: "x"}})
			for range 2 {
				_, err := l.Record(t.Context(), ref(1))
				if !errors.Is(err, store.ErrReplaced) {
					t.Fatalf("opened again: %v", err)
				}
			}
			after := contents(t, filepath.Dir(path))
			delete(after, "ledger.db.gone")
			same(t, "the folder", before, after)
			shut(t, l)
		})
	}
}

// TestReplacedWhileOpening: the inode that was opened is compared with the
// path's after every open (L11).
func TestReplacedWhileOpening(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 1)
	populate(t, path+".other", 1)
	opts := options(path)
	opts.OnOpened(func() { rename(t, path+".other", path) })
	if _, err := store.Open(t.Context(), opts); !errors.Is(err, store.ErrReplaced) {
		t.Fatalf("%v", err)
	}
	shut(t, open(t, path))
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

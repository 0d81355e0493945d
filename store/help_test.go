package store_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"theloop/record"
	"theloop/store"
	"theloop/store/storetest"
	"theloop/workitem"
)

var noon = time.Date(2026, 7, 31, 12, 0, 0, 0, time.UTC)

// alike compares records by what they hold: a Thread by its rows.
func alike() cmp.Options {
	return cmp.Options{
		cmp.Transformer("rows", func(t record.Thread) []record.Comment { return t.All() }),
		cmpopts.EquateEmpty(),
	}
}

func ref(n int) workitem.Ref {
	return workitem.Ref{Provider: "github", Owner: "octo", Repo: "repo", Number: n}
}

func note(id string) record.Note {
	return record.Note{ID: id, Author: workitem.Author{Login: "octocat", ID: 1}, SHA256: record.TextHash(id), At: noon}
}

func observe(r workitem.Ref, source string) record.Change {
	return record.Observe{Item: workitem.Item{Ref: r, Kind: workitem.Issue, Title: "a title", Source: source}, UpdatedAt: noon}
}

// queued holds a comment's row and spends an attempt on it.
func queued(id string) []record.Change {
	return []record.Change{
		record.Hold{Note: note(id)},
		record.Queue{Comment: id, DeliveryID: record.CommentDeliveryID(id), Run: "run-1"},
	}
}

// commit applies changes to an item as it stands.
func commit(t testing.TB, l *store.Ledger, r workitem.Ref, changes ...record.Change) []record.Change {
	t.Helper()
	applied, err := l.Commit(t.Context(), r, get(t, l, r).Item.Rev, changes)
	if err != nil {
		t.Fatalf("commit to %s: %v", r, err)
	}
	return applied
}

func get(t testing.TB, l *store.Ledger, r workitem.Ref) record.Record {
	t.Helper()
	rec, err := l.Record(t.Context(), r)
	if err != nil {
		t.Fatalf("read %s: %v", r, err)
	}
	return rec
}

func same(t testing.TB, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got, alike()); diff != "" {
		t.Fatalf("%s (-want +got):\n%s", what, diff)
	}
}

func options(path string) store.Options { return store.Options{Path: path, Writer: "0.0.0-test"} }

func open(t testing.TB, path string) *store.Ledger {
	t.Helper()
	l, err := store.Open(t.Context(), options(path))
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return l
}

// shut closes a ledger and checks it.
func shut(t testing.TB, l *store.Ledger) {
	t.Helper()
	closes(t, l)
	storetest.Check(t, l.Path())
}

// closes is shut for a ledger in which something is wrong on purpose.
func closes(t testing.TB, l *store.Ledger) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// contents is every file of a folder with what is in it, and when it was
// written.
func contents(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]string)
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			t.Fatal(err)
		}
		text := e.Type().String() + info.ModTime().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			text += string(data)
		}
		all[e.Name()] = text
	}
	return all
}

// rounds is how often a test that may run long does its work: few times, or
// what the environment variable SOAK says.
func rounds(t testing.TB, short int) int {
	t.Helper()
	text := os.Getenv("SOAK")
	if text == "" {
		return short
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SOAK=%q is no number of rounds", text)
	}
	return n
}

func commentID(n int) string { return "IC_" + strconv.Itoa(n) }

// fastFolder is a folder in memory where there is one.
func fastFolder(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "the-loop-test-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

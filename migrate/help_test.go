package migrate_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"theloop/migrate"
	"theloop/record"
	"theloop/store"
	"theloop/store/storetest"
	"theloop/workitem"
)

const (
	here    = "this-machine"
	version = "v1.2.3"
)

var now = time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		panic(err)
	}
	return t
}

// world is a state root with records of earlier releases, and a ledger.
type world struct {
	t      *testing.T
	root   string
	ledger *store.Ledger
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, root: t.TempDir(), ledger: storetest.Open(t)}
}

// samples is a world with the sample records of earlier releases.
func samples(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	for _, dir := range []string{"portable", "local"} {
		if err := os.CopyFS(filepath.Join(w.root, dir), os.DirFS(filepath.Join("..", "testdata", dir))); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

// file writes one below the root and returns its path.
func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

func (w *world) options(edits ...func(*migrate.ImportOptions)) migrate.ImportOptions {
	o := migrate.ImportOptions{
		Ledger: w.ledger, Places: migrate.Places{Root: w.root}, Host: here, Version: version,
		Now: func() time.Time { return now },
	}
	for _, edit := range edits {
		edit(&o)
	}
	return o
}

func (w *world) imports(edits ...func(*migrate.ImportOptions)) migrate.Report {
	w.t.Helper()
	r, err := migrate.Import(w.t.Context(), w.options(edits...))
	if err != nil {
		w.t.Fatalf("import: %v", err)
	}
	return r
}

func (w *world) ref(text string) workitem.Ref {
	w.t.Helper()
	ref, err := workitem.ParseRef(text)
	if err != nil {
		w.t.Fatal(err)
	}
	return ref
}

func (w *world) record(text string) record.Record {
	w.t.Helper()
	rec, err := w.ledger.Record(w.t.Context(), w.ref(text))
	if err != nil {
		w.t.Fatal(err)
	}
	return rec
}

func (w *world) commit(text string, changes ...record.Change) {
	w.t.Helper()
	if _, err := w.ledger.Commit(w.t.Context(), w.ref(text), w.record(text).Item.Rev, changes); err != nil {
		w.t.Fatal(err)
	}
}

// row is the comment's row without its place.
func (w *world) row(item, comment string) record.Comment {
	w.t.Helper()
	row, ok := w.record(item).Comments.Get(comment)
	if !ok {
		w.t.Fatalf("%s has no row for %s", item, comment)
	}
	row.Seq = 0
	return row
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

// document reads a file as what it says.
func document(t *testing.T, path string) (doc any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return doc
}

func ref(n int) workitem.Ref {
	return workitem.Ref{Provider: "github", Owner: "octo", Repo: "repo", Number: n}
}

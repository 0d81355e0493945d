package migrate_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"theloop/migrate"
	"theloop/record"
	"theloop/store"
)

// exact reads a document with its numbers as they are written.
func exact(t *rapid.T, data []byte) (v any) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	return v
}

func marshal(t *rapid.T, v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// scratch is a folder and a ledger for one round of a property.
type scratch struct {
	t      *rapid.T
	dir    string
	ledger ledger
	real   *store.Ledger // of one round in twenty
}

func newScratch(t *rapid.T, dir string) *scratch {
	dir, err := os.MkdirTemp(dir, "round")
	if err != nil {
		t.Fatal(err)
	}
	s := &scratch{t: t, dir: dir, ledger: &memory{t: t, rows: map[string][]byte{}}}
	if rapid.IntRange(0, 19).Draw(t, "real") == 19 {
		s.real, err = store.Open(t.Context(), store.Options{Path: filepath.Join(dir, "ledger.db"), Writer: version})
		if err != nil {
			t.Fatal(err)
		}
		s.ledger = s.real
	}
	return s
}

func (s *scratch) close() {
	if s.real != nil {
		problems, err := s.real.Check(s.t.Context())
		if err != nil || len(problems) > 0 {
			s.t.Errorf("check: %v, %v", problems, err)
		}
		if err := s.real.Close(); err != nil {
			s.t.Error(err)
		}
	}
	os.RemoveAll(s.dir)
}

func (s *scratch) write(name string, data []byte) {
	path := filepath.Join(s.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *scratch) imports(root string) migrate.Report {
	r, err := migrate.Import(s.t.Context(), migrate.ImportOptions{
		Ledger: s.ledger, Places: migrate.Places{Root: root}, Host: here, Version: version,
	})
	if err != nil {
		s.t.Fatal(err)
	}
	return r
}

func (s *scratch) exports() string {
	to := filepath.Join(s.dir, "out")
	out, err := migrate.Export(s.t.Context(), migrate.ExportOptions{Ledger: s.ledger, To: to, Sessions: true, Force: true})
	if err != nil || len(out.Invalid) > 0 {
		s.t.Fatalf("%+v, %v", out, err)
	}
	return to
}

// documents reads every document of a root by what it is about.
func documents(t *rapid.T, root string) map[string]any {
	all := map[string]any{}
	for _, dir := range []string{"portable", "local"} {
		entries, _ := os.ReadDir(filepath.Join(root, dir))
		for _, e := range entries {
			if e.Name() == "index.json" {
				continue
			}
			data, err := os.ReadFile(filepath.Join(root, dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			v := exact(t, data)
			ref, _ := v.(map[string]any)["ref"].(string)
			if item, ok := v.(map[string]any)["workItem"].(map[string]any); ok {
				ref, _ = item["ref"].(string)
			}
			all[dir+" "+ref] = v
		}
	}
	return all
}

// Whatever earlier releases may have left: import then export gives documents
// equal to the originals, field for field; a second import changes nothing; and
// importing what was exported gives the same documents again.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := newScratch(t, dir)
		defer s.close()
		cwd := s.dir
		for n := range rapid.IntRange(1, 4).Draw(t, "records") {
			ref := fmt.Sprintf("github:octo/repo#%d", n+1)
			if rapid.IntRange(0, 4).Draw(t, "record?") > 0 {
				s.write(fmt.Sprintf("portable/%d.json", n), marshal(t, drawRecord(t, ref)))
			}
			if rapid.Bool().Draw(t, "handle?") {
				s.write(fmt.Sprintf("local/%d.json", n), marshal(t, drawHandle(t, ref, cwd, 1)))
			}
		}
		r := s.imports(s.dir)
		want := documents(t, s.dir)
		to := s.exports()
		if diff := cmp.Diff(want, documents(t, to)); diff != "" {
			t.Fatalf("exported (-want +got):\n%s", diff)
		}
		commits := s.ledger.Commits()
		again := s.imports(s.dir)
		if again.Imported != 0 || again.Unchanged != r.Imported || len(again.Conflicts) != 0 || again.Links != 0 || s.ledger.Commits() != commits+1 {
			t.Fatalf("a second import: %+v", again)
		}
		back := newScratch(t, dir)
		defer back.close()
		back.imports(to)
		if diff := cmp.Diff(want, documents(t, back.exports())); diff != "" {
			t.Fatalf("exported again (-want +got):\n%s", diff)
		}
	})
}

// Records that the poller made are written so that nothing is sent again after
// the way back: what is resolved is seen, what is not keeps its attempts.
func TestRoundTripOfLivingRecords(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		s := newScratch(t, dir)
		defer s.close()
		live(t, s, "github:octo/repo#1")
		live(t, s, "github:octo/repo#2")
		to := s.exports()
		back := newScratch(t, dir)
		defer back.close()
		if r := back.imports(to); len(r.Invalid)+len(r.Conflicts) > 0 {
			t.Fatalf("the way back: %+v", r)
		}
		if diff := cmp.Diff(documents(t, to), documents(t, back.exports())); diff != "" {
			t.Fatalf("exported again (-want +got):\n%s", diff)
		}
		for n := 1; n <= 2; n++ {
			compareLives(t, s.record(n), back.record(n))
		}
	})
}

func (s *scratch) record(n int) record.Record {
	rec, err := s.ledger.Record(s.t.Context(), ref(n))
	if err != nil {
		s.t.Fatal(err)
	}
	return rec
}

// compareLives holds a record against what came back of it.
func compareLives(t *rapid.T, was, is record.Record) {
	if was.Item.Known() != is.Item.Known() || was.Item.Sealed() != is.Item.Sealed() {
		t.Fatalf("was %+v, is %+v", was.Item, is.Item)
	}
	for _, row := range was.Comments.All() {
		back, ok := is.Comments.Get(row.ID)
		switch {
		case row.State == record.Pending && row.Attempts == 0:
			if ok && back.State != record.Pending {
				t.Fatalf("%+v came back as %+v", row, back)
			}
		case !ok, (row.State == record.Pending) != (back.State == record.Pending), row.State == record.Pending && back.Attempts != row.Attempts:
			t.Fatalf("%+v came back as %+v (%v)", row, back, ok)
		}
	}
}

// live takes an item through random steps of its life.
func live(t *rapid.T, s *scratch, text string) {
	r := ref(int(text[len(text)-1] - '0'))
	if _, err := s.ledger.Commit(t.Context(), r, 0, []record.Change{record.FirstSeen{At: now}}); err != nil {
		t.Fatal(err)
	}
	for range rapid.IntRange(0, 12).Draw(t, "steps") {
		rec, err := s.ledger.Record(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		id := drawID(t).(string)
		if id == "IC_kwDOAAAAAc4AAAmT" {
			id = "f"
		}
		change := rapid.SampledFrom([]record.Change{
			record.FirstSeen{At: now}, record.Baseline{Note: note(id), Outcome: record.FirstSight}, record.Hold{Note: note(id)},
			record.Queue{Comment: id, DeliveryID: record.CommentDeliveryID(id), Run: "r"}, record.Deliver{Comment: id},
			record.Fail{Comment: id}, record.GiveUp{Comment: id, Version: version}, record.Settle{Note: note(id), Outcome: record.TooLong},
			record.QueueSpawn{DeliveryID: "s", Run: "r"}, record.GiveUpSpawn{Version: version},
			record.Command{Control: record.Control{Command: "start", Source: "cli", RequestedAt: now, Served: true}},
			record.PutSession{Session: record.Session{Status: record.Shut, CreatedAt: now, EndedAt: now}},
			record.PutLink{Link: record.Link{Target: "github:octo/repo#1", Since: now}},
			record.End{At: now}, record.Forget{},
		}).Draw(t, "change")
		_, again := change.(record.FirstSeen)
		if _, _, err := record.Apply(rec, []record.Change{change}); err != nil || rec.Item.Sealed() && !again {
			continue // no step of its life as it stands
		}
		if _, err := s.ledger.Commit(t.Context(), r, rec.Item.Rev, []record.Change{change}); err != nil {
			t.Fatal(err)
		}
	}
}

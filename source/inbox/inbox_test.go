package inbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"theloop/source/sourcetest"
	"theloop/workitem"
)

const label = "the-loop: auto-execute"

// world is an inbox on disk, with its files long settled.
type world struct {
	dir  string
	next int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{dir: t.TempDir()}
}

func (w *world) source(t *testing.T, o Options) *Source {
	t.Helper()
	o.Path, o.Name, o.Label = w.dir, "local/demo", label
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// put writes a file below the inbox.
func (w *world) put(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(w.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func (w *world) age(t *testing.T, path string, by time.Duration) {
	t.Helper()
	at := time.Now().Add(-by)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func (w *world) item(t *testing.T, number int, title, author, labels, state string) {
	t.Helper()
	w.put(t, fmt.Sprintf("%d/item.md", number), fmt.Sprintf(
		"---\ntitle: %q\nauthor: %s\nlabels: [%s]\nstate: %s\n---\nthe body\n", title, author, labels, state))
}

func (w *world) edit(t *testing.T, number int, from, to string) {
	t.Helper()
	path := filepath.Join(w.dir, strconv.Itoa(number), "item.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w.put(t, fmt.Sprintf("%d/item.md", number), strings.Replace(string(text), from, to, 1))
}

func (w *world) Add(t *testing.T, title, author string, labelled bool) int {
	t.Helper()
	w.next++
	labels := ""
	if labelled {
		labels = strconv.Quote(label)
	}
	w.item(t, w.next, title, author, labels, "open")
	return w.next
}

func (w *world) Say(t *testing.T, number int, author, body string, at time.Time) {
	t.Helper()
	w.put(t, fmt.Sprintf("%d/comments/%s-%s.md", number, at.UTC().Format(nameTime), author), body+"\n")
}

func (w *world) Close(t *testing.T, number int) { w.edit(t, number, "state: open", "state: closed") }

func (w *world) Unlabel(t *testing.T, number int) {
	w.edit(t, number, strconv.Quote(label), "")
}

func (w *world) Remove(t *testing.T, number int) {
	if err := os.RemoveAll(filepath.Join(w.dir, strconv.Itoa(number))); err != nil {
		t.Fatal(err)
	}
}

func (w *world) Break(t *testing.T) (mend func()) {
	t.Helper()
	away := w.dir + ".away"
	if err := os.Rename(w.dir, away); err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := os.Rename(away, w.dir); err != nil {
			t.Error(err)
		}
	}
}

func TestConformance(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) (sourcetest.Source, sourcetest.World) {
		w := newWorld(t)
		return w.source(t, Options{}), w
	})
}

func listed(t *testing.T, s *Source) workitem.Listing {
	t.Helper()
	listing, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return listing
}

func thread(t *testing.T, s *Source, number int) []workitem.Comment {
	t.Helper()
	got, err := s.Comments(t.Context(), workitem.Item{Ref: s.ref(number)})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// The repository's own example must read as what the documentation says.
func TestExample(t *testing.T) {
	s, err := New(Options{Path: "../../testdata/inbox", Name: "local/demo", Label: label})
	if err != nil {
		t.Fatal(err)
	}
	listing := listed(t, s)
	if len(listing.Items) != 1 || len(listing.Bad) != 0 {
		t.Fatalf("listing %+v", listing)
	}
	it := listing.Items[0]
	if it.Ref.String() != "inbox:local/demo#1" || it.Author.Login != "octocat" || it.CommentCount != 1 {
		t.Errorf("item %+v", it)
	}
	if got := thread(t, s, 1); len(got) != 1 || got[0].Body != "the-loop start" || got[0].ID != "20260731T091158Z-octocat.md" {
		t.Errorf("thread %+v", got)
	}
}

// P5, P8: what cannot be read fails alone, and counts as there.
func TestBadItemFailsAlone(t *testing.T) {
	w := newWorld(t)
	w.item(t, 1, "fine", "octocat", strconv.Quote(label), "open")
	w.age(t, w.put(t, "2/item.md", "no front matter\n"), time.Minute)
	w.put(t, "three/item.md", "---\ntitle: x\n---\n")
	w.put(t, "04/item.md", "---\ntitle: x\n---\n")
	w.put(t, "README.md", "not an item\n")
	w.put(t, ".git/item.md", "nor this\n")
	s := w.source(t, Options{})
	listing := listed(t, s)
	if len(listing.Items) != 1 || listing.Items[0].Ref.Number != 1 {
		t.Errorf("items %+v", listing.Items)
	}
	var bad []string
	for _, b := range listing.Bad {
		bad = append(bad, fmt.Sprintf("%d %v", b.Ref.Number, b.Err))
	}
	text := strings.Join(bad, "\n")
	for _, want := range []string{"2 " + filepath.Join(w.dir, "2", "item.md"), "0 " + filepath.Join(w.dir, "three"), "0 " + filepath.Join(w.dir, "04")} {
		if !strings.Contains(text, want) {
			t.Errorf("bad items do not name %q:\n%s", want, text)
		}
	}
	if len(bad) != 3 {
		t.Errorf("%d bad items, want 3:\n%s", len(bad), text)
	}
	if _, err := s.State(t.Context(), s.ref(2)); err == nil || errors.Is(err, workitem.ErrGone) {
		t.Errorf("State of what cannot be read: %v", err)
	}
}

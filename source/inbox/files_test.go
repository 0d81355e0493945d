package inbox

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"theloop/workitem"
)

// Numbers are not words, and a fraction of a second comes after none.
func TestOrder(t *testing.T) {
	w := newWorld(t)
	for _, n := range []int{10, 2, 1} {
		w.item(t, n, "an item", "octocat", strconv.Quote(label), "open")
	}
	s := w.source(t, Options{})
	if items := listed(t, s).Items; len(items) != 3 || items[0].Ref.Number != 1 || items[1].Ref.Number != 2 || items[2].Ref.Number != 10 {
		t.Errorf("items %+v", items)
	}
	w.put(t, "1/comments/20260731T091158.5Z-octocat.md", "second\n")
	w.put(t, "1/comments/20260731T091158Z-octocat.md", "first\n")
	if got := thread(t, s, 1); len(got) != 2 || got[0].Body != "first" || got[1].Body != "second" {
		t.Errorf("thread %+v", got)
	}
}

// Posts of one second get names of their own, overwrite nothing, and leave
// nothing else behind.
func TestPost(t *testing.T) {
	w := newWorld(t)
	w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
	now := time.Date(2026, 7, 31, 9, 11, 58, 0, time.UTC)
	theirs := w.put(t, "1/comments/20260731T091159Z-the-loop.md", "not to be overwritten\n")
	s := w.source(t, Options{Now: func() time.Time { return now }})
	for _, want := range []string{"20260731T091158Z-the-loop.md", "20260731T091200Z-the-loop.md"} {
		if id, err := s.Post(t.Context(), s.ref(1), "hello"); err != nil || id != want {
			t.Errorf("posted %q, %v, want %q", id, err, want)
		}
	}
	if text, err := os.ReadFile(theirs); err != nil || string(text) != "not to be overwritten\n" {
		t.Errorf("the file that was there: %q, %v", text, err)
	}
	entries, err := os.ReadDir(filepath.Join(w.dir, "1", "comments"))
	if err != nil || len(entries) != 3 {
		t.Errorf("files %v, %v", entries, err)
	}
	info, err := os.Stat(filepath.Join(w.dir, "1", "comments", "20260731T091158Z-the-loop.md"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := s.Post(t.Context(), s.ref(9), "hello"); !errors.Is(err, workitem.ErrGone) {
		t.Errorf("post on what is gone: %v", err)
	}
}

// A file without its last newline waits while it is young, and its item's time
// is not one to remember.
func TestUnfinishedWaits(t *testing.T) {
	w := newWorld(t)
	w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
	half := w.put(t, "1/comments/20260731T091158Z-octocat.md", "half a sen")
	w.put(t, "2/item.md", "---\ntitle: half")
	if err := os.Mkdir(filepath.Join(w.dir, "3"), 0o755); err != nil {
		t.Fatal(err)
	}
	s := w.source(t, Options{})
	listing := listed(t, s)
	if len(listing.Items) != 1 || len(listing.Bad) != 0 || listing.Items[0].UpdatedAt.Before(listing.Date) {
		t.Errorf("listing %+v", listing)
	}
	if got := thread(t, s, 1); len(got) != 0 {
		t.Errorf("thread %+v", got)
	}
	for _, n := range []int{2, 3} {
		if _, err := s.State(t.Context(), s.ref(n)); !errors.Is(err, errUnfinished) {
			t.Errorf("State of %d: %v", n, err)
		}
	}
	w.age(t, half, 3*time.Second)
	if got := thread(t, s, 1); len(got) != 1 || got[0].Body != "half a sen" {
		t.Errorf("thread %+v once it has settled", got)
	}
	w.age(t, filepath.Join(w.dir, "3"), 3*time.Second)
	if bad := listed(t, s).Bad; len(bad) != 1 || !strings.Contains(bad[0].Err.Error(), "no item.md") {
		t.Errorf("a folder without item.md: %+v", bad)
	}
}

// Whatever happens in an item's folder changes its time.
func TestTimeChanges(t *testing.T) {
	w := newWorld(t)
	w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
	w.Say(t, 1, "octocat", "hello", time.Now())
	comment := filepath.Join(w.dir, "1", "comments", "20200101T000000Z-octocat.md")
	s := w.source(t, Options{})
	settle := func() time.Time {
		for _, name := range []string{"1", "1/item.md", "1/comments"} {
			w.age(t, filepath.Join(w.dir, name), time.Hour)
		}
		entries, err := os.ReadDir(filepath.Join(w.dir, "1", "comments"))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			w.age(t, filepath.Join(w.dir, "1", "comments", e.Name()), time.Hour)
		}
		return listed(t, s).Items[0].UpdatedAt
	}
	moves := []struct {
		name string
		do   func()
	}{
		{"a comment moved in with an old time", func() {
			from := filepath.Join(w.dir, "elsewhere.md")
			w.age(t, w.put(t, "elsewhere.md", "old\n"), 48*time.Hour)
			if err := os.Rename(from, comment); err != nil {
				t.Fatal(err)
			}
		}},
		{"a comment edited", func() { w.put(t, "1/comments/20200101T000000Z-octocat.md", "new\n") }},
		{"a comment removed", func() {
			if err := os.Remove(comment); err != nil {
				t.Fatal(err)
			}
		}},
		{"the item edited", func() { w.edit(t, 1, "the body", "another") }},
	}
	for _, m := range moves {
		before := settle()
		m.do()
		if after := listed(t, s).Items[0].UpdatedAt; !after.After(before) {
			t.Errorf("%s: the time stayed %s", m.name, before)
		}
	}
}

// Equal times sort by file name.
func TestEqualTimes(t *testing.T) {
	w := newWorld(t)
	w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
	at := time.Now()
	for _, who := range []string{"c", "a", "b"} {
		w.Say(t, 1, who, who, at)
	}
	got := thread(t, w.source(t, Options{}), 1)
	if len(got) != 3 || got[0].Body != "a" || got[1].Body != "b" || got[2].Body != "c" {
		t.Errorf("thread %+v", got)
	}
}

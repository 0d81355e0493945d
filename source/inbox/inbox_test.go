package inbox

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

func TestParseItem(t *testing.T) {
	tests := []struct{ name, text, title, labels, body, wrong string }{
		{name: "all of it", text: "---\ntitle: A\nlabels: [x, y]\nstate: open\n---\nbody\nmore\n", title: "A", labels: "x|y", body: "body\nmore"},
		{name: "an unquoted label with a colon", text: "---\nlabels: [the-loop: auto-execute]\n---\n", labels: label},
		{name: "one a line", text: "---\nlabels:\n  - the-loop: auto-execute\n---\n", labels: label},
		{name: "a label that is a number", text: "---\nlabels: [7]\n---\n", labels: "7"},
		{name: "Windows line ends", text: "---\r\ntitle: A\r\n---\r\nbody\r\n", title: "A", body: "body"},
		{name: "no body", text: "---\ntitle: A\n---", title: "A"},
		{name: "empty front matter", text: "---\n---\nbody\n", body: "body\n"},
		{name: "other keys", text: "---\ntitle: A\ncolour: blue\n---\n", title: "A"},
		{name: "no front matter", text: "hello\n", wrong: "three hyphens"},
		{name: "no end", text: "---\ntitle: A\n", wrong: "does not end"},
		{name: "not YAML", text: "---\ntitle: [\n---\n", wrong: "front matter"},
		{name: "a list for a title", text: "---\ntitle: {a: b}\n---\n", wrong: "front matter"},
		{name: "an unknown state", text: "---\nstate: wontfix\n---\n", wrong: "open or closed"},
		{name: "a label of two pairs", text: "---\nlabels: [{a: b, c: d}]\n---\n", wrong: "quote it"},
		{name: "not text", text: "---\ntitle: \xff\n---\n", wrong: "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it, err := parseItem([]byte(tt.text))
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("error %v, want one with %q", err, tt.wrong)
				}
				return
			}
			if err != nil || it.Title != tt.title || strings.Join(it.Labels, "|") != tt.labels || it.Body != tt.body {
				t.Errorf("got %+v, %v", it, err)
			}
		})
	}
}

func TestParseName(t *testing.T) {
	good := map[string]string{
		"20260731T091158Z-octocat.md": "octocat", "20260731T091158Z-the-loop.md": "the-loop",
		"20260731T091158.25Z-user_name.md": "user_name",
	}
	for name, login := range good {
		if at, got, err := parseName(name); err != nil || got != login || at.Year() != 2026 {
			t.Errorf("%s: %s, %q, %v", name, at, got, err)
		}
	}
	for _, name := range []string{
		"notes.md", "20260731-octocat.md", "20260731T091158Z.md", "20260731T091158Z-.md", "20261331T091158Z-octocat.md",
		"20260731T091158Z--x.md", "20260731T091158Z-a b.md", "20260731T091158Z-$(x).md",
	} {
		if _, _, err := parseName(name); err == nil || !strings.Contains(err.Error(), "20260731T091158Z-octocat.md") {
			t.Errorf("%s: error %v, want one that shows a good name", name, err)
		}
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

// A5, P5: whoever can write here speaks for everybody, so what somebody else
// may have written is refused by name.
func TestRefused(t *testing.T) {
	tests := []struct {
		name   string
		break_ func(t *testing.T, w *world) string
	}{
		{"an item that anybody may write", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "item.md")
			chmod(t, path, 0o646)
			return path
		}},
		{"a folder that anybody may write", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1")
			chmod(t, path, 0o757)
			return path
		}},
		{"a comments folder that anybody may write", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "comments")
			chmod(t, path, 0o757)
			return path
		}},
		{"a linked item", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "item.md")
			relink(t, path)
			return path
		}},
		{"a linked folder", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1")
			relink(t, path)
			return path
		}},
		{"a linked comments folder", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "comments")
			relink(t, path)
			return path
		}},
		{"a pipe", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "item.md")
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			return path
		}},
		{"a file that is too large", func(t *testing.T, w *world) string {
			return w.put(t, "1/item.md", strings.Repeat("x", maxFile+1))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
			w.Say(t, 1, "octocat", "hello", time.Now())
			path := tt.break_(t, w)
			listing := listed(t, w.source(t, Options{}))
			if len(listing.Items) != 0 || len(listing.Bad) != 1 || !strings.Contains(listing.Bad[0].Err.Error(), path) {
				t.Errorf("listing %+v does not refuse %s by name", listing, path)
			}
		})
	}
}

// A comment that is refused does not take the others with it, and is said once.
func TestRefusedComments(t *testing.T) {
	w := newWorld(t)
	w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
	w.Say(t, 1, "octocat", "hello", time.Now())
	chmod(t, w.put(t, "1/comments/20260731T091158Z-mallory.md", "the-loop start\n"), 0o646)
	relink(t, w.put(t, "1/comments/20260731T091159Z-mallory.md", "the-loop start\n"))
	w.put(t, "1/comments/notes.md", "whose?\n")
	w.put(t, "1/comments/20260731T091200Z-octocat.md", "\xff\n")
	w.put(t, "1/comments/20260731T091201Z-octocat.md", " \n")
	w.put(t, "1/comments/notes.txt", "none of ours\n")
	var log bytes.Buffer
	s := w.source(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		if got := thread(t, s, 1); len(got) != 1 || got[0].Body != "hello" {
			t.Errorf("thread %+v", got)
		}
	}
	for _, name := range []string{"T091158Z-mallory", "T091159Z-mallory", "notes.md", "T091200Z-octocat"} {
		if n := strings.Count(log.String(), name+" ") + strings.Count(log.String(), name+".md "); n != 1 {
			t.Errorf("%s was reported %d times:\n%s", name, n, &log)
		}
	}
	if strings.Contains(log.String(), "T091201Z") || strings.Contains(log.String(), "notes.txt") {
		t.Errorf("what is no comment was reported:\n%s", &log)
	}
}

func TestTrustedOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of somebody else's")
	}
	w := newWorld(t)
	w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
	if err := os.Chown(filepath.Join(w.dir, "1", "item.md"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	listing := listed(t, w.source(t, Options{}))
	if len(listing.Bad) != 1 || !strings.Contains(listing.Bad[0].Err.Error(), "12345") {
		t.Errorf("listing %+v", listing)
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

func TestNew(t *testing.T) {
	for _, o := range []Options{
		{Path: "x", Name: "demo", Label: label}, {Path: "x", Name: "../demo", Label: label},
		{Path: "x", Name: "a/b/c", Label: label}, {Path: "x", Name: "local/demo"}, {Name: "local/demo", Label: label},
	} {
		if s, err := New(o); err == nil {
			t.Errorf("New(%+v) made %s", o, s.ID())
		}
	}
}

// An inbox that anybody can write fails as a whole.
func TestOpenInbox(t *testing.T) {
	w := newWorld(t)
	chmod(t, w.dir, 0o757)
	if _, err := w.source(t, Options{}).List(t.Context()); err == nil || !strings.Contains(err.Error(), "chmod o-w") {
		t.Errorf("error %v", err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// relink puts a link in a file's or folder's place that leads to it.
func relink(t *testing.T, path string) {
	t.Helper()
	aside := filepath.Join(t.TempDir(), "aside")
	if err := errors.Join(os.Rename(path, aside), os.Symlink(aside, path)); err != nil {
		t.Fatal(err)
	}
}

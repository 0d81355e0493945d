// Package sourcetest holds every backend against what all sources promise: one
// suite, run by each of them on a real tracker, or a stand-in that answers like
// one.
package sourcetest

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"theloop/workitem"
)

// Source is what a backend answers. It has the methods that the poller asks
// for, in the shape that the poller asks for them.
type Source interface {
	ID() string
	List(ctx context.Context) (workitem.Listing, error)
	Comments(ctx context.Context, it workitem.Item) ([]workitem.Comment, error)
	State(ctx context.Context, ref workitem.Ref) (workitem.Item, error)
	Post(ctx context.Context, ref workitem.Ref, body string) (id string, err error)
	React(ctx context.Context, ref workitem.Ref, c workitem.Comment, content string) error
	Self(ctx context.Context) (workitem.Author, error)
}

// World is the tracker behind a source, as people change it.
type World interface {
	// Add makes an open item and returns its number.
	Add(t *testing.T, title, author string, labelled bool) int
	// Say leaves a comment.
	Say(t *testing.T, number int, author, body string, at time.Time)
	// Close closes an item, Unlabel takes its label, Remove the item itself.
	Close(t *testing.T, number int)
	Unlabel(t *testing.T, number int)
	Remove(t *testing.T, number int)
	// Break makes the tracker fail until mend is called.
	Break(t *testing.T) (mend func())
}

// Run runs the suite. setup makes an empty tracker and a source on it.
func Run(t *testing.T, setup func(t *testing.T) (Source, World)) {
	tests := map[string]func(*testing.T, Source, World){
		"ID is the key form":                    testID,
		"P1 an empty tracker lists nothing":     testEmpty,
		"P1 lists what is open and labelled":    testList,
		"P1 a failing tracker is an error":      testBroken,
		"P2 comments come in thread order":      testOrder,
		"P8 State finds what was closed":        testClosed,
		"P8 State finds what lost its label":    testUnlabelled,
		"P8 State proves what is gone":          testGone,
		"P8 another source's item is refused":   testForeign,
		"Post can be read back":                 testPost,
		"React is accepted":                     testReact,
		"a cancelled context cuts at once":      testCancelled,
		"P8 a failing tracker proves nothing":   testBrokenState,
		"P2 ids are those of the last reading":  testStable,
		"A5 words arrive as they were written":  testVerbatim,
		"P1 the listing's date lets no one out": testDate,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, w := setup(t)
			test(t, s, w)
		})
	}
}

// Ref returns the ref of an item of a source.
func Ref(t *testing.T, s Source, number int) workitem.Ref {
	t.Helper()
	ref, err := workitem.ParseRef(s.ID() + "#" + strconv.Itoa(number))
	if err != nil {
		t.Fatalf("the source's id does not make a ref: %v", err)
	}
	return ref
}

func testID(t *testing.T, s Source, _ World) {
	if s.ID() != strings.ToLower(s.ID()) || Ref(t, s, 1).Key() != s.ID()+"#1" {
		t.Errorf("ID %q is not the key form", s.ID())
	}
}

func testEmpty(t *testing.T, s Source, _ World) {
	if items := list(t, s); len(items) != 0 {
		t.Errorf("listed %v", items)
	}
}

func testList(t *testing.T, s Source, w World) {
	open := w.Add(t, "open and labelled", "octocat", true)
	w.Add(t, "no label", "octocat", false)
	closed := w.Add(t, "closed", "octocat", true)
	second := w.Add(t, "another", "hubot", true)
	w.Close(t, closed)
	items := list(t, s)
	if got, want := numbers(items), []int{open, second}; !slices.Equal(got, want) {
		t.Fatalf("listed %v, want %v", got, want)
	}
	it := items[0]
	if it.Title != "open and labelled" || it.Author.Login != "octocat" || it.State != workitem.Open ||
		!it.Labelled || it.Source != s.ID() || it.Kind != workitem.Issue || it.UpdatedAt.IsZero() {
		t.Errorf("item %+v", it)
	}
}

func testDate(t *testing.T, s Source, w World) {
	w.Add(t, "just made", "octocat", true)
	listing, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(listing.Items) != 1 || listing.Date.IsZero() || listing.Items[0].UpdatedAt.Before(listing.Date) {
		t.Errorf("an item changed just now would be remembered: %+v", listing)
	}
}

func testBroken(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	w.Say(t, number, "octocat", "hello", time.Now())
	it := list(t, s)[0]
	mend := w.Break(t)
	if listing, err := s.List(t.Context()); err == nil {
		t.Errorf("List: %+v instead of an error", listing)
	}
	if thread, err := s.Comments(t.Context(), it); err == nil {
		t.Errorf("Comments: %+v instead of an error", thread)
	}
	if id, err := s.Post(t.Context(), it.Ref, "hello"); err == nil {
		t.Errorf("Post: %q instead of an error", id)
	}
	mend()
	if thread := comments(t, s, it); len(thread) != 1 {
		t.Errorf("after mending: %d comments", len(thread))
	}
}

func testBrokenState(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	defer w.Break(t)()
	_, err := s.State(t.Context(), Ref(t, s, number))
	if err == nil || errors.Is(err, workitem.ErrGone) {
		t.Errorf("State: %v, want an error that proves nothing", err)
	}
}

func testOrder(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	at := time.Now().UTC().Add(-time.Hour).Truncate(time.Second)
	w.Say(t, number, "octocat", "second", at.Add(time.Minute))
	w.Say(t, number, "hubot", "third", at.Add(time.Hour/2))
	w.Say(t, number, "octocat", "first", at)
	thread := comments(t, s, list(t, s)[0])
	if got := bodies(thread); !slices.Equal(got, []string{"first", "second", "third"}) {
		t.Fatalf("order %q", got)
	}
	if c := thread[0]; c.Author.Login != "octocat" || !c.CreatedAt.Equal(at) || !workitem.ValidCommentID(c.ID) {
		t.Errorf("comment %+v, want one by octocat at %s", c, at)
	}
}

func testStable(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	at := time.Now().Add(-time.Hour)
	w.Say(t, number, "octocat", "same second", at)
	w.Say(t, number, "hubot", "same second", at)
	it := list(t, s)[0]
	first := comments(t, s, it)
	w.Say(t, number, "octocat", "later", at.Add(time.Minute))
	second := comments(t, s, it)
	if len(first) != 2 || len(second) != 3 || first[0].ID != second[0].ID || first[1].ID != second[1].ID {
		t.Errorf("ids changed: %+v, then %+v", first, second)
	}
}

func testVerbatim(t *testing.T, s Source, w World) {
	const text = "`--upload-pack=x`\n\n#{pane_id} $(touch /tmp/x) %s <b>\u202eevil\u202c</b> 🙂"
	number := w.Add(t, "an item", "octocat", true)
	w.Say(t, number, "octocat", text, time.Now())
	if got := comments(t, s, list(t, s)[0]); len(got) != 1 || got[0].Body != text {
		t.Errorf("got %+q, want %+q", bodies(got), text)
	}
}

func testClosed(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	w.Close(t, number)
	it, err := s.State(t.Context(), Ref(t, s, number))
	if err != nil || it.State != workitem.Closed || it.Ref.Number != number {
		t.Errorf("State: %+v, %v", it, err)
	}
}

func testUnlabelled(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	w.Unlabel(t, number)
	it, err := s.State(t.Context(), Ref(t, s, number))
	if err != nil || it.State != workitem.Open || it.Labelled {
		t.Errorf("State: %+v, %v", it, err)
	}
}

func testGone(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	w.Remove(t, number)
	if _, err := s.State(t.Context(), Ref(t, s, number)); !errors.Is(err, workitem.ErrGone) {
		t.Errorf("State: %v, want ErrGone", err)
	}
}

func testForeign(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	ref := Ref(t, s, number)
	ref.Repo += "-other"
	if _, err := s.State(t.Context(), ref); err == nil || errors.Is(err, workitem.ErrGone) {
		t.Errorf("State of %s: %v", ref, err)
	}
	if _, err := s.Post(t.Context(), ref, "hello"); err == nil {
		t.Errorf("Post on %s was accepted", ref)
	}
	if _, err := s.Comments(t.Context(), workitem.Item{Ref: ref}); err == nil {
		t.Errorf("Comments of %s were accepted", ref)
	}
}

func testPost(t *testing.T, s Source, w World) {
	w.Add(t, "an item", "octocat", true)
	it := list(t, s)[0]
	var ids []string
	for _, body := range []string{"one\n\n<!-- mark -->", "two"} {
		id, err := s.Post(t.Context(), it.Ref, body)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	self, err := s.Self(t.Context())
	if err != nil || self.Nobody() {
		t.Fatalf("Self: %+v, %v", self, err)
	}
	thread := comments(t, s, it)
	if len(thread) != 2 || thread[0].ID != ids[0] || thread[1].ID != ids[1] || thread[0].Body != "one\n\n<!-- mark -->" {
		t.Fatalf("posted %q, read back %+v", ids, thread)
	}
	if thread[0].Author.Login != self.Login {
		t.Errorf("posted as %q, not as %q", thread[0].Author.Login, self.Login)
	}
}

func testReact(t *testing.T, s Source, w World) {
	number := w.Add(t, "an item", "octocat", true)
	w.Say(t, number, "octocat", "hello", time.Now())
	it := list(t, s)[0]
	for range 2 {
		if err := s.React(t.Context(), it.Ref, comments(t, s, it)[0], "eyes"); err != nil {
			t.Error(err)
		}
	}
}

func testCancelled(t *testing.T, s Source, w World) {
	w.Add(t, "an item", "octocat", true)
	it := list(t, s)[0]
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, listed := s.List(ctx)
	_, read := s.Comments(ctx, it)
	_, asked := s.State(ctx, it.Ref)
	_, posted := s.Post(ctx, it.Ref, "hello")
	for name, err := range map[string]error{"List": listed, "Comments": read, "State": asked, "Post": posted} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the context's error", name, err)
		}
	}
}

func list(t *testing.T, s Source) []workitem.Item {
	t.Helper()
	listing, err := s.List(t.Context())
	if err != nil || len(listing.Bad) != 0 {
		t.Fatalf("List: %v, bad %v", err, listing.Bad)
	}
	return listing.Items
}

func comments(t *testing.T, s Source, it workitem.Item) []workitem.Comment {
	t.Helper()
	thread, err := s.Comments(t.Context(), it)
	if err != nil {
		t.Fatalf("Comments: %v", err)
	}
	return thread
}

func numbers(items []workitem.Item) []int {
	var out []int
	for _, it := range items {
		out = append(out, it.Ref.Number)
	}
	return out
}

func bodies(thread []workitem.Comment) []string {
	var out []string
	for _, c := range thread {
		out = append(out, c.Body)
	}
	return out
}

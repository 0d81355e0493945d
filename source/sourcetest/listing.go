package sourcetest

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/workitem"
)

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

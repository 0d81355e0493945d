package sourcetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"theloop/workitem"
)

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
	_, linked := s.Links(ctx, it)
	_, closing := s.Closing(ctx, []workitem.Ref{it.Ref})
	for name, err := range map[string]error{
		"List": listed, "Comments": read, "State": asked, "Post": posted, "Links": linked, "Closing": closing,
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v, want the context's error", name, err)
		}
	}
}

package sourcetest

import (
	"errors"
	"testing"

	"theloop/workitem"
)

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
	if _, err := s.Links(t.Context(), workitem.Item{Ref: ref}); err == nil {
		t.Errorf("Links of %s were accepted", ref)
	}
}

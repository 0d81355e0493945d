package github

import (
	"errors"
	"strings"
	"testing"
	"time"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

// P8: when an item is gone, and when it only looks so.
func TestGone(t *testing.T) {
	tests := []struct {
		name string
		do   func(w world)
		gone bool
		says string
	}{
		{"deleted", func(w world) { w.DeleteIssue(octo, 1) }, true, "410"},
		{"never there", func(w world) {
			w.Inject(githubtest.Fault{On: "GET /repos/octo/repo/issues/1", Instead: githubtest.Status(404, "Not Found")})
		}, true, "404"},
		{"transferred", func(w world) { w.TransferIssue(octo, 1, "octo/other") }, true, "octo/other"},
		{"transferred out of sight", func(w world) { w.TransferIssue(octo, 1, "octo/other"); w.HideRepo("octo/other", true) }, true, "404"},
		{"repository out of sight", func(w world) { w.HideRepo(octo, true) }, false, "not in sight"},
		{"repository renamed", func(w world) { w.RenameRepo(octo, "octo/new") }, false, "octo/new"},
		{"issues switched off", func(w world) { w.SwitchIssuesOff(octo) }, false, "switched off"},
		{"token revoked", func(w world) { w.Inject(githubtest.Fault{Instead: githubtest.Status(401, "Bad credentials")}) }, false, "401"},
		{"server down", func(w world) { w.Inject(githubtest.Fault{Instead: githubtest.HTML(503)}) }, false, "503"},
		{"limited while it is proved", func(w world) {
			w.DeleteIssue(octo, 1)
			w.Inject(githubtest.Fault{Nth: 2, Instead: githubtest.RateLimited(429, "", "Retry-After", "60")})
		}, false, "limits requests"},
		{"server down while it is proved", func(w world) {
			w.DeleteIssue(octo, 1)
			w.Inject(githubtest.Fault{Nth: 2, Instead: githubtest.HTML(502)})
		}, false, "502"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, githubtest.Options{})
			w.AddRepo("octo/other")
			w.Add(t, "an item", "octocat", true)
			s := w.source(t)
			tt.do(w)
			it, err := s.State(t.Context(), s.ref(1))
			if err == nil || errors.Is(err, workitem.ErrGone) != tt.gone || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("State: %+v, %v; want gone %t and %q", it, err, tt.gone, tt.says)
			}
		})
	}
}

// P8: the tracker's time of closing; and a pull request is asked for like an
// issue.
func TestClosedAt(t *testing.T) {
	at := &clock{at: time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)}
	w := newWorld(t, githubtest.Options{Now: at.now})
	w.AddIssue(octo, githubtest.Issue{Title: "a pull request", Author: "octocat", Labels: []string{label}, Pull: true})
	at.turn(time.Minute)
	w.CloseIssue(octo, 1)
	s := w.source(t)
	it, err := s.State(t.Context(), s.ref(1))
	if err != nil || it.State != workitem.Closed || it.Kind != workitem.PullRequest || !it.ClosedAt.Equal(at.now()) || !it.Labelled {
		t.Errorf("%+v, %v", it, err)
	}
	undo := w.Inject(githubtest.Fault{Mangle: githubtest.Change(`"number":1,`, `"number":2,`)})
	if it, err := s.State(t.Context(), s.ref(1)); err == nil {
		t.Errorf("asked for item 1, got %+v", it)
	}
	undo()
	w.ReopenIssue(octo, 1)
	if it, err := s.State(t.Context(), s.ref(1)); err != nil || it.State != workitem.Open || !it.ClosedAt.IsZero() {
		t.Errorf("%+v, %v", it, err)
	}
}

// A renamed repository is said to be one, rather than watched under its old
// name.
func TestRenamedRepository(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "an item", "octocat", true)
	w.RenameRepo(octo, "octo/new")
	s := w.source(t)
	for what, ask := range map[string]func() error{
		"List":    func() error { _, err := s.List(t.Context()); return err },
		"State":   func() error { _, err := s.State(t.Context(), s.ref(1)); return err },
		"Closing": func() error { _, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); return err },
	} {
		var moved *workitem.MovedError
		if err := ask(); !errors.As(err, &moved) || *moved != (workitem.MovedError{From: "octo/repo", To: "octo/new"}) ||
			!strings.Contains(err.Error(), "write the new name into the configuration") {
			t.Errorf("%s: %v", what, err)
		}
	}
	w.AddRepo("octo/other")
	w.TransferIssue("octo/new", 1, "octo/other")
	var moved *workitem.MovedError
	if _, err := w.source(t).State(t.Context(), s.ref(1)); errors.As(err, &moved) && moved.To != "octo/new" {
		t.Errorf("an item that was transferred is taken for its repository: %v", err)
	}
}

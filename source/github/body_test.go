package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

// answers are the ways in which a server can say less than it should.
func answers() map[string]githubtest.Fault {
	instead := func(h http.HandlerFunc) githubtest.Fault { return githubtest.Fault{Instead: h} }
	return map[string]githubtest.Fault{
		"500":             instead(githubtest.Status(http.StatusInternalServerError, "Server Error")),
		"502 as HTML":     instead(githubtest.HTML(http.StatusBadGateway)),
		"200 as HTML":     instead(githubtest.HTML(http.StatusOK)),
		"401":             instead(githubtest.Status(http.StatusUnauthorized, "Bad credentials")),
		"403":             instead(githubtest.Status(http.StatusForbidden, "Resource not accessible by personal access token")),
		"451":             instead(githubtest.Status(http.StatusUnavailableForLegalReasons, "Repository access blocked")),
		"304":             instead(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }),
		"202":             instead(githubtest.Text(http.StatusAccepted, "application/json", "{}")),
		"204":             instead(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }),
		"null":            instead(githubtest.JSON("null")),
		"text":            instead(githubtest.JSON(`"hello"`)),
		"number":          instead(githubtest.JSON("7")),
		"nothing":         instead(githubtest.JSON("")),
		"list of null":    instead(githubtest.JSON("[null]")),
		"list of lists":   instead(githubtest.JSON("[[]]")),
		"list of numbers": instead(githubtest.JSON("[1]")),
		"two values":      instead(githubtest.JSON("[][]")),
		"text type":       instead(githubtest.Text(http.StatusOK, "text/plain", "[]")),
		"no type": instead(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Content-Type"] = nil
			_, _ = w.Write([]byte("[]"))
		}),
		"cut":               {Mangle: githubtest.Cut},
		"cut compression":   {Mangle: githubtest.CutGzip},
		"too short a count": {Mangle: shorter},
		"closed at once":    instead(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }),
	}
}

func shorter(w http.ResponseWriter, r *http.Request, real githubtest.Answer) {
	githubtest.Length(len(real.Body)-1)(w, r, real)
}

// P1, P10: whatever comes instead of the answer, on whichever page or surface,
// is an error: never a shorter list, never a gone item, never a panic.
func TestNothingLessIsAccepted(t *testing.T) {
	w := newWorld(t, githubtest.Options{MaxPerPage: 2})
	for range 5 {
		w.AddIssue(octo, githubtest.Issue{Title: "a pull request", Author: "octocat", Labels: []string{label}, Pull: true})
	}
	for range 3 {
		w.Say(t, 1, "octocat", "hello", time.Now())
		w.AddReview(octo, 1, githubtest.Comment{Author: "octocat", Body: "words"})
		w.AddInline(octo, 1, githubtest.Comment{Author: "octocat", Body: "words", Path: "a.go", Line: 1})
	}
	s := w.source(t)
	it := listed(t, s).Items[0]
	ask := map[string]func() error{
		"GET /repos/octo/repo/issues":            func() error { _, err := s.List(t.Context()); return err },
		"GET /repos/octo/repo/issues/1/comments": func() error { _, err := s.Comments(t.Context(), it); return err },
		"GET /repos/octo/repo/pulls/1/reviews":   func() error { _, err := s.Comments(t.Context(), it); return err },
		"GET /repos/octo/repo/pulls/1/comments":  func() error { _, err := s.Comments(t.Context(), it); return err },
		"GET /repos/octo/repo/issues/1":          func() error { _, err := s.State(t.Context(), it.Ref); return err },
		"POST /repos/octo/repo/issues/1/comm":    func() error { _, err := s.Post(t.Context(), it.Ref, "hello"); return err },
		"POST /repos/octo/repo/issues/1/reac": func() error {
			return s.React(t.Context(), it.Ref, workitem.Comment{}, "eyes")
		},
	}
	for name, fault := range answers() {
		for on, f := range ask {
			pages := 1
			if strings.HasPrefix(on, "GET") && on != "GET /repos/octo/repo/issues/1" {
				pages = 2
			}
			for nth := 1; nth <= pages; nth++ {
				fault.On, fault.Nth = on, nth
				if name == "closed at once" {
					// Go asks again by itself when a connection that it kept is closed.
					fault.Nth = 0
				}
				undo := w.Inject(fault)
				err := f()
				if err == nil || errors.Is(err, workitem.ErrGone) || errors.Is(err, context.Canceled) {
					t.Errorf("%s instead of answer %d to %s: %v", name, nth, on, err)
				}
				if err != nil && !strings.Contains(err.Error(), "octo/repo") {
					t.Errorf("%s: the error does not say of what: %v", name, err)
				}
				undo()
			}
		}
	}
	if err := ask["GET /repos/octo/repo/issues"](); err != nil {
		t.Errorf("after all that: %v", err)
	}
}

// P10: what is more than 16 MiB once it is unpacked is refused, however small
// it came.
func TestTooLarge(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Inject(githubtest.Fault{Instead: githubtest.Endless(maxBody + 1)})
	if _, err := w.source(t).List(t.Context()); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("error %v", err)
	}
}

// An empty object is no list, and a list no item.
func TestWrongShape(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	s := w.source(t)
	undo := w.Inject(githubtest.Fault{Instead: githubtest.JSON("{}")})
	for name, err := range each(t.Context(), s) {
		if err == nil && name != "React" {
			t.Errorf("%s accepted {}", name)
		}
	}
	undo()
	defer w.Inject(githubtest.Fault{Instead: githubtest.JSON("[]")})()
	for name, err := range each(t.Context(), s) {
		if err == nil && name != "List" && name != "Comments" {
			t.Errorf("%s accepted []", name)
		}
	}
}

// P10: an answer that makes no progress is given up, at its head, in its body,
// and when it drips for ever.
func TestStalled(t *testing.T) {
	tests := map[string]http.HandlerFunc{
		"no head": githubtest.Hang,
		"no body": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte("["))
			w.(http.Flusher).Flush()
			githubtest.Hang(w, r)
		},
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, githubtest.Options{})
			c := w.client(t, Options{})
			c.transport.stall = 50 * time.Millisecond
			w.Inject(githubtest.Fault{Instead: fault})
			if _, err := repo(t, c).List(t.Context()); !errors.Is(err, errStalled) {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("drip", func(t *testing.T) {
		w := newWorld(t, githubtest.Options{})
		c := w.client(t, Options{})
		c.transport.stall, c.transport.within = time.Minute, 100*time.Millisecond
		w.Inject(githubtest.Fault{Instead: githubtest.Drip(time.Millisecond)})
		if _, err := repo(t, c).List(t.Context()); !errors.Is(err, errEndless) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("slow but steady is fine", func(t *testing.T) {
		w := newWorld(t, githubtest.Options{})
		c := w.client(t, Options{})
		c.transport.stall = time.Second
		w.Inject(githubtest.Fault{Instead: func(rw http.ResponseWriter, _ *http.Request) {
			rw.Header().Set("Content-Type", "application/json")
			tick := time.NewTicker(100 * time.Millisecond)
			defer tick.Stop()
			for range 15 {
				<-tick.C
				_, _ = rw.Write([]byte(" "))
				rw.(http.Flusher).Flush()
			}
			_, _ = rw.Write([]byte("[]"))
		}})
		if _, err := repo(t, c).List(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// A stop cuts a request that is under way, and is told from a failure.
func TestCancelUnderWay(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	s := w.source(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.Inject(githubtest.Fault{Instead: func(w http.ResponseWriter, r *http.Request) {
		cancel()
		githubtest.Hang(w, r)
	}})
	if _, err := s.List(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// What is said of a status names the host, the status and what to do.
func TestStatusErrors(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	s := w.source(t)
	host := strings.TrimPrefix(w.URL(), "http://")
	for status, hint := range map[int]string{
		401: "token from GH_TOKEN", 403: "write access to issues", 404: "may not see it", 451: "legal", 500: "",
	} {
		undo := w.Inject(githubtest.Fault{Instead: githubtest.Status(status, "so it says")})
		_, err := s.List(t.Context())
		want := fmt.Sprintf("list octo/repo issues: %s answered %d (\"so it says\")", host, status)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !strings.Contains(err.Error(), hint) {
			t.Errorf("error %v, want %q and %q", err, want, hint)
		}
		undo()
	}
}

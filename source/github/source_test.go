package github

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

func TestKinds(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "an issue", "octocat", true)
	w.AddIssue(octo, githubtest.Issue{Title: "a pull request", Author: "hubot", Labels: []string{label}, Pull: true})
	c := w.client(t, Options{})
	tests := []struct {
		issues, pulls bool
		want          []int
	}{{true, true, []int{1, 2}}, {true, false, []int{1}}, {false, true, []int{2}}}
	for _, tt := range tests {
		s, err := c.Repo(RepoOptions{Owner: "Octo", Repo: "Repo", Label: strings.ToUpper(label), Issues: tt.issues, PullRequests: tt.pulls})
		if err != nil {
			t.Fatal(err)
		}
		listing := listed(t, s)
		if got := refNumbers(listing.Items); !slices.Equal(got, tt.want) {
			t.Errorf("issues %t, pull requests %t: %v", tt.issues, tt.pulls, got)
		}
		if last := listing.Items[len(listing.Items)-1]; tt.pulls && (last.Kind != workitem.PullRequest || last.URL != "https://github.com/octo/repo/pull/2") {
			t.Errorf("pull request %+v", last)
		}
		if s.ID() != "github:octo/repo" || listing.Items[0].Ref.Owner != "Octo" {
			t.Errorf("id %s, ref %s", s.ID(), listing.Items[0].Ref)
		}
	}
}

// P1: a server that ignores the question does not decide what is worked on.
func TestServerIgnoresTheQuery(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "mine", "octocat", true)
	w.Add(t, "no label", "octocat", false)
	closed := w.Add(t, "closed", "octocat", true)
	w.CloseIssue(octo, closed)
	s := w.source(t)
	c := w.client(t, Options{})
	all, err := c.readList(t.Context(), s.path("issues"), map[string][]string{"state": {"all"}})
	if err != nil || len(all.elements) != 3 {
		t.Fatalf("%d items, %v", len(all.elements), err)
	}
	var text []string
	for _, e := range all.elements {
		text = append(text, string(e.raw))
	}
	w.Inject(githubtest.Fault{Instead: githubtest.JSON("[" + strings.Join(text, ",") + "]")})
	if got := refNumbers(listed(t, s).Items); !slices.Equal(got, []int{1}) {
		t.Errorf("listed %v", got)
	}
}

// P5: one item of the wrong shape fails alone; what has no name fails the list.
func TestBadItemFailsAlone(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	for range 3 {
		w.Add(t, "an item", "octocat", true)
	}
	s := w.source(t)
	bad := func(edit func(map[string]any)) (workitem.Listing, error) {
		undo := w.Inject(githubtest.Fault{Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
			var items []map[string]any
			if err := json.Unmarshal(real.Body, &items); err != nil {
				t.Error(err)
			}
			edit(items[1])
			text, err := json.Marshal(items)
			if err != nil {
				t.Error(err)
			}
			githubtest.JSON(string(text))(rw, r)
		}})
		defer undo()
		return s.List(t.Context())
	}
	alone := map[string]func(map[string]any){
		"title is a number": func(m map[string]any) { m["title"] = 7 },
		"state unknown":     func(m map[string]any) { m["state"] = "merged" },
		"state missing":     func(m map[string]any) { delete(m, "state") },
		"labels are text":   func(m map[string]any) { m["labels"] = "bug" },
		"time is text":      func(m map[string]any) { m["updated_at"] = "yesterday" },
		"time is null":      func(m map[string]any) { m["updated_at"] = nil },
		"user is a list":    func(m map[string]any) { m["user"] = []int{} },
	}
	for name, edit := range alone {
		listing, err := bad(edit)
		if err != nil || !slices.Equal(refNumbers(listing.Items), []int{1, 3}) || len(listing.Bad) != 1 || listing.Bad[0].Ref.String() != "github:octo/repo#2" {
			t.Errorf("%s: %+v, %v", name, listing, err)
		}
	}
	whole := map[string]func(map[string]any){
		"no number":       func(m map[string]any) { delete(m, "number") },
		"number is text":  func(m map[string]any) { m["number"] = "2" },
		"number negative": func(m map[string]any) { m["number"] = -2 },
		"another's": func(m map[string]any) {
			m["repository_url"] = "https://api.github.com/repos/octo/other"
		},
	}
	for name, edit := range whole {
		if listing, err := bad(edit); err == nil {
			t.Errorf("%s: %+v", name, listing)
		}
	}
}

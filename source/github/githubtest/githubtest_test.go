package githubtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ask sends one request as a well-behaved client would.
func ask(t *testing.T, s *Server, method, path, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	address := s.URL() + path
	if path == queryPath {
		address = strings.TrimSuffix(s.URL(), "/v3") + path
	}
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+s.Token())
	req.Header.Set("User-Agent", "a-test")
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(text)
}

func start(t *testing.T, o Options) *Server {
	t.Helper()
	s := Start(o)
	t.Cleanup(s.Close)
	s.AddRepo("octo/repo")
	s.AddIssue("octo/repo", Issue{Title: "one", Author: "octocat", Labels: []string{"Bug"}})
	return s
}

// A client that asks for what GitHub does not have is told so.
func TestViolations(t *testing.T) {
	tests := []struct{ name, method, path, body, header, value, want string }{
		{"an endpoint that is not", "GET", "/repos/octo/repo/isues", "", "", "", "no such endpoint"},
		{"a method that is not", "PATCH", "/repos/octo/repo/issues", "", "", "", "no such endpoint"},
		{"a parameter that is not", "GET", "/repos/octo/repo/issues?label=bug", "", "", "", `no parameter "label"`},
		{"a value that is not", "GET", "/repos/octo/repo/issues?state=opened", "", "", "", "request:"},
		{"a page that is no number", "GET", "/repos/octo/repo/issues?page=x", "", "", "", "request:"},
		{"a number that is none", "GET", "/repos/octo/repo/issues/x", "", "", "", "request:"},
		{"a body without its field", "POST", "/repos/octo/repo/issues/1/comments", "{}", "", "", "request:"},
		{"a body of the wrong type", "POST", "/repos/octo/repo/issues/1/comments", `{"body":7}`, "", "", "request:"},
		{"a reaction that is not", "POST", "/repos/octo/repo/issues/1/reactions", `{"content":"shrug"}`, "", "", "request:"},
		{"no name of one's own", "GET", "/user", "", "User-Agent", "Go-http-client/1.1", "User-Agent"},
		{"none", "GET", "/repos/octo/repo/issues?labels=bug&per_page=1&page=2", "", "", "", ""},
		{"none in a post", "POST", "/repos/octo/repo/issues/1/comments", `{"body":"hello"}`, "", "", ""},
		{"none in what is not there", "GET", "/repos/octo/repo/issues/9", "", "", "", ""},
		{"none in the limit", "GET", "/rate_limit", "", "", "", ""},
		{"none in a pull request that is an issue", "GET", "/repos/octo/repo/pulls/1", "", "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := start(t, Options{})
			headers := []string{tt.header, tt.value}
			if tt.header == "" {
				headers = nil
			}
			ask(t, s, tt.method, tt.path, tt.body, headers...)
			got := strings.Join(s.Violations(), "\n")
			if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
				t.Errorf("violations %q, want %q", got, tt.want)
			}
		})
	}
}

// An answer of the server's own that does not fit is one, too.
func TestOwnViolation(t *testing.T) {
	s := start(t, Options{})
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/repos/octo/repo/issues/1", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("User-Agent", "a-test")
	s.mu.Lock()
	in := s.asked(r, r.URL.Path, nil)
	issue := s.issue(s.mustRepo("octo/repo"), s.mustIssue("octo/repo", 1))
	s.answered(r, in, s.ok(issue))
	delete(issue, "title")
	s.answered(r, in, s.ok(issue))
	s.mu.Unlock()
	if got := s.Violations(); len(got) != 1 || !strings.Contains(got[0], "title") {
		t.Errorf("violations %q", got)
	}
}

func TestPagesLeadToTheNumber(t *testing.T) {
	s := start(t, Options{MaxPerPage: 1, Path: "/api/v3"})
	s.AddIssue("octo/repo", Issue{Title: "two", Author: "octocat", Labels: []string{"bug"}})
	_, h, text := ask(t, s, "GET", "/repos/octo/repo/issues?labels=BUG&direction=asc", "")
	link := h.Get("Link")
	if !strings.Contains(text, `"title":"one"`) || !strings.Contains(link, "/api/v3/repositories/") || !strings.Contains(link, `rel="next"`) {
		t.Fatalf("link %q, %s", link, text)
	}
	next := strings.TrimPrefix(strings.Split(strings.TrimPrefix(link, "<"), ">")[0], s.URL())
	if _, h, text = ask(t, s, "GET", next, ""); !strings.Contains(text, `"title":"two"`) || strings.Contains(h.Get("Link"), "next") {
		t.Errorf("link %q, %s", h.Get("Link"), text)
	}
	if got := s.Violations(); len(got) != 0 {
		t.Errorf("violations %q", got)
	}
}

func TestStatuses(t *testing.T) {
	now := time.Date(2026, 7, 31, 9, 0, 0, 999, time.UTC)
	s := start(t, Options{Now: func() time.Time { return now }})
	s.AddRepo("octo/hidden")
	s.HideRepo("octo/hidden", true)
	status, h, _ := ask(t, s, "GET", "/repos/octo/repo/issues/1", "")
	if status != 200 || h.Get("Date") != "Fri, 31 Jul 2026 09:00:00 GMT" {
		t.Errorf("%d at %s", status, h.Get("Date"))
	}
	if again, _, _ := ask(t, s, "GET", "/repos/octo/repo/issues/1", "", "If-None-Match", h.Get("ETag")); again != 304 {
		t.Errorf("unchanged: %d", again)
	}
	for path, want := range map[string]int{"/repos/octo/hidden": 404, "/repos/octo/none": 404, "/repos/octo/repo/pulls/1/reviews": 404} {
		if got, _, _ := ask(t, s, "GET", path, ""); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if got, _, _ := ask(t, s, "GET", "/user", "", "Authorization", "Bearer x"); got != 401 {
		t.Errorf("a wrong token: %d", got)
	}
	if got := s.Violations(); len(got) != 0 {
		t.Errorf("violations %q", got)
	}
}

// golden is a file of testdata/github/graphql.
func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../../testdata/github/graphql/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compacted(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	sorted, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return string(sorted)
}

// The answers to queries are those that were written down, whole.
func TestGoldenAnswers(t *testing.T) {
	now := time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)
	for _, path := range []string{"", "/api/v3"} {
		s := Start(Options{Now: func() time.Time { return now }, Path: path})
		t.Cleanup(s.Close)
		s.AddRepo("octo/repo")
		s.AddRepo("octo/other")
		s.AddIssue("octo/other", Issue{Title: "elsewhere", Author: "octocat"})
		s.AddIssue("octo/repo", Issue{Title: "an issue", Author: "octocat"})
		s.AddIssue("octo/repo", Issue{Title: "another", Author: "octocat"})
		s.AddPullRequest("octo/repo", PullRequest{
			Title: "mend it", Body: "Closes #1, closes octo/other#1", Author: "hubot", Labels: []string{"bug"},
			Branch: "issue-1", Closes: []string{"octo/repo#1", "octo/other#1"},
		})
		s.AddComment("octo/repo", 3, Comment{Author: "octocat", Body: "well"})
		s.AddPullRequest("octo/repo", PullRequest{Title: "bump", Author: "dependabot[bot]", Branch: "bump", Base: "next", Closes: []string{"octo/repo#2"}})
		s.AddPullRequest("octo/repo", PullRequest{Title: "mine", Author: "", Branch: "issue-2", Fork: "stranger"})
		s.CloseIssue("octo/repo", s.AddPullRequest("octo/repo", PullRequest{Title: "done", Author: "hubot"}))
		for _, name := range []string{"links", "closing"} {
			status, h, got := ask(t, s, "POST", "/graphql", golden(t, name+".request.json"))
			if want := golden(t, name+".answer.json"); status != 200 || compacted(t, got) != compacted(t, want) {
				t.Errorf("%s: %d %s", name, status, cmp.Diff(compacted(t, want), compacted(t, got)))
			}
			if h.Get("X-RateLimit-Resource") != "graphql" {
				t.Errorf("%s: counted against %q", name, h.Get("X-RateLimit-Resource"))
			}
		}
		if got := s.Violations(); len(got) != 0 {
			t.Errorf("violations %q", got)
		}
		if got := s.Requests(); !slices.Equal(got, []string{"POST /graphql", "POST /graphql"}) {
			t.Errorf("requests %q", got)
		}
	}
}

// What was not written down is not answered.
func TestOtherQueriesAreViolations(t *testing.T) {
	links := golden(t, "links.request.json")
	tests := map[string]string{
		"another query":      `{"query":"{ viewer { login } }","variables":{}}`,
		"one field more":     strings.Replace(links, "headRefName", "headRefName title", 1),
		"no variables":       strings.Replace(links, "variables", "other", 1),
		"one variable less":  strings.Replace(links, `"number": 3,`, "", 1),
		"one variable more":  strings.Replace(links, `"number": 3,`, `"number": 3, "first": 1,`, 1),
		"one of another":     strings.Replace(golden(t, "closing.request.json"), `"name": "repo",`, `"name": "repo", "number": 3,`, 1),
		"of the wrong type":  strings.Replace(links, `"number": 3`, `"number": "3"`, 1),
		"not JSON":           "query",
		"two values":         links + links,
		"an empty one":       strings.Replace(links, `"octo"`, `""`, 1),
		"nothing whatsoever": "{}",
	}
	for name, body := range tests {
		s := start(t, Options{})
		_, _, got := ask(t, s, "POST", "/graphql", body)
		if len(s.Violations()) != 1 || !strings.Contains(got, `"errors"`) {
			t.Errorf("%s: violations %q, answer %s", name, s.Violations(), got)
		}
	}
	s := start(t, Options{})
	if status, _, _ := ask(t, s, "GET", "/graphql", ""); status != 404 || len(s.Violations()) != 1 {
		t.Errorf("a query that is not posted: %d, %q", status, s.Violations())
	}
}

// P1: what goes from the list meanwhile does not shift it.
func TestCursors(t *testing.T) {
	s := start(t, Options{MaxPerPage: 2})
	for range 4 {
		s.AddPullRequest("octo/repo", PullRequest{Title: "a pull request", Author: "hubot"})
	}
	numbers := func(after string) (got []int, next string) {
		body := strings.Replace(golden(t, "closing.request.json"), `"owner"`, after+`"owner"`, 1)
		_, _, text := ask(t, s, "POST", "/graphql", body)
		var a struct {
			Data struct {
				Repository struct {
					PullRequests struct {
						Nodes    []struct{ Number int }
						PageInfo struct{ EndCursor string }
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(text), &a); err != nil {
			t.Fatal(err)
		}
		for _, n := range a.Data.Repository.PullRequests.Nodes {
			got = append(got, n.Number)
		}
		return got, a.Data.Repository.PullRequests.PageInfo.EndCursor
	}
	first, next := numbers("")
	s.CloseIssue("octo/repo", 2)
	second, _ := numbers(fmt.Sprintf(`"after": %q, `, next))
	if !slices.Equal(first, []int{2, 3}) || !slices.Equal(second, []int{4, 5}) {
		t.Errorf("%v, then %v", first, second)
	}
	if got := s.Violations(); len(got) != 0 {
		t.Errorf("violations %q", got)
	}
}

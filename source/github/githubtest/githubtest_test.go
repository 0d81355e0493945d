package githubtest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// ask sends one request as a well-behaved client would.
func ask(t *testing.T, s *Server, method, path, body string, headers ...string) (int, http.Header, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL()+path, strings.NewReader(body))
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

package github

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

// golden is a file of testdata/github/graphql.
func golden(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../../testdata/github/graphql/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// What is sent is what was written down, and what was written down as an answer
// is understood (P1, P3).
func TestGoldenQueries(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	s := w.source(t)
	at := time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)
	item := workitem.Item{
		Ref: s.ref(3), Kind: workitem.PullRequest, URL: "https://github.com/octo/repo/pull/3", Title: "mend it",
		Body: "Closes #1, closes octo/other#1", Author: workitem.Author{Login: "hubot", ID: 1009}, Labels: []string{"bug"},
		State: workitem.Open, Source: "github:octo/repo", CommentCount: 1, CreatedAt: at, UpdatedAt: at,
	}
	elsewhere := s.ref(1)
	elsewhere.Repo = "other"
	links := workitem.Links{Closes: []workitem.Ref{s.ref(1), elsewhere}, Named: s.ref(1), Branch: "issue-1"}
	ask := map[string]struct {
		ask  func() (any, error)
		want any
	}{
		"links": {func() (any, error) { return s.Links(t.Context(), item) }, links},
		"closing": {
			func() (any, error) { return s.Closing(t.Context(), []workitem.Ref{s.ref(1)}) },
			[]workitem.Linked{{Item: item, Links: links}},
		},
	}
	for name, tt := range ask {
		var sent []byte
		undo := w.Inject(githubtest.Fault{Instead: func(rw http.ResponseWriter, r *http.Request) {
			sent, _ = io.ReadAll(r.Body)
			if r.Method != http.MethodPost || r.URL.Path != "/graphql" || r.Header.Get("Content-Type") != "application/json" {
				t.Errorf("%s: %s %s of the type %q", name, r.Method, r.URL, r.Header.Get("Content-Type"))
			}
			githubtest.JSON(golden(t, name+".answer.json"))(rw, r)
		}})
		got, err := tt.ask()
		undo()
		if diff := cmp.Diff(tt.want, got); err != nil || diff != "" {
			t.Errorf("%s: %v %s", name, err, diff)
		}
		if diff := cmp.Diff(decoded(t, golden(t, name+".request.json")), decoded(t, string(sent))); diff != "" {
			t.Errorf("%s was not sent as it was written down: %s", name, diff)
		}
	}
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// P6, P9: queries go to the origin of the base URL, beside or below it.
func TestGraphQLAddress(t *testing.T) {
	for in, want := range map[string]string{
		"https://api.github.com":              "https://api.github.com/graphql",
		"https://api.github.com/":             "https://api.github.com/graphql",
		"https://ghe.corp.example/api/v3":     "https://ghe.corp.example/api/graphql",
		"https://ghe.corp.example:8443/x/v3/": "https://ghe.corp.example:8443/x/graphql",
		"https://v3.example/api":              "https://v3.example/api/graphql",
		"http://127.0.0.1:8080":               "http://127.0.0.1:8080/graphql",
		"http://[::1]:8080/api/v3":            "http://[::1]:8080/api/graphql",
		"https://x/v3":                        "https://x/graphql",
	} {
		base, err := parseBase(in)
		if err != nil {
			t.Fatal(err)
		}
		if u := graphQL(base); u.String() != want || !sameOrigin(base, u) {
			t.Errorf("%s: %s, want %s", in, u, want)
		}
		if again := base.String(); again == graphQL(base).String() {
			t.Errorf("%s: the base itself became %s", in, again)
		}
	}
	for host, want := range map[string]string{"": "https://api.github.com/graphql", "ghe.corp.example": "https://ghe.corp.example/api/graphql"} {
		base, err := url.Parse(defaultBase(host) + "/")
		if err != nil || graphQL(base).String() != want {
			t.Errorf("%q: %v, %v", host, graphQL(base), err)
		}
	}
}

// P9: a query is posted once, to the origin alone; whoever redirects it is not
// followed, and REST is asked instead.
func TestQueriesAreNotLedAway(t *testing.T) {
	address, hits := elsewhere(t)
	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "x", Body: "closes #1"})
	for _, to := range []string{address + "/graphql", "//" + strings.TrimPrefix(address, "http://"), w.URL() + "/repos/octo/repo/issues/1/comments", "/graphql?x"} {
		for _, status := range []int{301, 302, 303, 307, 308} {
			undo := w.Inject(githubtest.Fault{On: "POST /graphql", Nth: 1, Instead: githubtest.Redirect(status, to)})
			links, err := w.links(t, s, number)
			if err != nil || described(links) != "octo/repo#1, branch x" || len(w.Requests()) != 2 {
				t.Errorf("%d to %s: %q, %v, requests %v", status, to, described(links), err, w.Requests())
			}
			undo()
			undo = w.Inject(githubtest.Fault{On: "POST /graphql", Nth: 1, Instead: githubtest.Redirect(status, to)})
			if found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); err == nil || !strings.Contains(err.Error(), "redirects a POST") {
				t.Errorf("%d to %s: %+v, %v", status, to, found, err)
			}
			undo()
		}
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached another server", n)
	}
	if got := w.Comments(octo, 1); len(got) != 0 {
		t.Errorf("comments %+v", got)
	}
}

// P10: an answer to a query is bounded as any other.
func TestQueriesAreBounded(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	c := w.client(t, Options{})
	s := repo(t, c)
	undo := w.Inject(githubtest.Fault{On: "POST /graphql", Mangle: githubtest.Length(maxBody + 1)})
	if _, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); err == nil || !strings.Contains(err.Error(), "larger than 16 MiB") {
		t.Errorf("error %v", err)
	}
	undo()
	c.transport.stall = 50 * time.Millisecond
	w.Inject(githubtest.Fault{On: "POST /graphql", Instead: githubtest.Hang})
	if _, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); !errors.Is(err, errStalled) {
		t.Errorf("error %v", err)
	}
}

// P7: the budget for queries is one of its own. While it is used up no query is
// sent, and everything else goes on; nothing that says so looks like a limit of
// the whole server.
func TestQueryBudget(t *testing.T) {
	ours := time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)
	reset := strconv.FormatInt(ours.Add(20*time.Minute).Unix(), 10)
	head := func(more ...string) []string {
		return append([]string{"Date", ours.Format(http.TimeFormat), "X-RateLimit-Reset", reset}, more...)
	}
	tests := []struct {
		name, body string
		headers    []string
		wait       time.Duration
	}{
		{"nothing left", "limited", head("X-RateLimit-Remaining", "0"), 20 * time.Minute},
		{"something left", "limited", head("X-RateLimit-Remaining", "4"), 20 * time.Minute},
		{"the other spelling", "limited-too", head("X-RateLimit-Remaining", "4"), 20 * time.Minute},
		{"Retry-After", "limited-too", head("X-RateLimit-Remaining", "0", "Retry-After", "30"), 30 * time.Second},
		{"without a time", "limited", nil, time.Minute},
		{"the answer that used it up", "closing", head("X-RateLimit-Remaining", "0"), 20 * time.Minute},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := pulls(t, githubtest.Options{})
			at := &clock{at: ours}
			s := repo(t, w.client(t, Options{Now: at.now}))
			number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "x", Body: "closes #1", Closes: []string{"octo/repo#2"}})
			undo := w.Inject(githubtest.Fault{On: "POST /graphql", Instead: withHeaders(golden(t, tt.body+".answer.json"), tt.headers)})
			found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)})
			undo()
			if tt.body == "closing" {
				if err != nil || len(found) != 1 {
					t.Errorf("the answer was lost: %+v, %v", found, err)
				}
				_, err = s.Closing(t.Context(), []workitem.Ref{s.ref(1)})
			}
			budgetError(t, err)
			at.turn(tt.wait - time.Second/2)
			w.ForgetRequests()
			_, err = s.Closing(t.Context(), []workitem.Ref{s.ref(1)})
			budgetError(t, err)
			if sent := w.Requests(); len(sent) != 0 {
				t.Errorf("sent %v before its time", sent)
			}
			if links, err := w.links(t, s, number); err != nil || described(links) != "octo/repo#1, branch x" {
				t.Errorf("over REST: %q, %v", described(links), err)
			}
			at.turn(time.Second)
			if links, err := w.links(t, s, number); err != nil || described(links) != "octo/repo#2, branch x" {
				t.Errorf("after its time: %q, %v", described(links), err)
			}
		})
	}
}

// P7: what an answer says of limits, in every wording that was seen.
func TestQueryLimit(t *testing.T) {
	for body, want := range map[string]limitKind{
		golden(t, "limited.answer.json"): budgetLimit, golden(t, "limited-too.answer.json"): budgetLimit,
		golden(t, "secondary.answer.json"): otherLimit, golden(t, "failed.answer.json"): noLimit, golden(t, "links.answer.json"): noLimit,
		`{"errors":[{"type":"RATE_LIMITED"}]}`:                                         budgetLimit,
		`{"errors":[{"type":"RATE_LIMIT"}]}`:                                           budgetLimit,
		`{"errors":[{"message":"x"},{"message":"API rate limit exceeded for x"}]}`:     budgetLimit,
		`{"errors":[{"type":"RATE_LIMITED","message":"a Secondary Rate Limit of x"}]}`: otherLimit,
		`{"data":{"message":"API rate limit exceeded"}}`:                               noLimit,
		`[]`: noLimit, ``: noLimit,
	} {
		if got := queryLimit([]byte(body)); got != want {
			t.Errorf("%s: %d, want %d", body, got, want)
		}
	}
}

func budgetError(t *testing.T, err error) {
	t.Helper()
	var limited *workitem.RateLimitError
	if err == nil || errors.As(err, &limited) || !strings.Contains(err.Error(), "over GraphQL") || !strings.Contains(err.Error(), "until") {
		t.Errorf("error %v", err)
	}
}

func withHeaders(body string, headers []string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		githubtest.JSON(body)(w, r)
	}
}

// P7: a limit that is about the token silences everything, as over REST.
func TestQueryLimitsTheToken(t *testing.T) {
	tests := []struct {
		name string
		says http.HandlerFunc
		wait time.Duration
	}{
		{"secondary, 200", githubtest.JSON(golden(t, "secondary.answer.json")), time.Minute},
		{"secondary, 200, with another's reset", withHeaders(golden(t, "secondary.answer.json"), []string{"X-RateLimit-Reset", "9999999999", "X-RateLimit-Remaining", "4000"}), time.Minute},
		{"secondary, 200, Retry-After", withHeaders(golden(t, "secondary.answer.json"), []string{"Retry-After", "30"}), 30 * time.Second},
		{"secondary, 403", githubtest.RateLimited(403, "You have exceeded a secondary rate limit."), time.Minute},
		{"429, Retry-After", githubtest.RateLimited(429, "", "Retry-After", "30"), 30 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := pulls(t, githubtest.Options{})
			at := &clock{at: time.Now()}
			s := repo(t, w.client(t, Options{Now: at.now}))
			undo := w.Inject(githubtest.Fault{On: "POST /graphql", Instead: tt.says})
			_, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)})
			undo()
			var limited *workitem.RateLimitError
			if !errors.As(err, &limited) || limited.Until.Sub(at.now()) != tt.wait {
				t.Fatalf("error %v, want a wait of %s", err, tt.wait)
			}
			obeyed(t, w, s, at, tt.wait)
		})
	}
}

// A limit of REST is one for queries, too: without REST nothing can be done.
func TestRESTLimitsQueries(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	w.Inject(githubtest.Fault{On: "GET", Instead: githubtest.RateLimited(403, "API rate limit exceeded", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", strconv.FormatInt(time.Now().Add(time.Hour).Unix(), 10))})
	if _, err := s.List(t.Context()); err == nil {
		t.Fatal("no limit")
	}
	var limited *workitem.RateLimitError
	if _, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); !errors.As(err, &limited) || len(w.Requests()) != 1 {
		t.Errorf("error %v, requests %v", err, w.Requests())
	}
}

package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/source/github/githubtest"
)

func TestNextLink(t *testing.T) {
	tests := map[string]string{
		"":                                 "",
		`<https://x/a?page=2>; rel="next"`: "https://x/a?page=2",
		`<https://x/a?page=2>; rel="next", <https://x/a?page=5>; rel="last"`:  "https://x/a?page=2",
		`<https://x/a?page=1>; rel="prev", <https://x/a?page=3>; rel="next"`:  "https://x/a?page=3",
		`<https://x/a?page=4>; rel="prev", <https://x/a?page=1>; rel="first"`: "",
		`<https://x/a?labels=a,b;c&page=2>; title="rel=\"next\""; rel="prev"`: "",
		`<https://x/a?labels=a,b;c&page=2>;rel=next`:                          "https://x/a?labels=a,b;c&page=2",
		`<https://x/a?page=2>; REL="last next"`:                               "https://x/a?page=2",
		`<https://x/a`:                                                        "",
		`nonsense`:                                                            "",
		`<https://x/a>; rel="nextish", <https://x/b>; rel="next"`:             "https://x/b",
	}
	for header, want := range tests {
		if got := nextLink(header); got != want {
			t.Errorf("%s: %q, want %q", header, got, want)
		}
	}
}

// P1: every page is read, through links that lead to the repository's number,
// and the listing's date is that of its first page.
func TestEveryPage(t *testing.T) {
	at := &clock{at: time.Date(2026, 7, 31, 9, 0, 0, 500, time.UTC)}
	w := newWorld(t, githubtest.Options{MaxPerPage: 3, Now: at.now})
	var want []int
	for range 10 {
		want = append(want, w.Add(t, "an item", "octocat", true))
	}
	w.Inject(githubtest.Fault{Nth: 2, Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
		at.turn(time.Minute)
		githubtest.Change("", "")(rw, r, real)
	}})
	listing := listed(t, w.source(t))
	if got := refNumbers(listing.Items); !slices.Equal(got, want) {
		t.Errorf("listed %v, want %v", got, want)
	}
	if want := at.now().Add(-time.Minute).Truncate(time.Second); !listing.Date.Equal(want) {
		t.Errorf("date %s, want %s", listing.Date, want)
	}
	if sent := w.Requests(); len(sent) != 4+3 || !strings.Contains(sent[0], "direction=asc&labels=the-loop%3A+auto-execute&per_page=100&sort=created&state=open") || !strings.HasPrefix(sent[1], "GET /repositories/") {
		t.Errorf("requests %v", sent)
	}
}

// P1: what is closed while a list is read pulls the next item over the edge of
// a page; it is found all the same.
func TestShiftingList(t *testing.T) {
	for closeAt := 1; closeAt <= 4; closeAt++ {
		t.Run(fmt.Sprintf("closed behind page %d", closeAt), func(t *testing.T) {
			at := &clock{at: time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)}
			began := at.now()
			w := newWorld(t, githubtest.Options{MaxPerPage: 2, Now: at.now})
			for range 7 {
				w.Add(t, "an item", "octocat", true)
			}
			w.Inject(githubtest.Fault{Nth: closeAt, Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
				w.CloseIssue(octo, 1)
				at.turn(time.Minute)
				githubtest.Change("", "")(rw, r, real)
			}})
			listing := listed(t, w.source(t))
			if !listing.Date.Equal(began) {
				t.Errorf("date %s, want that of the first walk's begin, %s", listing.Date, began)
			}
			got := refNumbers(listing.Items)
			for n := 2; n <= 7; n++ {
				if !slices.Contains(got, n) {
					t.Errorf("listed %v, without %d", got, n)
				}
			}
		})
	}
}

// A list that shifts every time is an error, not a guess; an insertion shows
// nothing twice.
func TestListNeverSettles(t *testing.T) {
	w := newWorld(t, githubtest.Options{MaxPerPage: 2})
	for range 20 {
		w.Add(t, "an item", "octocat", true)
	}
	next := 0
	undo := w.Inject(githubtest.Fault{Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
		if strings.Contains(r.URL.RawQuery, "page=3") {
			next++
			w.CloseIssue(octo, next)
		}
		githubtest.Change("", "")(rw, r, real)
	}})
	s := w.source(t)
	if _, err := s.List(t.Context()); err == nil || !strings.Contains(err.Error(), "shifted") {
		t.Errorf("error %v", err)
	}
	undo()
	w.Inject(githubtest.Fault{Nth: 2, Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
		w.ReopenIssue(octo, 1)
		githubtest.Change("", "")(rw, r, real)
	}})
	got := refNumbers(listed(t, s).Items)
	if unique := slices.Compact(slices.Clone(got)); !slices.Equal(unique, got) || len(got) != 20-next+1 {
		t.Errorf("listed %v", got)
	}
}

// What stands on two pages is there once.
func TestTwicePaged(t *testing.T) {
	const item = `{"id":%[1]d,"number":%[1]d,"state":"open","labels":[{"name":"the-loop: auto-execute"}],"created_at":"2026-07-31T09:11:58Z","updated_at":"2026-07-31T09:11:58Z"}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		first := 2
		if r.URL.Query().Get("page") == "" {
			first = 1
			w.Header().Set("Link", fmt.Sprintf("<http://%s/p?page=2>; rel=\"next\"", r.Host))
		}
		githubtest.JSON("["+fmt.Sprintf(item, first)+","+fmt.Sprintf(item, first+1)+"]")(w, r)
	}))
	defer server.Close()
	c, err := NewClient(Options{BaseURL: server.URL, Token: NewToken("t", "X")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if got := refNumbers(listed(t, repo(t, c)).Items); !slices.Equal(got, []int{1, 2, 3}) {
		t.Errorf("listed %v", got)
	}
}

// P10: page 101 is an error, and so is a page that leads back.
func TestTooManyPages(t *testing.T) {
	pages := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		pages++
		next := fmt.Sprintf("http://%s/p?page=%d", r.Host, pages)
		if r.URL.Query().Get("labels") == "back" {
			next = "http://" + r.Host + "/p?page=2"
		}
		linkTo(next)(w, r)
	}))
	defer server.Close()
	c, err := NewClient(Options{BaseURL: server.URL, Token: NewToken("t", "X")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := repo(t, c).List(t.Context()); err == nil || !strings.Contains(err.Error(), "more than 100 pages") || pages != maxPages {
		t.Errorf("%d pages, error %v", pages, err)
	}
	s, err := c.Repo(RepoOptions{Owner: "octo", Repo: "repo", Label: "back", Issues: true})
	if err != nil {
		t.Fatal(err)
	}
	pages = 0
	if _, err := s.List(t.Context()); err == nil || pages != 2 {
		t.Errorf("%d pages, error %v", pages, err)
	}
}

// A server that says no time must not make us forget what came in this second.
func TestNoDate(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Date"] = nil
		githubtest.JSON("[]")(w, r)
	}))
	defer server.Close()
	c, err := NewClient(Options{BaseURL: server.URL, Token: NewToken("t", "X")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if listing := listed(t, repo(t, c)); listing.Date.IsZero() || listing.Date.After(time.Now().Add(-blindMargin)) {
		t.Errorf("date %s", listing.Date)
	}
}

// recording is one answer as api.github.com gave it.
type recording struct {
	Path     string
	Status   int
	Response json.RawMessage
	Headers  map[string]any
}

// P1: a list recorded from api.github.com, five pages with its own Link
// headers, is read to its end.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile("../../testdata/github/recorded-paginate-issues.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded []recording
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	c, err := NewClient(Options{BaseURL: replay(t, recorded), Token: NewToken("t", "X")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	s, err := c.Repo(RepoOptions{Owner: "octokit-fixture-org", Repo: "paginate-issues", Label: label, Issues: true})
	if err != nil {
		t.Fatal(err)
	}
	all, err := c.readList(t.Context(), s.path("issues"), url.Values{})
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range all.elements {
		it, err := s.item(e.raw)
		if err != nil || it.Ref.Number != 13-i || it.Author.Nobody() || it.URL == "" {
			t.Errorf("item %d: %+v, %v", i, it, err)
		}
	}
	if want := time.Date(2017, 10, 10, 16, 0, 0, 0, time.UTC); len(all.elements) != 13 || !all.date.Equal(want) {
		t.Errorf("%d items of %s", len(all.elements), all.date)
	}
	// None of them carries our label, and there is nothing else to list.
	if listing := listed(t, s); len(listing.Items) != 0 || len(listing.Bad) != 0 {
		t.Errorf("listing %+v", listing)
	}
}

// replay answers with what was recorded. Only the first request's query is
// ours, and only the links' origin is changed.
func replay(t *testing.T, recorded []recording) string {
	t.Helper()
	byPath := map[string]recording{"/repos/octokit-fixture-org/paginate-issues/issues": recorded[0]}
	for _, r := range recorded {
		byPath[r.Path] = r
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer, ok := byPath[r.URL.RequestURI()]
		if !ok {
			answer, ok = byPath[r.URL.Path]
		}
		if !ok {
			http.NotFound(w, r)
			return
		}
		for name, value := range answer.Headers {
			switch name {
			case "content-length", "connection":
			default:
				w.Header().Set(name, strings.ReplaceAll(fmt.Sprint(value), "https://api.github.com", "http://"+r.Host))
			}
		}
		w.WriteHeader(answer.Status)
		_, _ = w.Write(answer.Response)
	}))
	t.Cleanup(server.Close)
	return server.URL
}

package github

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

const other = "octo/other"

// pulls is a world with three issues and, in another repository, one.
func pulls(t *testing.T, o githubtest.Options) world {
	t.Helper()
	w := newWorld(t, o)
	w.AddRepo(other)
	w.AddIssue(other, githubtest.Issue{Title: "elsewhere", Author: "octocat"})
	for range 3 {
		w.Add(t, "an issue", "octocat", false)
	}
	return w
}

// links asks for the links of a pull request as the listing gives it.
func (w world) links(t *testing.T, s *Source, number int) (workitem.Links, error) {
	t.Helper()
	it, err := s.State(t.Context(), s.ref(number))
	if err != nil {
		t.Fatal(err)
	}
	w.ForgetRequests()
	return s.Links(t.Context(), it)
}

// described is what tests compare: "octo/repo#1 octo/other#1, named octo/repo#2,
// branch x, foreign".
func described(l workitem.Links) string {
	short := func(r workitem.Ref) string { return strings.TrimPrefix(r.String(), "github:") }
	var closes []string
	for _, r := range l.Closes {
		closes = append(closes, short(r))
	}
	text := strings.Join(closes, " ")
	if !l.Named.Zero() {
		text += ", named " + short(l.Named)
	}
	text += ", branch " + l.Branch
	if l.ForeignHead {
		text += ", foreign"
	}
	return text
}

// P3: what GitHub says a pull request closes, then what its branch is named
// after; and what neither is.
func TestLinks(t *testing.T) {
	tests := []struct {
		name string
		pull githubtest.PullRequest
		want string
	}{
		{"nothing", githubtest.PullRequest{Branch: "x"}, ", branch x"},
		{"what GitHub says, in its order", githubtest.PullRequest{Branch: "x", Closes: []string{"octo/repo#2", "octo/other#1", "octo/repo#1"}}, "octo/repo#2 octo/other#1 octo/repo#1, branch x"},
		{"GitHub over the words", githubtest.PullRequest{Branch: "x", Body: "closes #1", Closes: []string{"octo/repo#2"}}, "octo/repo#2, branch x"},
		{"words that GitHub has not read yet", githubtest.PullRequest{Branch: "x", Body: "closes #1, fixes octo/other#1"}, "octo/repo#1 octo/other#1, branch x"},
		{"words on another base close nothing", githubtest.PullRequest{Branch: "x", Base: "next", Body: "closes #1"}, ", branch x"},
		{"but GitHub may be told by hand", githubtest.PullRequest{Branch: "x", Base: "next", Body: "closes #1", Closes: []string{"octo/repo#3"}}, "octo/repo#3, branch x"},
		{"the branch", githubtest.PullRequest{Branch: "issue-2"}, ", named octo/repo#2, branch issue-2"},
		{"both", githubtest.PullRequest{Branch: "issue-2", Closes: []string{"octo/repo#1"}}, "octo/repo#1, named octo/repo#2, branch issue-2"},
		{"both the same", githubtest.PullRequest{Branch: "issue-1", Closes: []string{"octo/repo#1"}}, "octo/repo#1, named octo/repo#1, branch issue-1"},
		{"a branch of no issue", githubtest.PullRequest{Branch: "issue-99"}, ", branch issue-99"},
		{"itself", githubtest.PullRequest{Branch: "issue-4", Body: "closes #4"}, ", branch issue-4"},
		{"from elsewhere", githubtest.PullRequest{Branch: "issue-2", Fork: "stranger", Closes: []string{"octo/repo#1"}}, "octo/repo#1, named octo/repo#2, branch issue-2, foreign"},
		{"from what is gone", githubtest.PullRequest{Branch: "x", ForkGone: true}, ", branch x, foreign"},
	}
	branches := []string{"issue-02", "issue-2-x", "x-issue-2", "Issue-2", "issue-0", "issue-", "issue--2", "issue-2\n", "issue-99999999999999999999", "issue-9007199254740993", "issues-2", "x/issue-2", "--upload-pack=x", "$(x)"}
	for _, b := range branches {
		tests = append(tests, struct {
			name string
			pull githubtest.PullRequest
			want string
		}{"no branch of an issue " + b, githubtest.PullRequest{Branch: b}, ", branch " + b})
	}
	for _, tt := range tests {
		for _, graphql := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, GraphQL %t", tt.name, graphql), func(t *testing.T) {
				w := pulls(t, githubtest.Options{})
				s := w.source(t)
				tt.pull.Author = "octocat"
				number := w.AddPullRequest(octo, tt.pull)
				want := tt.want
				if !graphql {
					w.Inject(githubtest.Fault{On: "POST /graphql", Instead: githubtest.Status(404, "Not Found")})
					want = withoutGraphQL(tt.pull, want)
				}
				got, err := w.links(t, s, number)
				if err != nil || described(got) != want {
					t.Errorf("%q, %v, want %q", described(got), err, want)
				}
			})
		}
	}
}

// withoutGraphQL leaves of what is wanted what the words and the branch say.
func withoutGraphQL(p githubtest.PullRequest, want string) string {
	if len(p.Closes) == 0 {
		return want
	}
	_, behind, _ := strings.Cut(want, ",")
	if strings.Contains(p.Body, "closes #1") && p.Base == "" {
		return "octo/repo#1," + behind
	}
	return "," + behind
}

// P3: an issue has no links; nobody is asked. One query is all that a pull
// request costs.
func TestLinksCost(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	c := w.client(t, Options{})
	s := repo(t, c)
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "issue-1", Closes: []string{"octo/repo#1"}})
	if links, err := w.links(t, s, 1); err != nil || described(links) != ", branch " || len(w.Requests()) != 0 {
		t.Errorf("an issue: %+v, %v, requests %v", links, err, w.Requests())
	}
	before := c.Requests()
	if _, err := w.links(t, s, number); err != nil || !slices.Equal(w.Requests(), []string{"POST /graphql"}) || c.Requests() != before+2 {
		t.Errorf("%v, requests %v, counted %d", err, w.Requests(), c.Requests()-before)
	}
	other := s.ref(number)
	other.Repo = "other"
	if _, err := s.Links(t.Context(), workitem.Item{Ref: other, Kind: workitem.PullRequest}); err == nil {
		t.Error("links of another repository's pull request")
	}
}

// P3: what is linked by hand later on is seen when it is asked for again.
func TestLinkedLater(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "x"})
	for _, want := range []string{"", "octo/repo#2", "octo/other#1 octo/repo#1"} {
		w.SetCloses(octo, number, strings.Fields(want)...)
		if links, err := w.links(t, s, number); err != nil || described(links) != want+", branch x" {
			t.Errorf("%q, %v, want %q", described(links), err, want)
		}
	}
}

// P3: the issue that a branch is named after is one only when it is there; when
// that cannot be told nothing is, since the target is chosen for good.
func TestNamedIssue(t *testing.T) {
	tests := []struct {
		name string
		do   func(w world)
		want string
		err  string
	}{
		{"there", func(world) {}, ", named octo/repo#2, branch issue-2", ""},
		{"closed", func(w world) { w.CloseIssue(octo, 2) }, ", named octo/repo#2, branch issue-2", ""},
		{"deleted", func(w world) { w.DeleteIssue(octo, 2) }, ", branch issue-2", ""},
		{"transferred", func(w world) { w.TransferIssue(octo, 2, other) }, ", branch issue-2", ""},
		{"issues switched off", func(w world) { w.SwitchIssuesOff(octo) }, ", branch issue-2", ""},
		{"404", func(w world) {
			w.Inject(githubtest.Fault{On: "GET /repos/octo/repo/issues/2", Instead: githubtest.Status(404, "Not Found")})
		}, ", branch issue-2", ""},
		{"404 of everything", func(w world) {
			w.Inject(githubtest.Fault{On: "GET", Instead: githubtest.Status(404, "Not Found")})
		}, "", "not in sight"},
		{"500", func(w world) {
			w.Inject(githubtest.Fault{On: "GET", Instead: githubtest.Status(500, "Server Error")})
		}, "", "500"},
		{"a pull request", func(w world) {
			w.Inject(githubtest.Fault{On: "GET", Mangle: githubtest.Change(`"title":"an issue"`, `"pull_request":{},"title":"an issue"`)})
		}, ", branch issue-2", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := pulls(t, githubtest.Options{})
			s := w.source(t)
			number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "issue-2"})
			tt.do(w)
			links, err := s.Links(t.Context(), workitem.Item{Ref: s.ref(number), Kind: workitem.PullRequest})
			if tt.err == "" && (err != nil || described(links) != tt.want) {
				t.Errorf("%q, %v, want %q", described(links), err, tt.want)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("%q, %v, want an error with %q", described(links), err, tt.err)
			}
		})
	}
}

// P3: whatever is wrong with GraphQL, the words of the pull request are read. If
// they name nothing, a server that answers no queries has been asked all there
// is to ask, and one that failed is asked again.
func TestLinksWithoutGraphQL(t *testing.T) {
	faults := answers()
	delete(faults, "202") // {} with another status than 200
	for _, name := range []string{"404", "405", "410", "501"} {
		var status int
		if _, err := fmt.Sscan(name, &status); err != nil {
			t.Fatal(err)
		}
		faults[name] = githubtest.Fault{Instead: githubtest.Status(status, "no such thing")}
	}
	for _, name := range []string{"undefined-field", "forbidden", "not-found", "failed"} {
		faults[name] = githubtest.Fault{Instead: githubtest.JSON(golden(t, name+".answer.json"))}
	}
	faults["redirect"] = githubtest.Fault{Instead: githubtest.Redirect(http.StatusTemporaryRedirect, "/x")}
	faults["errors of another shape"] = githubtest.Fault{Instead: githubtest.JSON(`{"data":{},"errors":"many"}`)}
	faults["two kinds of errors"] = githubtest.Fault{Instead: githubtest.JSON(`{"errors":[{"type":"FORBIDDEN"},{"message":"oops"}]}`)}
	lasting := []string{"403", "404", "405", "410", "501", "undefined-field", "forbidden"}

	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	words := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "x", Body: "closes #1", Closes: []string{"octo/repo#2"}})
	branch := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "issue-3", Closes: []string{"octo/repo#2"}})
	nothing := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "x", Closes: []string{"octo/repo#2"}})
	for name, fault := range faults {
		fault.On = "POST /graphql"
		undo := w.Inject(fault)
		if links, err := w.links(t, s, words); err != nil || described(links) != "octo/repo#1, branch x" {
			t.Errorf("%s: %q, %v", name, described(links), err)
		}
		if links, err := w.links(t, s, branch); err != nil || described(links) != ", named octo/repo#3, branch issue-3" {
			t.Errorf("%s: %q, %v", name, described(links), err)
		}
		links, err := w.links(t, s, nothing)
		if slices.Contains(lasting, name) != (err == nil) || described(links) == "octo/repo#2" {
			t.Errorf("%s, and no words: %q, %v", name, described(links), err)
		}
		if err != nil && !strings.Contains(err.Error(), fmt.Sprintf("octo/repo#%d", nothing)) {
			t.Errorf("%s: the error does not say of what: %v", name, err)
		}
		undo()
	}
	if links, err := w.links(t, s, nothing); err != nil || described(links) != "octo/repo#2, branch x" {
		t.Errorf("after all that: %q, %v", described(links), err)
	}
}

// An answer about another pull request, or from under another name, is none.
func TestLinksOfAnother(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Closes: []string{"octo/repo#2"}})
	undo := w.Inject(githubtest.Fault{On: "POST", Mangle: githubtest.Change(fmt.Sprintf(`"number":%d}`, number), `"number":5}`)})
	if links, err := w.links(t, s, number); err == nil {
		t.Errorf("another pull request: %q", described(links))
	}
	undo()
	it := workitem.Item{Ref: s.ref(number), Kind: workitem.PullRequest}
	w.RenameRepo(octo, "octo/new")
	if links, err := s.Links(t.Context(), it); err == nil || !strings.Contains(err.Error(), "octo/new") {
		t.Errorf("a renamed repository: %q, %v", described(links), err)
	}
	if found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(2)}); err == nil || !strings.Contains(err.Error(), "octo/new") {
		t.Errorf("a renamed repository: %+v, %v", found, err)
	}
}

// P1, P10: nothing less than the answer over REST is accepted either.
func TestReadPullRefuses(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "x", Body: "closes #1"})
	w.Inject(githubtest.Fault{On: "POST /graphql", Instead: githubtest.HTML(502)})
	faults := answers()
	faults["another"] = githubtest.Fault{Mangle: githubtest.Change(fmt.Sprintf(`"number":%d,`, number), `"number":99,`)}
	faults["another's"] = githubtest.Fault{Mangle: githubtest.Change(`"full_name":"octo/repo"`, `"full_name":"octo/new"`)}
	faults["no ids"] = githubtest.Fault{Mangle: githubtest.Change(`"id":`, `"ident":`)}
	faults["no branch"] = githubtest.Fault{Mangle: githubtest.Change(`"ref":"x"`, `"ref":""`)}
	for name, fault := range faults {
		fault.On = "GET /repos/octo/repo/pulls"
		undo := w.Inject(fault)
		if links, err := w.links(t, s, number); err == nil {
			t.Errorf("%s: %+v", name, links)
		}
		undo()
	}
	undo := w.Inject(githubtest.Fault{On: "GET /repos/octo/repo/pulls", Mangle: githubtest.Change(`"repo":{`, `"repo":null,"old":{`)})
	defer undo()
	if links, err := w.links(t, s, number); err == nil {
		t.Errorf("no base: %+v", links)
	}
}

// P1, P10: all pages of what is closed, or an error.
func TestManyClosed(t *testing.T) {
	w := pulls(t, githubtest.Options{MaxPerPage: 2})
	s := w.source(t)
	number := w.AddPullRequest(octo, githubtest.PullRequest{
		Author: "octocat", Branch: "x", Closes: []string{"octo/repo#1", "octo/repo#2", "octo/repo#3", "octo/other#1", "octo/repo#1"},
	})
	links, err := w.links(t, s, number)
	if err != nil || described(links) != "octo/repo#1 octo/repo#2 octo/repo#3 octo/other#1, branch x" || len(w.Requests()) != 3 {
		t.Errorf("%q, %v, requests %v", described(links), err, w.Requests())
	}
	for nth := 1; nth <= 3; nth++ {
		undo := w.Inject(githubtest.Fault{On: "POST", Nth: nth, Instead: githubtest.HTML(502)})
		if links, err := w.links(t, s, number); err == nil {
			t.Errorf("without page %d: %q", nth, described(links))
		}
		undo()
	}
	undo := w.Inject(githubtest.Fault{On: "POST", Mangle: githubtest.Change(`"hasNextPage":false`, `"hasNextPage":true`)})
	if links, err := w.links(t, s, number); err == nil || !strings.Contains(err.Error(), "goes on") {
		t.Errorf("a list without an end: %q, %v", described(links), err)
	}
	undo()
	undo = endless(w, "closingIssuesReferences", func(int) string { return "c" })
	if links, err := w.links(t, s, number); err == nil || !strings.Contains(err.Error(), "leads back") {
		t.Errorf("a list in a circle: %q, %v", described(links), err)
	}
	undo()
	endless(w, "closingIssuesReferences", strconv.Itoa)
	if links, err := w.links(t, s, number); err == nil || !strings.Contains(err.Error(), "100 pages") {
		t.Errorf("an endless list: %q, %v", described(links), err)
	}
	if n := len(w.Requests()); n != maxPages+1 {
		t.Errorf("%d requests", n)
	}
}

// endless answers queries with a list that goes on at a cursor, which is made of
// the number of the answer.
func endless(w world, list string, cursor func(int) string) (undo func()) {
	n := 0
	return w.Inject(githubtest.Fault{On: "POST", Instead: func(rw http.ResponseWriter, r *http.Request) {
		n++
		one := fmt.Sprintf(`{"nodes":[],"pageInfo":{"hasNextPage":true,"endCursor":%q}}`, cursor(n))
		pull := fmt.Sprintf(`"pullRequest":{"number":4,"headRefName":"x","isCrossRepository":false,"closingIssuesReferences":%s}`, one)
		if list == "pullRequests" {
			pull = `"pullRequests":` + one
		}
		githubtest.JSON(fmt.Sprintf(`{"data":{"repository":{"nameWithOwner":"octo/repo",%s}}}`, pull))(rw, r)
	}})
}

// P4, A5: what is not named by its grammar, or not to be seen, is left out and
// harms nothing.
func TestStrangeLinks(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "x", Closes: []string{"octo/other#1", "octo/repo#1"}})
	for from, to := range map[string]string{
		`"octo/other"`: `"--upload-pack=x/other"`, `"nameWithOwner":"octo/other"`: `"nameWithOwner":"octo/.."`,
		`{"number":1,"repository":{"nameWithOwner":"octo/other"}}`:  `null`,
		`{"number":1,"repository":{"nameWithOwner":"octo/other"}},`: `{"number":0,"repository":{"nameWithOwner":"octo/repo"}},`,
	} {
		undo := w.Inject(githubtest.Fault{On: "POST", Mangle: githubtest.Change(from, to)})
		if links, err := w.links(t, s, number); err != nil || described(links) != "octo/repo#1, branch x" {
			t.Errorf("%s: %q, %v", to, described(links), err)
		}
		undo()
	}
	w.HideRepo(other, true)
	if links, err := w.links(t, s, number); err != nil || described(links) != "octo/repo#1, branch x" {
		t.Errorf("hidden: %q, %v", described(links), err)
	}
}

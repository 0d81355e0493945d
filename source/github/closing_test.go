package github

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

// closing asks who closes items of octo/repo, and returns the numbers.
func (w world) closing(t *testing.T, s *Source, items ...int) []int {
	t.Helper()
	var refs []workitem.Ref
	for _, n := range items {
		refs = append(refs, s.ref(n))
	}
	found, err := s.Closing(t.Context(), refs)
	if err != nil {
		t.Fatal(err)
	}
	return linkedNumbers(found)
}

func linkedNumbers(found []workitem.Linked) []int {
	var out []int
	for _, l := range found {
		out = append(out, l.Item.Ref.Number)
	}
	return out
}

// P1, P3: which open pull requests point at an item, with the label or without,
// over GraphQL and where there is none.
func TestClosing(t *testing.T) {
	for _, graphql := range []bool{true, false} {
		t.Run(fmt.Sprintf("GraphQL %t", graphql), func(t *testing.T) {
			w := pulls(t, githubtest.Options{MaxPerPage: 2})
			s := w.source(t)
			add := func(p githubtest.PullRequest) int {
				p.Author = "octocat"
				return w.AddPullRequest(octo, p)
			}
			w.AddIssue(octo, githubtest.Issue{Author: "octocat", Body: "closes #1"})
			plain := add(githubtest.PullRequest{Body: "closes #1", Closes: []string{"octo/repo#1"}})
			labelled := add(githubtest.PullRequest{Body: "closes #2, closes #1", Labels: []string{"BUG", strings.ToUpper(label)}, Closes: []string{"octo/repo#2", "octo/repo#1"}})
			foreign := add(githubtest.PullRequest{Body: "closes #1", Fork: "stranger", Closes: []string{"octo/repo#1"}})
			add(githubtest.PullRequest{Body: "closes #2", Closes: []string{"octo/repo#2"}})
			add(githubtest.PullRequest{Body: "see #1"})
			unread := add(githubtest.PullRequest{Body: "closes #1"})
			add(githubtest.PullRequest{Body: "closes #1", Base: "next"})
			w.CloseIssue(octo, add(githubtest.PullRequest{Body: "closes #1", Closes: []string{"octo/repo#1"}}))
			branch := add(githubtest.PullRequest{Branch: "issue-1"})
			add(githubtest.PullRequest{Branch: "issue-2"})
			want := []int{plain, labelled, foreign, unread, branch}
			if !graphql {
				w.Inject(githubtest.Fault{On: "POST", Instead: githubtest.Status(404, "Not Found")})
				want = []int{plain, labelled, foreign, unread}
			}
			found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)})
			if err != nil || !slices.Equal(linkedNumbers(found), want) {
				t.Fatalf("%v, %v, want %v", linkedNumbers(found), err, want)
			}
			for _, l := range found {
				number := l.Item.Ref.Number
				if l.Item.Labelled != (number == labelled) || l.Links.ForeignHead != (number == foreign) {
					t.Errorf("%+v", l)
				}
				state, err := s.State(t.Context(), l.Item.Ref)
				if diff := cmp.Diff(state, l.Item); err != nil || diff != "" {
					t.Errorf("%d is not what State says: %v %s", number, err, diff)
				}
			}
			if got := described(found[1].Links); got != fmt.Sprintf("octo/repo#2 octo/repo#1, branch patch-%d", labelled) {
				t.Errorf("links %q", got)
			}
		})
	}
}

// P3: an item of another repository of the host is closed from here as well; one
// of another host or tracker is not, and a branch is named after an issue here.
func TestClosingElsewhere(t *testing.T) {
	w := pulls(t, githubtest.Options{Path: "/api/v3", Web: "https://ghe.corp.example"})
	s := repo(t, w.client(t, Options{Host: "ghe.corp.example"}))
	w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "issue-1", Closes: []string{"octo/other#1"}})
	ref := func(text string) workitem.Ref {
		r, err := workitem.ParseRef(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for item, want := range map[string]string{
		"github:GHE.corp.example/Octo/Other#1": "ghe.corp.example/octo/other#1, branch issue-1",
		"github:ghe.corp.example/octo/repo#1":  "ghe.corp.example/octo/other#1, named ghe.corp.example/octo/repo#1, branch issue-1",
		"github:ghe.corp.example/octo/repo#2":  "",
		"github:octo/other#1":                  "",
		"inbox:octo/other#1":                   "",
	} {
		w.ForgetRequests()
		found, err := s.Closing(t.Context(), []workitem.Ref{ref(item)})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(found); want == "" && got != 0 {
			t.Errorf("%s: %+v", item, found)
		} else if want != "" && (got != 1 || described(found[0].Links) != want) {
			t.Errorf("%s: %+v, want %q", item, found, want)
		}
		if asked := len(w.Requests()); (asked == 0) == strings.Contains(item, "corp") {
			t.Errorf("%s: %d requests", item, asked)
		}
	}
}

// P1: what it costs: nothing when there is nothing to ask, else one query for
// every thirty open pull requests, however many items there are.
func TestClosingCost(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	c := w.client(t, Options{})
	s := repo(t, c)
	for range 61 {
		w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Branch: "issue-1", Closes: []string{"octo/repo#2", "octo/repo#3"}})
	}
	issues, err := c.Repo(RepoOptions{Owner: "octo", Repo: "repo", Label: label, Issues: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.closing(t, issues, 1, 2, 3); len(got) != 0 || len(w.Requests()) != 0 {
		t.Errorf("pull requests that are not watched: %v, %v", got, w.Requests())
	}
	if got := w.closing(t, s); len(got) != 0 || len(w.Requests()) != 0 {
		t.Errorf("nothing: %v, %v", got, w.Requests())
	}
	elsewhere := workitem.Ref{Provider: "inbox", Owner: "octo", Repo: "repo", Number: 2}
	if found, err := s.Closing(t.Context(), []workitem.Ref{elsewhere}); err != nil || len(found) != 0 || len(w.Requests()) != 0 {
		t.Errorf("another tracker's: %v, %v, %v", found, err, w.Requests())
	}
	if got := w.closing(t, s, 1, 2, 3); len(got) != 61 || len(w.Requests()) != 3 || c.Requests() != 3 {
		t.Errorf("%d pull requests, %v, counted %d", len(got), w.Requests(), c.Requests())
	}
}

// P3: a pull request does not point at itself.
func TestClosingItself(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Body: "closes #4", Branch: "issue-4"})
	if got := w.closing(t, w.source(t), number); number != 4 || len(got) != 0 {
		t.Errorf("%d is closed by %v", number, got)
	}
}

// P1: what is closed while the list is read does not push another one out.
func TestClosingWhileTheListChanges(t *testing.T) {
	w := pulls(t, githubtest.Options{MaxPerPage: 2})
	s := w.source(t)
	var want []int
	for range 5 {
		want = append(want, w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Closes: []string{"octo/repo#1"}}))
	}
	w.Inject(githubtest.Fault{On: "POST", Nth: 1, Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
		w.CloseIssue(octo, want[0])
		githubtest.Change("", "")(rw, r, real)
	}})
	if got := w.closing(t, s, 1); !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// P1: more than a page of closed issues is asked for whole.
func TestClosingMany(t *testing.T) {
	w := pulls(t, githubtest.Options{MaxPerPage: 1})
	s := w.source(t)
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Closes: []string{"octo/repo#3", "octo/repo#2", "octo/repo#1"}})
	found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)})
	if err != nil || len(found) != 1 || described(found[0].Links) != fmt.Sprintf("octo/repo#3 octo/repo#2 octo/repo#1, branch patch-%d", number) {
		t.Errorf("%+v, %v", found, err)
	}
	for nth := 1; nth <= 4; nth++ {
		undo := w.Inject(githubtest.Fault{On: "POST", Nth: nth, Instead: githubtest.HTML(502)})
		if found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); err == nil {
			t.Errorf("without answer %d: %+v", nth, found)
		}
		undo()
	}
}

// P1, P10: whatever comes instead of an answer, on whichever page, is an error
// and never a shorter list; so is a part of the wrong shape, and a list without
// an end.
func TestClosingAcceptsNothingLess(t *testing.T) {
	w := pulls(t, githubtest.Options{MaxPerPage: 1})
	s := w.source(t)
	for range 2 {
		w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Closes: []string{"octo/repo#1"}})
	}
	faults := answers()
	delete(faults, "403") // the list is read over REST then
	for name, fault := range faults {
		for nth := 1; nth <= 2; nth++ {
			fault.On, fault.Nth = "POST", nth
			if name == "closed at once" {
				fault.Nth = 0
			}
			undo := w.Inject(fault)
			found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)})
			if err == nil || !strings.Contains(err.Error(), "octo/repo") {
				t.Errorf("%s instead of answer %d: %+v, %v", name, nth, found, err)
			}
			undo()
		}
	}
	changes := map[string]string{
		`"isCrossRepository":false`: `"isCrossRepository":null`, `"isCrossRepository":`: `"was":`, `"nameWithOwner":"octo/repo","pull`: `"nameWithOwner":"octo/new","pull`,
		`"nodes":[{"author"`: `"nodes":[null,{"author"`, `"pullRequests":`: `"pulls":`, `"closingIssuesReferences":`: `"closes":`,
		`"state":"OPEN"`: `"state":"open"`, `"labels":{"nodes":[]}`: `"labels":null`, `"headRefName":"patch`: `"head":"patch`,
		`"number":4,`: `"number":0,`, `"createdAt":`: `"made":`, `"updatedAt":"`: `"updatedAt":"x`, `"title":""`: `"title":7`,
		`"repository":{"default`: `"repository":null,"old":{"default`, `"author":{"__typename"`: `"author":[],"x":{"__typename"`,
		`"data":`: `"errors":[{"message":"in part"}],"data":`,
	}
	for from, to := range changes {
		undo := w.Inject(githubtest.Fault{On: "POST", Nth: 1, Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
			if !strings.Contains(string(real.Body), from) {
				t.Errorf("%s is not in %s", from, real.Body)
			}
			githubtest.Change(from, to)(rw, r, real)
		}})
		if found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); err == nil {
			t.Errorf("%s: %+v", to, found)
		}
		undo()
	}
	for want, cursor := range map[string]func(int) string{
		"100 pages": func(n int) string { return fmt.Sprint(n) }, "leads back": func(int) string { return "c" }, "goes on": func(int) string { return "" },
	} {
		undo := endless(w, "pullRequests", cursor)
		if found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", want, found, err)
		}
		undo()
	}
	undo := w.Inject(githubtest.Fault{On: "POST", Mangle: githubtest.Change(`"state":"OPEN"`, `"state":"MERGED"`)})
	if got := w.closing(t, s, 1); len(got) != 0 {
		t.Errorf("a server that ignores the question decides: %v", got)
	}
	undo()
	if got := w.closing(t, s, 1); len(got) != 2 {
		t.Errorf("after all that: %v", got)
	}
}

// P1, P10: neither is anything less accepted over REST.
func TestClosingOverRESTAcceptsNothingLess(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat", Body: "closes #1"})
	w.Inject(githubtest.Fault{On: "POST", Instead: githubtest.JSON(golden(t, "undefined-field.answer.json"))})
	for _, on := range []string{"GET /repos/octo/repo/issues", "GET /repos/octo/repo/pulls/4"} {
		for name, fault := range answers() {
			fault.On = on
			undo := w.Inject(fault)
			if found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)}); err == nil {
				t.Errorf("%s for %s: %+v", name, on, found)
			}
			undo()
		}
	}
	if got := w.closing(t, s, 1); len(got) != 1 {
		t.Errorf("after all that: %v", got)
	}
}

// A1: an account is the same whoever names it, also that of an app and of
// nobody.
func TestClosingAuthors(t *testing.T) {
	w := pulls(t, githubtest.Options{})
	s := w.source(t)
	for _, author := range []string{"octocat", "dependabot[bot]", "", "gone"} {
		w.AddPullRequest(octo, githubtest.PullRequest{Author: author, Closes: []string{"octo/repo#1"}})
	}
	w.DeleteAccount("gone")
	found, err := s.Closing(t.Context(), []workitem.Ref{s.ref(1)})
	if err != nil || len(found) != 4 {
		t.Fatalf("%+v, %v", found, err)
	}
	for _, l := range found {
		state, err := s.State(t.Context(), l.Item.Ref)
		if err != nil || state.Author != l.Item.Author {
			t.Errorf("%+v over GraphQL, %+v over REST, %v", l.Item.Author, state.Author, err)
		}
	}
}

// P10: a page of the longest pull requests that anybody can write fits into an
// answer: who may open some cannot hide the others.
func TestClosingFitsIntoAnAnswer(t *testing.T) {
	size, err := strconv.Atoi(regexp.MustCompile(`states: OPEN, first: (\d+)`).FindStringSubmatch(closingQuery)[1])
	if err != nil {
		t.Fatal(err)
	}
	// JSON needs up to six bytes for a character, as it does for these.
	long := func(n int) string { return strings.Repeat("<", n) }
	p := openAnswer{Title: long(256), Body: long(65_536), URL: long(300), State: long(6), Author: &actorAnswer{Login: long(40)}}
	p.HeadRefName, p.BaseRefName = long(255), long(255)
	for range 100 {
		p.Labels.Nodes = append(p.Labels.Nodes, &labelAnswer{Name: long(50)})
		issue := &issueAnswer{Number: 1 << 30}
		issue.Repository.NameWithOwner = long(140)
		p.Closes.Nodes = append(p.Closes.Nodes, issue)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if most := size * len(text); most > maxBody {
		t.Errorf("%d pull requests can take %d bytes, more than %d", size, most, maxBody)
	}
}

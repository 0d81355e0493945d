package githubtest

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
)

// queryPath is where queries are answered, below the API's base on github.com
// and beside it on GitHub Enterprise.
const queryPath = "/graphql"

// The sizes of pages in the queries.
const (
	pullsPage  = 30
	issuesPage = 100
)

// queries are the texts of the only queries that are answered, by the name of
// their file.
var queries = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, name := range []string{"links", "closing"} {
		path, err := testdataPath("graphql/" + name + ".request.json")
		if err != nil {
			panic("githubtest: " + err.Error())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			panic("githubtest: " + err.Error())
		}
		var request query
		mustDecode(string(text), &request)
		texts[request.Query] = name
	}
	return texts
})

// query is a request.
type query struct {
	Query     string          `json:"query"`
	Variables json.RawMessage `json:"variables"`
}

// variables are those of both queries; the number is one's alone.
type variables struct {
	Owner  string  `json:"owner"`
	Name   string  `json:"name"`
	Number *int    `json:"number"`
	After  *string `json:"after"`
}

func (s *Server) isQuery(r *http.Request) bool {
	above, _ := strings.CutSuffix(s.o.Path, "/v3")
	return r.URL.Path == above+queryPath
}

// below is the path of a request below the API's base.
func (s *Server) below(r *http.Request) string {
	if s.isQuery(r) {
		return queryPath
	}
	return strings.TrimPrefix(r.URL.Path, s.o.Path)
}

func (s *Server) answerQuery(c call) Answer {
	s.checkAgent(c.r)
	a := s.decideQuery(c)
	s.limitHeaders(a.Header, "graphql")
	return a
}

func (s *Server) decideQuery(c call) Answer {
	switch {
	case c.r.Method != http.MethodPost:
		s.violate(c.r, "request: queries are posted")
		return s.notFound()
	case c.r.Header.Get("Authorization") != "Bearer "+s.o.Token:
		return s.refusal(http.StatusUnauthorized, "Bad credentials")
	}
	name, v, err := readQuery(c.body)
	if err != nil {
		s.violate(c.r, "request: %v", err)
		return s.ok(problem("", "undefinedField", "A query that nobody wrote down"))
	}
	r := s.findRepo(v.Owner + "/" + v.Name)
	if r == nil || r.hidden {
		return s.ok(problem("NOT_FOUND", "", fmt.Sprintf("Could not resolve to a Repository with the name '%s/%s'.", v.Owner, v.Name), "repository"))
	}
	if name == "closing" {
		return s.openPulls(r, v)
	}
	return s.onePull(r, v)
}

// readQuery takes a query apart that was written down, with the variables that
// it declares.
func readQuery(body []byte) (name string, v variables, err error) {
	var q query
	if err := strictly(body, &q); err != nil {
		return "", v, err
	}
	name, known := queries()[q.Query]
	if !known {
		return "", v, fmt.Errorf("no such query in testdata/github/graphql: %s", q.Query)
	}
	if err := strictly(q.Variables, &v); err != nil {
		return "", v, fmt.Errorf("variables: %w", err)
	}
	if v.Owner == "" || v.Name == "" || (v.Number != nil) != (name == "links") {
		return "", v, fmt.Errorf("variables: %s are not those of the query", q.Variables)
	}
	return name, v, nil
}

func strictly(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if _, err := d.Token(); err != io.EOF {
		return fmt.Errorf("more than one value")
	}
	return nil
}

// problem is an answer that has none.
func problem(kind, code, message string, path ...string) object {
	e := object{"message": message, "locations": []object{{"line": 2, "column": 3}}}
	if kind != "" {
		e.with(object{"type": kind, "path": path})
	}
	if code != "" {
		e["extensions"] = object{"code": code}
		return object{"errors": []object{e}}
	}
	return object{"data": object{"repository": nil}, "errors": []object{e}}
}

func (s *Server) ofRepository(r *repo, field string, v any) Answer {
	return s.ok(object{"data": object{"repository": object{
		"nameWithOwner": r.full(), "defaultBranchRef": object{"name": defaultBranch}, field: v,
	}}})
}

func (s *Server) onePull(r *repo, v variables) Answer {
	i := r.find(*v.Number)
	if i == nil || !i.pull || i.deleted {
		return s.ok(problem("NOT_FOUND", "", fmt.Sprintf("Could not resolve to a PullRequest with the number of %d.", *v.Number), "repository", "pullRequest"))
	}
	return s.ofRepository(r, "pullRequest", s.pullLinks(i, v.After))
}

// pullLinks is what both queries ask of a pull request.
func (s *Server) pullLinks(i *issue, after *string) object {
	return object{
		"number": i.number, "headRefName": i.branch, "baseRefName": i.base,
		"isCrossRepository": i.fork != "" || i.forkGone,
		"closingIssuesReferences": connected(s, i.seenClosings(), issuesPage, after, placed[closing], func(c closing) object {
			return object{"number": c.issue.number, "repository": object{"nameWithOwner": c.repo.full()}}
		}),
	}
}

func (s *Server) openPulls(r *repo, v variables) Answer {
	var open []*issue
	for _, i := range r.issues {
		if i.pull && !i.deleted && i.movedTo == nil && i.closed.IsZero() {
			open = append(open, i)
		}
	}
	return s.ofRepository(r, "pullRequests", connected(s, open, pullsPage, v.After, numbered, func(i *issue) object {
		return s.openPull(r, i)
	}))
}

func (s *Server) openPull(r *repo, i *issue) object {
	names := []object{}
	for _, l := range i.labels {
		names = append(names, object{"name": l})
	}
	return s.pullLinks(i, nil).with(object{
		"url":   fmt.Sprintf("%s/%s/pull/%d", s.o.Web, r.full(), i.number),
		"title": i.title, "body": i.body, "state": "OPEN",
		"createdAt": stamp(i.created), "updatedAt": stamp(i.updated),
		"author": s.actor(i.author), "labels": object{"nodes": names},
		"comments": object{"totalCount": len(i.comments)},
	})
}

// actor is null for nobody; a bot has its login without what REST puts behind.
func (s *Server) actor(login string) any {
	u := s.named(login)
	switch {
	case u == nil || u.deleted:
		return nil
	case u.bot:
		return object{"__typename": "Bot", "login": strings.TrimSuffix(u.login, "[bot]"), "databaseId": u.id}
	}
	return object{"__typename": "User", "login": u.login, "databaseId": u.id}
}

// connected is one page of a list. A cursor names the last element of a page,
// so that what goes from the list meanwhile does not shift it.
func connected[T any](s *Server, all []T, size int, after *string, nameOf func(int, T) int, show func(T) object) object {
	from := 0
	for after != nil && from < len(all) && nameOf(from, all[from]) <= namedBy(*after) {
		from++
	}
	to := min(from+min(size, s.o.MaxPerPage), len(all))
	nodes := []object{}
	var end any
	for i, v := range all[from:to] {
		nodes, end = append(nodes, show(v)), cursor(nameOf(from+i, v))
	}
	return object{"nodes": nodes, "pageInfo": object{"hasNextPage": to < len(all), "endCursor": end}}
}

// numbered and placed say what a cursor names an element by.
func numbered(_ int, i *issue) int { return i.number }

func placed[T any](place int, _ T) int { return place + 1 }

const cursorPrefix = "cursor:v2:"

func cursor(name int) string {
	return base64.StdEncoding.EncodeToString([]byte(cursorPrefix + strconv.Itoa(name)))
}

func namedBy(cursor string) int {
	text, err := base64.StdEncoding.DecodeString(cursor)
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimPrefix(string(text), cursorPrefix))
	if err != nil {
		return 0
	}
	return n
}

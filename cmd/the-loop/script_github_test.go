package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"theloop/source/github/githubtest"
)

// tracker is the GitHub of one script.
type tracker struct {
	*githubtest.Server
	repair func()
}

// github runs a GitHub in the test's process and changes what is there. What a
// request or an answer has that GitHub does not describe fails the script.
//
//	github start                              and sets $GITHUB_URL and $GH_TOKEN
//	github repo OWNER/REPO
//	github issue|pull OWNER/REPO AUTHOR TITLE [LABEL…]
//	github comment|review OWNER/REPO#N AUTHOR TEXT
//	github inline OWNER/REPO#N AUTHOR FILE LINE TEXT
//	github closes OWNER/REPO#N [OWNER/REPO#M…] what a pull request closes
//	github label OWNER/REPO#N [LABEL…]
//	github close|reopen OWNER/REPO#N
//	github rename OWNER/REPO OWNER/REPO       the old name redirects
//	github fail STATUS PATH [MESSAGE]         until `github repair`
//	github limit SECONDS PATH                 until `github repair`: too many requests; requests before it are forgotten
//	github hang PATH                          until `github repair`; requests before it are forgotten
//	github lose PATH                          the same, and what was asked for is done
//	[!] github says [-count=N] OWNER/REPO#N REGEXP   what stands in the conversation
//	[!] github asked REGEXP                   waits for a request; with !, there was none
func githubCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || neg && args[0] != "asked" && args[0] != "says" {
		ts.Fatalf("usage: github VERB [ARG...]")
	}
	w, verb, args := worldOf(ts), args[0], args[1:]
	if verb == "start" {
		w.github = startGitHub(ts)
		return
	}
	do, ok := githubVerbs[verb]
	if !ok || w.github == nil || len(args) < do.least {
		ts.Fatalf("github %s %q: see githubCmd", verb, args)
	}
	do.run(ts, w.github, neg, args)
}

// startGitHub runs a server that ends with the script and fails it for what
// does not fit GitHub's description.
func startGitHub(ts *testscript.TestScript) *tracker {
	s := githubtest.New(worldOf(ts).t, githubtest.Options{})
	ts.Setenv("GITHUB_URL", s.URL())
	ts.Setenv("GH_TOKEN", s.Token())
	return &tracker{Server: s}
}

type githubVerb struct {
	least int
	run   func(ts *testscript.TestScript, s *tracker, neg bool, args []string)
}

var githubVerbs = map[string]githubVerb{
	"repo": {1, func(_ *testscript.TestScript, s *tracker, _ bool, args []string) { s.AddRepo(args[0]) }},
	"issue": {3, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) {
		s.AddIssue(args[0], githubtest.Issue{Author: spelled(ts, args[1]), Title: spelled(ts, args[2]), Labels: args[3:]})
	}},
	"pull": {3, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) {
		s.AddIssue(args[0], githubtest.Issue{Author: spelled(ts, args[1]), Title: spelled(ts, args[2]), Labels: args[3:], Pull: true})
	}},
	"comment": {3, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) {
		repo, n := itemOf(ts, args[0])
		s.AddComment(repo, n, githubtest.Comment{Author: spelled(ts, args[1]), Body: spelled(ts, args[2])})
	}},
	"review": {3, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) {
		repo, n := itemOf(ts, args[0])
		s.AddReview(repo, n, githubtest.Comment{Author: spelled(ts, args[1]), Body: spelled(ts, args[2])})
	}},
	"inline": {5, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) {
		repo, n := itemOf(ts, args[0])
		line, err := strconv.Atoi(args[3])
		ts.Check(err)
		s.AddInline(repo, n, githubtest.Comment{Author: spelled(ts, args[1]), Path: args[2], Line: line, OriginalLine: line, Body: spelled(ts, args[4])})
	}},
	"closes": {1, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) {
		repo, n := itemOf(ts, args[0])
		s.SetCloses(repo, n, args[1:]...)
	}},
	"label": {1, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) {
		repo, n := itemOf(ts, args[0])
		s.SetLabels(repo, n, args[1:]...)
	}},
	"close":  {1, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) { s.CloseIssue(itemOf(ts, args[0])) }},
	"reopen": {1, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) { s.ReopenIssue(itemOf(ts, args[0])) }},
	"rename": {2, func(_ *testscript.TestScript, s *tracker, _ bool, args []string) { s.RenameRepo(args[0], args[1]) }},
	"fail": {2, func(ts *testscript.TestScript, s *tracker, _ bool, args []string) {
		status, err := strconv.Atoi(args[0])
		ts.Check(err)
		message := http.StatusText(status)
		if len(args) > 2 {
			message = spelled(ts, args[2])
		}
		body, err := json.Marshal(map[string]string{"message": message})
		ts.Check(err)
		s.repair = s.Inject(githubtest.Fault{On: args[1], Instead: githubtest.Text(status, "application/json", string(body))})
	}},
	"limit": {2, func(_ *testscript.TestScript, s *tracker, _ bool, args []string) {
		s.repair = s.Inject(githubtest.Fault{On: args[1], Instead: githubtest.RateLimited(429, "slow down", "Retry-After", args[0])})
		s.ForgetRequests()
	}},
	"hang": {1, func(_ *testscript.TestScript, s *tracker, _ bool, args []string) {
		s.repair = s.Inject(githubtest.Fault{On: args[0], Instead: githubtest.Hang})
		s.ForgetRequests()
	}},
	"lose": {1, func(_ *testscript.TestScript, s *tracker, _ bool, args []string) {
		s.repair = s.Inject(githubtest.Fault{On: args[0], Mangle: func(w http.ResponseWriter, r *http.Request, _ githubtest.Answer) { githubtest.Hang(w, r) }})
		s.ForgetRequests()
	}},
	"says": {2, func(ts *testscript.TestScript, s *tracker, neg bool, args []string) {
		count := 1
		if text, ok := strings.CutPrefix(args[0], "-count="); ok {
			n, err := strconv.Atoi(text)
			ts.Check(err)
			count, args = n, args[1:]
		}
		repo, n := itemOf(ts, args[0])
		var said []string
		for _, c := range s.Comments(repo, n) {
			said = append(said, c.Body)
		}
		text := strings.Join(said, "\n")
		if got := len(regexp.MustCompile(args[1]).FindAllString(text, -1)); neg && got > 0 || !neg && got != count {
			ts.Fatalf("%s says it %d times:\n%s", args[0], got, text)
		}
	}},
	"repair": {0, func(_ *testscript.TestScript, s *tracker, _ bool, _ []string) { s.repair() }},
	"asked": {1, func(ts *testscript.TestScript, s *tracker, neg bool, args []string) {
		want := regexp.MustCompile(args[0])
		asked := func() bool { return slices.ContainsFunc(s.Requests(), want.MatchString) }
		switch {
		case neg && asked():
			ts.Fatalf("it was asked %s:\n%s", want, strings.Join(s.Requests(), "\n"))
		case !neg:
			eventually(ts, func() string {
				if asked() {
					return ""
				}
				return fmt.Sprintf("nobody asked %s:\n%s", want, strings.Join(s.Requests(), "\n"))
			})
		}
	}},
}

// spelled reads \n, \x1b and \u202e in a script's text, which can be seen there.
func spelled(ts *testscript.TestScript, text string) string {
	out, err := strconv.Unquote(`"` + strings.ReplaceAll(text, `"`, `\"`) + `"`)
	ts.Check(err)
	return out
}

// itemOf reads OWNER/REPO#N.
func itemOf(ts *testscript.TestScript, text string) (repo string, number int) {
	repo, digits, _ := strings.Cut(text, "#")
	number, err := strconv.Atoi(digits)
	ts.Check(err)
	return repo, number
}

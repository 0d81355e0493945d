package config

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Kind says what sort of thing a Problem is.
type Kind string

const (
	Invalid Kind = "invalid" // cannot be used: no start, and no reload
	Unknown Kind = "unknown" // a key nobody knows: a warning at start, an error in Check
	Unused  Kind = "unused"  // a key of the wider the-loop that does nothing here
	Advice  Kind = "advice"  // allowed, and probably not what was meant
	Missing Kind = "missing" // the poller does not start without it; other commands do. An error in Check
)

// Level is how bad a Problem is.
type Level string

const (
	LevelError   Level = "error"
	LevelWarning Level = "warning"
)

// Problem is one thing about the file that somebody should know.
type Problem struct {
	File    string
	Line    int // from 1; 0 with Column 0: about the file as a whole
	Column  int // from 1, in characters
	Key     string
	Kind    Kind
	Level   Level
	Message string // what is wrong, when Found does not say it all
	Found   string // what stands there, escaped and cut
	Allowed string // what may stand there
}

// String is file:line:col: key: message (allowed: …), one line unless Message
// has an example in it.
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.File)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	if p.Key != "" {
		b.WriteString(": " + p.Key)
	}
	b.WriteString(": " + p.what())
	if p.Allowed != "" {
		b.WriteString(" (allowed: " + p.Allowed + ")")
	}
	return b.String()
}

func (p Problem) what() string {
	switch {
	case p.Found == "":
		return p.Message
	case p.Message == "":
		return "found " + p.Found
	}
	return "found " + p.Found + ": " + p.Message
}

// InvalidError is returned when a file cannot be used. Problems holds its
// errors only, in the order of the file.
type InvalidError struct {
	Problems []Problem
}

// Error is one line per problem.
func (e *InvalidError) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// longestEcho keeps a pasted file or key out of messages.
const longestEcho = 80

// secretMarks begin tokens that people paste where a name belongs.
var secretMarks = [...]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "xoxb-", "xoxp-", "sk-ant-"}

// userInfo is a login or password in an address.
var userInfo = regexp.MustCompile(`://[^/\s]*@`)

func looksSecret(s string) bool {
	for _, mark := range secretMarks {
		if strings.Contains(s, mark) {
			return true
		}
	}
	return false
}

// quote makes any text safe to print: in quotes, on one line, cut, control and
// invisible characters as escapes, nothing that looks like a token.
func quote(s string) string {
	if looksSecret(s) {
		return "(hidden: it looks like a token)"
	}
	s = userInfo.ReplaceAllString(s, "://(hidden)@")
	if utf8.RuneCountInString(s) > longestEcho {
		s = string([]rune(s)[:longestEcho]) + "…"
	}
	return strconv.Quote(s)
}

// plain is quote without the quotes, for texts that are a sentence or a name.
func plain(s string) string {
	q := quote(s)
	return strings.TrimSuffix(strings.TrimPrefix(q, `"`), `"`)
}

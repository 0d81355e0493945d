package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// maxProblems keeps a file that is not a configuration at all from filling the
// terminal.
const maxProblems = 100

// reader gathers the problems of one file and where its values stood.
type reader struct {
	file     string
	problems []Problem
	at       map[string]place // of every value read, by its path
	refused  map[string]bool  // paths with an error at or below them
}

func newReader(file string) *reader {
	return &reader{file: file, at: map[string]place{}, refused: map[string]bool{}}
}

// add records a problem; without a kind it is an error.
func (r *reader) add(p Problem) {
	p.File = r.file
	if p.Kind == "" {
		p.Kind = Invalid
	}
	p.Level = LevelWarning
	if p.Kind == Invalid {
		p.Level = LevelError
		r.refuse(p.Key)
	}
	r.problems = append(r.problems, p)
}

// refuse marks path and all that it is below.
func (r *reader) refuse(path string) {
	for path != "" && !r.refused[path] {
		r.refused[path] = true
		path = path[:max(strings.LastIndexAny(path, ".["), 0)]
	}
}

// addAt records a problem with the value that was read at path.
func (r *reader) addAt(path string, p Problem) {
	at := r.at[path]
	p.Key, p.Line, p.Column = path, at.line, at.column
	r.add(p)
}

func (r *reader) invalid(path string, n ast.Node, allowed string) {
	at := position(n)
	r.add(Problem{Key: path, Line: at.line, Column: at.column, Found: found(n), Allowed: allowed})
}

// notText is invalid, with the remedy when YAML took a word for something else.
func (r *reader) notText(path string, n ast.Node, allowed string) {
	at := position(n)
	p := Problem{Key: path, Line: at.line, Column: at.column, Found: found(n), Allowed: allowed}
	if _, ok := scalar(n); ok {
		p.Message = "put it in quotes"
	}
	r.add(p)
}

// split returns the problems that make the file unusable, warnings the rest,
// both in the order of the file.
func (r *reader) split() (errors, warnings []Problem) {
	sortProblems(r.problems)
	for _, p := range r.problems {
		if p.Level == LevelError {
			errors = append(errors, p)
		} else {
			warnings = append(warnings, p)
		}
	}
	return errors, warnings
}

func capped(ps []Problem) []Problem {
	if len(ps) <= maxProblems {
		return ps
	}
	rest := ps[maxProblems]
	rest.Key, rest.Found, rest.Allowed = "", "", ""
	rest.Message = fmt.Sprintf("%d more like these from here on", len(ps)-maxProblems)
	return append(slices.Clip(ps[:maxProblems]), rest)
}

// foldUnused makes one warning of the keys that do nothing here: a file of the
// wider the-loop has twenty, and none is a mistake.
func foldUnused(warnings []Problem) []Problem {
	var names []string
	var kept []Problem
	for _, p := range warnings {
		if p.Kind == Unused {
			names = append(names, p.Key)
			continue
		}
		kept = append(kept, p)
	}
	if len(names) == 0 {
		return kept
	}
	return append(kept, Problem{File: warnings[0].File, Kind: Unused, Level: LevelWarning,
		Message: "not used here, they belong to the wider the-loop: " + strings.Join(names, ", ")})
}

// found says what stands in the file.
func found(n ast.Node) string {
	switch n := n.(type) {
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.BoolNode:
		return "the boolean " + plain(n.GetToken().Value)
	}
	if s, ok := stringValue(n); ok {
		return "text " + quote(s)
	}
	if raw, ok := scalar(n); ok {
		return "the number " + plain(raw)
	}
	return "something else"
}

func stringValue(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value, true
	case *ast.LiteralNode:
		if n.Value != nil {
			return n.Value.Value, true
		}
	}
	return "", false
}

// scalar is the text of a value as it stands in the file, whatever YAML takes
// it for.
func scalar(n ast.Node) (string, bool) {
	if s, ok := stringValue(n); ok {
		return s, true
	}
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return n.GetToken().Value, true
	}
	return "", false
}

var barePath = regexp.MustCompile(`^[A-Za-z0-9_-]{1,80}$`)

// printable is a key as it may stand in a path: quoted unless it is a word.
func printable(name string) string {
	if barePath.MatchString(name) && !looksSecret(name) {
		return name
	}
	return quote(name)
}

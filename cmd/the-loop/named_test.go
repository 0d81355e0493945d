package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// named finds the commands that a text tells people to use.
var named = regexp.MustCompile("['`]the-loop ([a-z][a-z-]*(?: [a-z][a-z-]*)?)")

// controlWord is said on a work item, not typed into a terminal.
var controlWord = regexp.MustCompile(`^(start|stop|pause|resume|do|contribute|cleanup)\b`)

// A message that sends people to a command sends them to one that there is.
func TestMessagesNameCommandsThatExist(t *testing.T) {
	exists := map[string]bool{}
	for _, leaf := range grammar(t).Model.Leaves(false) {
		exists[strings.TrimPrefix(leaf.FullPath(), "the-loop ")] = true
	}
	seen := 0
	eachString(t, func(at token.Position, text string) {
		for _, found := range named.FindAllStringSubmatch(text, -1) {
			if controlWord.MatchString(found[1]) {
				continue
			}
			seen++
			first, _, _ := strings.Cut(found[1], " ")
			if !exists[found[1]] && !exists[first] {
				t.Errorf("%s names 'the-loop %s', and there is no such command", at, found[1])
			}
		}
	})
	if seen == 0 {
		t.Error("no message names a command: that cannot be")
	}
}

// What the README tells people to type is understood.
func TestReadmeIsUnderstood(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(moduleRoot, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	lines := commandLines(string(text))
	if len(lines) < 5 {
		t.Errorf("the README shows these commands, and that cannot be all: %q", lines)
	}
	for _, line := range lines {
		command := strings.TrimPrefix(line, "the-loop ")
		if controlWord.MatchString(command) {
			continue
		}
		if err := understood(t, line); err != nil {
			t.Errorf("the README shows %q: %v", line, err)
		}
	}
}

var quoted = regexp.MustCompile("`(the-loop [a-z][^`\n]*)`")

// commandLines finds what a document shows of the program: in backticks, and as
// lines of blocks, with a prompt or without.
func commandLines(text string) (found []string) {
	block := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			block = !block
			continue
		}
		if line = strings.TrimPrefix(strings.TrimSpace(line), "$ "); block && strings.HasPrefix(line, "the-loop ") {
			found = append(found, line)
		}
		for _, match := range quoted.FindAllStringSubmatch(line, -1) {
			found = append(found, match[1])
		}
	}
	return found
}

// eachString visits the string literals of the module's sources.
func eachString(t *testing.T, visit func(token.Position, string)) {
	t.Helper()
	err := filepath.WalkDir(moduleRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
			return err
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					visit(files.Position(lit.Pos()), text)
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

package theloop_test

import (
	"fmt"
	"go/ast"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"
)

// claimed are the documents in which every paragraph, list item, table row and
// transcript says behind itself, in a comment that nobody sees, what shows it:
//
//	<!-- shown: store.TestBackup, cmd/the-loop.TestLifecycle/Kills, script stop -->
//	<!-- not shown: why there is nothing to show -->
var claimed = []string{"docs/state.md", "docs/moving.md"}

var (
	shown    = regexp.MustCompile(`<!-- shown: (.*?) -->`)
	notShown = regexp.MustCompile(`<!-- not shown: (.*?) -->`)
	listItem = regexp.MustCompile(`^(- |\d+\. )`)
	tableBar = regexp.MustCompile(`^\|[-| :]+\|$`)
)

// Every claim of a document that people act on has a test, and that test is
// there.
func TestClaimsAreShown(t *testing.T) {
	for _, doc := range claimed {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		all := claims(string(text))
		if len(all) < 5 {
			t.Errorf("%s: only %d claims were found", doc, len(all))
		}
		for _, c := range all {
			if problem := c.problem(t); problem != "" {
				t.Errorf("%s:%d: %s: %.60q", doc, c.line, problem, c.text)
			}
		}
	}
}

// claim is one block of a document.
type claim struct {
	line int
	text string
}

func (c claim) problem(t *testing.T) string {
	if why := notShown.FindStringSubmatch(c.text); why != nil {
		if len(strings.Fields(why[1])) < 4 {
			return "that is no reason"
		}
		return ""
	}
	by := shown.FindStringSubmatch(c.text)
	if by == nil {
		return "nothing is named that shows it"
	}
	for proof := range strings.SplitSeq(by[1], ", ") {
		if !exists(t, proof) {
			return fmt.Sprintf("%s is named and is not there", proof)
		}
	}
	return ""
}

// exists finds `script NAME`, or a test as `package.TestName` with a word of its
// source behind a slash.
func exists(t *testing.T, proof string) bool {
	if script, ok := strings.CutPrefix(proof, "script "); ok {
		_, err := os.Stat(path.Join("cmd/the-loop/testdata/script", script+".txtar"))
		return err == nil
	}
	dot := strings.LastIndex(proof, ".")
	if dot < 0 {
		return false
	}
	name, part, _ := strings.Cut(proof[dot+1:], "/")
	found, has := false, part == ""
	for _, f := range sources(t) {
		if !f.isTest || f.pkg != proof[:dot] {
			continue
		}
		for _, d := range f.tree.Decls {
			fn, ok := d.(*ast.FuncDecl)
			found = found || ok && fn.Recv == nil && fn.Name.Name == name && strings.HasPrefix(name, "Test")
		}
		if !has {
			text, _ := os.ReadFile(f.path)
			has = strings.Contains(string(text), `"`+part+`"`)
		}
	}
	return found && has
}

// claims cuts a document into its blocks; headings and the head of a table claim
// nothing.
func claims(text string) (all []claim) {
	lines := strings.Split(text, "\n")
	fenced, open := false, false
	for i, line := range lines {
		begins := false
		switch {
		case strings.HasPrefix(line, "```"):
			begins, fenced = !fenced, !fenced
		case fenced:
		case strings.TrimSpace(line) == "", strings.HasPrefix(line, "#"), tableBar.MatchString(line),
			i+1 < len(lines) && tableBar.MatchString(lines[i+1]):
			open = false
			continue
		default:
			begins = !open || listItem.MatchString(line) || strings.HasPrefix(line, "|")
		}
		if begins {
			all, open = append(all, claim{line: i + 1}), true
		}
		all[len(all)-1].text += line + "\n"
	}
	return all
}

// The rule finds what it is for.
func TestClaimsAreFound(t *testing.T) {
	all := claims("# Head\n\nOne\nclaim.\n<!-- shown: a -->\n\n- two\n  more\n- three\n\n| a | b |\n|---|---|\n| four | x |\n| five | y |\n\n```sh\nsix\n\nmore\n```\n<!-- shown: b -->\n")
	if len(all) != 6 || !strings.Contains(all[5].text, "shown: b") || !strings.Contains(all[0].text, "shown: a") || all[3].line != 13 {
		t.Errorf("%d claims: %v", len(all), all)
	}
	for text, want := range map[string]bool{
		"nothing":                false,
		"<!-- not shown: no -->": false,
		"<!-- not shown: it is a warning and no promise -->": true,
		"<!-- shown: store.TestNobodyWroteThis -->":          false,
		"<!-- shown: store.TestBackup -->":                   true,
		"<!-- shown: store.TestBackup, script nowhere -->":   false,
		"<!-- shown: cmd/the-loop.TestLifecycle/Kills -->":   true,
		"<!-- shown: cmd/the-loop.TestLifecycle/Nope -->":    false,
		"<!-- shown: script stop -->":                        true,
	} {
		if ok := (claim{text: text}).problem(t) == ""; ok != want {
			t.Errorf("%s: %t", text, ok)
		}
	}
}

//go:build unix

package tmux

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

func itoa(n int) string { return strconv.Itoa(n) }

// D8: values get into arguments through word, number, id and identity alone: nowhere else is a string made an arg.
func TestD8OnePlaceMakesArguments(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if to, ok := call.Fun.(*ast.Ident); ok && to.Name == "arg" {
					checked++
					if _, constant := call.Args[0].(*ast.BasicLit); !constant && fn.Name.Name != "word" && fn.Name.Name != "number" {
						t.Errorf("%s: %s makes an arg of a value", name, fn.Name.Name)
					}
				}
				return true
			})
		}
	}
	if checked < 2 {
		t.Errorf("%d conversions found: the test looks for the wrong thing", checked)
	}
}

// D8: every argument of every call, recorded with hostile texts in all that callers give: words, ids and numbers apart,
// what is left is the same constants whatever the texts are.
func TestD8RecordedArguments(t *testing.T) {
	t.Parallel()
	record := func(text string) []string {
		r := newRig(t)
		binary, log := r.recorder("")
		s := r.server(func(o *Options) { o.Binary = binary })
		s.exe = r.Server.exe
		order := r.order(r.logPath())
		order.Env, order.Prompt = []string{"X=" + text}, text
		order.Argv = append(order.Argv, text)
		sp := Spawn{Name: SessionName("github-o-r-1.2"), Owner: OwnerMark(testInstance, text), HarnessSession: text, Mark: Mark(text), Retain: true, Order: order}
		look, outcome, err := s.Spawn(t.Context(), sp)
		if outcome != OK {
			t.Fatal(outcome, err)
		}
		if err := s.Ready(t.Context(), look, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Error(err)
			}
		}
		must(s.Prove(t.Context(), look, look.Owner, Mark(text)))
		_, err = s.Paste(t.Context(), Paste{Look: look, Owner: look.Owner, Mark: Mark(text + "2"), Text: []byte(text)})
		must(err)
		must(s.Adopt(t.Context(), look, look.Owner, text, []string{Mark(text + "3")}))
		_, err = s.Capture(t.Context(), look)
		must(err)
		s.now = func() time.Time { return time.Now().Add(time.Hour) }
		r.tmux("set-buffer", "-b", s.prefix+Mark("left over"), text)
		must(s.Sweep(t.Context()))
		s.now = time.Now
		must(s.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true, Keep: true, Grace: 5 * time.Second}))
		look = s.Look(t.Context(), Target{Name: look.Name, Owner: look.Owner})
		sp.Mark = Mark(text + "4")
		look, outcome, err = s.Respawn(t.Context(), look, sp)
		if outcome != OK {
			t.Fatal(outcome, err)
		}
		must(s.Close(t.Context(), look, CloseOptions{Owner: look.Owner}))
		return shapes(t, log)
	}
	first, second := record("harmless"), record(strings.ToValidUTF8(nasty, "")+"\n-x\ttab")
	for shape := range setOf(first) {
		if !setOf(second)[shape] {
			t.Errorf("only with the harmless text: %.300s", shape)
		}
	}
	for shape := range setOf(second) {
		if !setOf(first)[shape] {
			t.Errorf("only with the hostile text: %.300s", shape)
		}
	}
	if len(setOf(first)) < 9 {
		t.Errorf("only %d kinds of calls were recorded: %q", len(setOf(first)), first)
	}
}

var values = regexp.MustCompile(`(x--)?[0-9a-f]{8,}|harmless|[0-9]+`)

// shapes are the recorded calls with all values of ours made one.
func shapes(t *testing.T, log string) []string {
	var list []string
	for _, args := range calls(t, log) {
		for _, a := range args {
			for _, bad := range []string{"touch", "pwned", "é", "\\;", "tab", harnessPath, "/the-loop", os.Args[0]} {
				if strings.Contains(a, bad) {
					t.Errorf("%q is in the argument %q", bad, a)
				}
			}
		}
		list = append(list, values.ReplaceAllString(strings.Join(args, " "), "N"))
	}
	return list
}

func setOf(list []string) map[string]bool {
	set := map[string]bool{}
	for _, s := range list {
		set[s] = true
	}
	return set
}

// D8: what is let in, and what is not.
func TestD8Words(t *testing.T) {
	for _, good := range []string{"a", "loop-octo_repo-1", "0a1b", "A_b-9"} {
		if a, err := word("x", good); err != nil || string(a) != good {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "-a", "a b", "a;", "#{a}", "a.b", "a:b", "é", "a\n", "$a", "%1", strings.Repeat("a", 513)} {
		if a, err := word("x", bad); err == nil {
			t.Errorf("%q was let in as %q", bad, a)
		}
	}
	for _, bad := range []string{"", "1", "%", "%-1", "%+1", "%1;", "@1", "%99999999999"} {
		if a, err := id("%", bad); err == nil {
			t.Errorf("%q was let in as %q", bad, a)
		}
	}
	for _, bad := range []string{"", "1/2", "1/2/3/4", "1/2/x", "1/-2/3", "1/2/3}"} {
		if a, err := identity(bad); err == nil {
			t.Errorf("%q was let in as %q", bad, a)
		}
	}
}

package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml/lexer"
	"pgregory.net/rapid"
)

func problemsOf(t *testing.T, file string) []Problem {
	t.Helper()
	_, _, err := Parse("f", []byte(file))
	var invalid *InvalidError
	if err != nil && !errors.As(err, &invalid) {
		t.Fatal(err)
	}
	if invalid == nil {
		return nil
	}
	return invalid.Problems
}

func TestSizeIsBounded(t *testing.T) {
	if got := problemsOf(t, strings.Repeat("#", maxBytes)); got != nil {
		t.Errorf("256 KiB: %v", got)
	}
	_, _, err := Load(write(t, strings.Repeat("#", maxBytes+5)))
	if err == nil || !strings.HasSuffix(err.Error(), ": the file has more than 262144 bytes (allowed: at most 262144)") {
		t.Errorf("more: %v", err)
	}
}

// The YAML parser takes minutes for nesting that fits into the size limit, and
// its stack is not ours to lose.
func TestNestingIsBoundedAndRefusedAtOnce(t *testing.T) {
	block := func(levels int) string {
		var b strings.Builder
		b.WriteString("service:\n")
		for i := 1; i < levels; i++ {
			b.WriteString(strings.Repeat(" ", i) + "a:\n")
		}
		return b.String()
	}
	for _, c := range []struct{ name, file, want string }{
		{"32 in flow", "service: " + strings.Repeat("[", 31) + strings.Repeat("]", 31), ""},
		{"33 in flow", "service: " + strings.Repeat("[", 32) + strings.Repeat("]", 32), "f:1:41"},
		{"32 in blocks", block(32), ""},
		{"33 in blocks", block(33), "f:33:33"},
		{"mixed", "service:\n" + strings.Repeat("- ", 20) + strings.Repeat("[", 20) + strings.Repeat("]", 20), "f:2:52"},
		{"brackets", strings.Repeat("[", 80_000), "f:1:33"},
		{"brackets, closed", strings.Repeat("[", 60_000) + strings.Repeat("]", 60_000), "f:1:33"},
		{"braces", strings.Repeat("{a: ", 60_000), "f:1:129"},
		{"entries", strings.Repeat("- ", 60_000), "f:1:65"},
		{"keys", strings.Repeat("? ", 60_000), "f:1:65"},
		{"anchors", strings.Repeat("&a ", 20_000), "f:1:1"},
		{"tags", strings.Repeat("! ", 20_000), "f:1:1"},
	} {
		begin := time.Now()
		got := problemsOf(t, c.file)
		if c.want == "" && got != nil {
			t.Errorf("%s: %v", c.name, got[0])
		}
		if c.want != "" && (got == nil || !strings.HasPrefix(got[0].String(), c.want+": ")) {
			t.Errorf("%s: %.200v, want %s", c.name, got, c.want)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%s: %s", c.name, took)
		}
	}
}

// Anchors and tags nest without brackets: many of them are refused unparsed.
func TestManyAnchorsAreNotParsed(t *testing.T) {
	for n, want := range map[int]bool{maxNesting: true, maxNesting + 1: false} {
		if got := newReader("f").checkTokens(lexer.Tokenize(strings.Repeat("&a ", n))); got != want {
			t.Errorf("%d anchors are parsed: %v", n, got)
		}
	}
}

func TestOneDocumentOnly(t *testing.T) {
	for file, want := range map[string]string{
		"---\npolling: {}\n":          "",
		"---\npolling: {}\n...\n":     "",
		"\ufeffpolling: {}\n":         "",
		"# nothing\n":                 "",
		"---\n":                       "",
		"a: 1\n---\n":                 "f:2:1",
		"---\na: 1\n---\nb: 1\n":      "f:3:1",
		"a: 1\n...\n---\nb: 1\n":      "f:3:1",
		"%YAML 1.2\n---\na: 1\n":      "f:1:1",
		"polling: {}\r\nrouting: 5\r": "f:2:10",
	} {
		got := ""
		if ps := problemsOf(t, file); ps != nil {
			got = fmt.Sprintf("f:%d:%d", ps[0].Line, ps[0].Column)
		}
		if got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}

// Whatever keys are wrong, each is told, on its line, and nothing else is.
func TestEveryWrongValueIsToldAtOnce(t *testing.T) {
	var paths []string
	for _, k := range Keys() {
		if strings.HasPrefix(k.Path, "routing.tmux.") || strings.HasPrefix(k.Path, "routing.harnessTrust.") {
			paths = append(paths, k.Path)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		var b strings.Builder
		var want []string
		b.WriteString("routing:\n")
		for _, section := range []string{"tmux", "harnessTrust"} {
			fmt.Fprintf(&b, "  %s:\n", section)
			for _, path := range paths {
				parent, name := split(path)
				if parent != "routing."+section || !rapid.Bool().Draw(t, path) {
					continue
				}
				fmt.Fprintf(&b, "    %s: {}\n", name)
				want = append(want, fmt.Sprintf("f:%d:%d: %s: found a mapping", strings.Count(b.String(), "\n"), 7+len(name), path))
			}
		}
		_, _, err := Parse("f", []byte(b.String()))
		var got []string
		if err != nil {
			got = strings.Split(err.Error(), "\n")
		}
		if len(got) != len(want) {
			t.Fatalf("%d problems, want %d: %v", len(got), len(want), err)
		}
		for i := range got {
			if !strings.HasPrefix(got[i], want[i]+" ") {
				t.Fatalf("got %s, want %s", got[i], want[i])
			}
		}
	})
}

func TestRepositoryGrammar(t *testing.T) {
	for s, want := range map[string]bool{
		"a/b": true, "octo-org/foo.js": true, "1a/_": true, "octocat_corp/-x-": true, "a/.github": true,
		strings.Repeat("o", 39) + "/" + strings.Repeat("r", 100): true,
		strings.Repeat("o", 40) + "/r":                           false, "o/" + strings.Repeat("r", 101): false,
		"": false, "/": false, "a/": false, "/b": false, "a/b/c": false, "a--b/c": false, "a-/c": false, "_a/c": false,
		"a/.": false, "a/..": false, "a/b\n": false, "ä/b": false, "a/b#1": false,
	} {
		if _, got := parseRepo(s); got != want {
			t.Errorf("parseRepo(%q) = %v", s, got)
		}
	}
}

// A5: what passes for a repository is harmless wherever it goes.
func TestRepositoriesAreHarmless(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[-A-Za-z0-9_./$()]{1,12}/[-A-Za-z0-9_./$()]{0,12}`)).Draw(t, "s")
		r, ok := parseRepo(s)
		if !ok {
			return
		}
		if r.String() != s || strings.Count(s, "/") != 1 || strings.HasPrefix(s, "-") || r.Name == "." || r.Name == ".." ||
			strings.ContainsAny(s, "$()`;&|<>\\ \n\"'*?[]#~=%:@") || len(r.Owner) > maxOwner || r.Name == "" {
			t.Fatalf("%q passes as %+v", s, r)
		}
	})
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"lable", "label", 1}, {"Label", "label", 0}, {"kitten", "sitting", 3}, {"abc", "xyz", 3}} {
		if got := distance(c.a, c.b); got != c.want {
			t.Errorf("distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
	word := rapid.StringMatching(`[a-d]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := distance(a, b)
		if d != distance(b, a) || (d == 0) != (a == b) || d > max(len(a), len(b)) {
			t.Fatalf("distance(%q, %q) = %d", a, b, d)
		}
	})
}

package config

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

const nameRules = "a name: a letter, then letters, digits, - or _, at most 32"

// builtins are the harnesses that need no entry under routing.harnesses.
func builtins() []string { return []string{"claude", "cursor"} }

// placeholders are what a harness's arguments are filled with.
func placeholders() []string { return []string{"{{prompt}}", "{{sessionId}}", "{{workItem}}"} }

var placeholderGrammar = regexp.MustCompile(`\{\{.*?\}\}`)

func harnessRows() []key[Harness] {
	return []key[Harness]{
		field("command", list(templateKind()), nil,
			"program and arguments of a fresh conversation; no shell",
			func(h *Harness) *[]string { return &h.Command }),
		field("resume", list(templateKind()), nil,
			"the same for one that goes on; empty: it cannot",
			func(h *Harness) *[]string { return &h.Resume }),
	}
}

func harnessKind() kind[Harness] {
	table := newSchema(harnessRows(), nil, nil)
	k := kind[Harness]{typ: "harness", allowed: "a mapping with command and, if it can, resume"}
	k.read = func(r *reader, path string, n ast.Node) (Harness, bool) {
		m, ok := n.(*ast.MappingNode)
		if !ok {
			r.invalid(path, n, k.allowed)
			return Harness{}, false
		}
		h := walk(r, table, path, m)
		if len(h.Command) == 0 && !r.refused[path+".command"] {
			r.addAt(path, Problem{Message: "command is missing", Allowed: "command: [PROGRAM, ARGUMENT…]"})
		}
		checkProgram(r, path+".command", h.Command)
		checkProgram(r, path+".resume", h.Resume)
		return h, true
	}
	return k
}

// checkProgram keeps texts of a tracker from choosing what is run.
func checkProgram(r *reader, path string, argv []string) {
	if len(argv) == 0 || r.refused[path] {
		return
	}
	if argv[0] == "" || strings.Contains(argv[0], "{{") {
		r.addAt(path+"[0]", Problem{Found: "text " + quote(argv[0]), Allowed: "the program to run, without placeholders"})
	}
}

// argumentKind is one argument of a command line, which may be empty.
func argumentKind() kind[string] {
	return text("text of at most 4096 bytes, without NUL", isArgument)
}

func isArgument(s string) bool { return len(s) <= 4096 && !strings.Contains(s, "\x00") }

// templateKind is an argument with placeholders.
func templateKind() kind[string] {
	allowed := "text; placeholders: " + strings.Join(placeholders(), ", ")
	return text(allowed, func(s string) bool {
		for _, p := range placeholderGrammar.FindAllString(s, -1) {
			if !slices.Contains(placeholders(), p) {
				return false
			}
		}
		return isArgument(s)
	})
}

// finishHarnesses refuses a default that names nobody, and names arguments for
// a harness that nobody defines.
func finishHarnesses(r *reader, c *Config) {
	known := builtins()
	for name := range c.Routing.Harnesses {
		known = append(known, name)
	}
	slices.Sort(known)
	known = slices.Compact(known)
	if name := c.Routing.DefaultHarness; !slices.Contains(known, name) && !r.refused[harnessesPath+"."+name] {
		r.addAt("routing.defaultHarness", Problem{Found: "text " + quote(name), Allowed: strings.Join(known, ", ")})
	}
	for name := range c.Routing.HarnessArgs {
		if !slices.Contains(known, name) {
			r.addAt("routing.harnessArgs."+name, Problem{Kind: Unknown,
				Message: fmt.Sprintf("no harness has this name; there are: %s", strings.Join(known, ", "))})
		}
	}
}

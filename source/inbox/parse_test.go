package inbox

import (
	"strings"
	"testing"
)

func TestParseItem(t *testing.T) {
	tests := []struct{ name, text, title, labels, body, wrong string }{
		{name: "all of it", text: "---\ntitle: A\nlabels: [x, y]\nstate: open\n---\nbody\nmore\n", title: "A", labels: "x|y", body: "body\nmore"},
		{name: "an unquoted label with a colon", text: "---\nlabels: [the-loop: auto-execute]\n---\n", labels: label},
		{name: "one a line", text: "---\nlabels:\n  - the-loop: auto-execute\n---\n", labels: label},
		{name: "a label that is a number", text: "---\nlabels: [7]\n---\n", labels: "7"},
		{name: "Windows line ends", text: "---\r\ntitle: A\r\n---\r\nbody\r\n", title: "A", body: "body"},
		{name: "no body", text: "---\ntitle: A\n---", title: "A"},
		{name: "empty front matter", text: "---\n---\nbody\n", body: "body\n"},
		{name: "other keys", text: "---\ntitle: A\ncolour: blue\n---\n", title: "A"},
		{name: "no front matter", text: "hello\n", wrong: "three hyphens"},
		{name: "no end", text: "---\ntitle: A\n", wrong: "does not end"},
		{name: "not YAML", text: "---\ntitle: [\n---\n", wrong: "front matter"},
		{name: "a list for a title", text: "---\ntitle: {a: b}\n---\n", wrong: "front matter"},
		{name: "an unknown state", text: "---\nstate: wontfix\n---\n", wrong: "open or closed"},
		{name: "a label of two pairs", text: "---\nlabels: [{a: b, c: d}]\n---\n", wrong: "quote it"},
		{name: "not text", text: "---\ntitle: \xff\n---\n", wrong: "UTF-8"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			it, err := parseItem([]byte(tt.text))
			if tt.wrong != "" {
				if err == nil || !strings.Contains(err.Error(), tt.wrong) {
					t.Errorf("error %v, want one with %q", err, tt.wrong)
				}
				return
			}
			if err != nil || it.Title != tt.title || strings.Join(it.Labels, "|") != tt.labels || it.Body != tt.body {
				t.Errorf("got %+v, %v", it, err)
			}
		})
	}
}

func TestParseName(t *testing.T) {
	good := map[string]string{
		"20260731T091158Z-octocat.md": "octocat", "20260731T091158Z-the-loop.md": "the-loop",
		"20260731T091158.25Z-user_name.md": "user_name",
	}
	for name, login := range good {
		if at, got, err := parseName(name); err != nil || got != login || at.Year() != 2026 {
			t.Errorf("%s: %s, %q, %v", name, at, got, err)
		}
	}
	for _, name := range []string{
		"notes.md", "20260731-octocat.md", "20260731T091158Z.md", "20260731T091158Z-.md", "20261331T091158Z-octocat.md",
		"20260731T091158Z--x.md", "20260731T091158Z-a b.md", "20260731T091158Z-$(x).md",
	} {
		if _, _, err := parseName(name); err == nil || !strings.Contains(err.Error(), "20260731T091158Z-octocat.md") {
			t.Errorf("%s: error %v, want one that shows a good name", name, err)
		}
	}
}

func TestNew(t *testing.T) {
	for _, o := range []Options{
		{Path: "x", Name: "demo", Label: label}, {Path: "x", Name: "../demo", Label: label},
		{Path: "x", Name: "a/b/c", Label: label}, {Path: "x", Name: "local/demo"}, {Name: "local/demo", Label: label},
	} {
		if s, err := New(o); err == nil {
			t.Errorf("New(%+v) made %s", o, s.ID())
		}
	}
}

package view_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"theloop/escape"
	"theloop/view"
)

// A8: links only to configured hosts.
func TestLink(t *testing.T) {
	hosts := []string{"github.com", "GHE.corp.example:8443", "[::1]:8080"}
	tests := []struct {
		url  string
		link bool
	}{
		{"https://github.com/octo/repo/issues/15#issuecomment-1", true},
		{"http://github.com/octo", true},
		{"https://GitHub.com/octo", true},
		{"https://github.com:443/octo", true},
		{"https://ghe.corp.example:8443/octo", true},
		{"http://[::1]:8080/", true},
		{"https://github.com/a%E2%80%AEb", true},

		{"", false},
		{"https://", false},
		{"https:///path", false},
		{"https://:443/", false},
		{"https://evil.example/github.com", false},
		{"https://github.com.evil.example/", false},
		{"https://github.com@evil.example/", false},
		{"https://octocat@github.com/", false},
		{"https://@github.com/", false},
		{`https://github.com\@evil.example/`, false},
		{"https://github.com:8443/", false},
		{"https://github.com:80/", false},
		{"https://ghe.corp.example/", false},
		{"https://github.com./", false},
		{"https:github.com/octo", false},
		{"//github.com/octo", false},
		{"javascript://github.com/%0aalert(1)", false},
		{"file:///etc/passwd", false},
		{"ssh://github.com/octo", false},
		{"https://gıthub.com/", false},
		{"https://github.com/\u202egpj", false},
		{"https://github.com/?q=\u202e", false},
		{"https://github.com/#\x1b[2J", false},
		{"https://github.com/ https://evil.example/", false},
		{"https://github.com/<b>", false},
	}
	for _, tt := range tests {
		got := view.Link(tt.url, hosts)
		if tt.link && got != tt.url {
			t.Errorf("%q is not linked: %q", tt.url, got)
		}
		if !tt.link && (strings.Contains(got, "://") || strings.ContainsFunc(got, escape.Hidden)) {
			t.Errorf("%q is shown as a link: %q", tt.url, got)
		}
		if again := escape.Line(got); again != got {
			t.Errorf("Line made %q of the link %q", again, got)
		}
	}
	if got := view.Link("https://github.com/", nil); got != `https:\u002f\u002fgithub.com/` {
		t.Errorf("without hosts: %q", got)
	}
}

// A8: in a text, too, only links to the configured hosts are left for a terminal to
// find.
func TestLinksInText(t *testing.T) {
	hosts := []string{"github.com"}
	for _, tt := range []struct{ text, want string }{
		{"Crash on start, see https://github.com/octo/repo/issues/1.", "Crash on start, see https://github.com/octo/repo/issues/1."},
		{"(https://github.com/octo)", "(https://github.com/octo)"},
		{"log in at https://evil.example/github.com", `log in at https:\u002f\u002fevil.example/github.com`},
		{"https://github.com/a https://evil.example", `https://github.com/a https:\u002f\u002fevil.example`},
		{"<HTTPS://EVIL.example>", `<HTTPS:\u002f\u002fEVIL.example>`},
		{"https://github.com.evil.example", `https:\u002f\u002fgithub.com.evil.example`},
		{"https://github.comу.example", `https:\u002f\u002fgithub.comу.example`}, // the letter is Cyrillic
		{"https://octocat@github.com", `https:\u002f\u002foctocat@github.com`},
		{`https://github.com\@evil.example`, `https:\u002f\u002fgithub.com\@evil.example`},
		{"x\u202ehttps://github.com/", `x\u202ehttps:\u002f\u002fgithub.com/`}, // what is escaped before it is part of the word
		{"file:///etc/passwd and ssh://github.com", `file:\u002f\u002f/etc/passwd and ssh:\u002f\u002fgithub.com`},
		{"a://", `a:\u002f\u002f`},
		{"://!", `:\u002f\u002f!`},
		{"no link: at all", "no link: at all"},
		{"two\nlines", `two\nlines`},
	} {
		if got := view.Links(tt.text, hosts); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.text, got, tt.want)
		}
	}
}

// toGitHub is what may stand behind "://": the host, and then nothing that would make
// another one of it.
var toGitHub = regexp.MustCompile(`^(?i:github\.com)(:(443|80))?[.,;:!?'*_~)\]]*($|[ "<>` + "`" + `/?#])`)

// A8
func TestLinksLeadNowhereElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		piece := rapid.OneOf(anyText(), rapid.SampledFrom([]string{"https://", "http:", "//", "github.com", "evil.example", "@", "/", " ", "."}))
		text := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "")
		got := view.Links(text, []string{"github.com"})
		if again := view.Links(got, []string{"github.com"}); again != got || escape.Line(got) != got {
			t.Fatalf("%q becomes %q, and that becomes %q", text, got, again)
		}
		for _, rest := range strings.Split(got, "://")[1:] {
			if !toGitHub.MatchString(rest) {
				t.Fatalf("%q becomes %q, which leads to %q", text, got, rest)
			}
		}
	})
}

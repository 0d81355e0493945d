package view_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"theloop/view"
)

// unsafeRune is the rule of A8 stated a second time, by category.
func unsafeRune(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
		unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point) ||
		// Cn: in no category at all.
		!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
}

// anyText draws strings rich in what must not be printed.
func anyText() *rapid.Generator[string] {
	hidden := rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
	return rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.OneOf(hidden, rapid.Rune(), rapid.RuneFrom([]rune("a \\\"\n\r\t漢é🎉\u0301")))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// A8
func TestLineShowsEverythingOnOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyText().Draw(t, "text")
		out := view.Line(in)
		if !utf8.ValidString(out) || strings.ContainsFunc(out, unsafeRune) {
			t.Fatalf("Line(%q) = %q", in, out)
		}
		if again := view.Line(out); again != out {
			t.Fatalf("a second Line made %q of %q", again, out)
		}
		if in != "" && out == "" {
			t.Fatalf("Line(%q) hides the whole text", in)
		}
	})
}

// A8: a reader can tell any two characters apart.
func TestLineOfEveryRune(t *testing.T) {
	seen := map[string]rune{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || sparse(r) && r%251 != 0 {
			continue
		}
		out := view.Line(string(r))
		if other, dup := seen[out]; dup {
			t.Fatalf("%U and %U both show as %q", r, other, out)
		}
		seen[out] = r
		escaped := out != string(r)
		if unsafeRune(r) && !escaped {
			t.Fatalf("%U is shown as it is", r)
		}
		if escaped && unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) &&
			!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && r != 0x2800 && r != 0x1d159 {
			t.Fatalf("%U can be seen, yet is escaped as %q", r, out)
		}
	}
}

// sparse reports the planes that hold no letters, of which samples do.
func sparse(r rune) bool {
	return r >= 0x40000 && r < 0xe0000 || r >= 0xf0000
}

// A8
func TestEscapeKeepsOnlyLineFeedsAndTabs(t *testing.T) {
	if got, want := view.Escape("a\r\nb\tc\rd\x1b[m\n"), "a\nb\tc\\rd\\u001b[m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := anyText().Draw(t, "text")
		out := view.Escape(in)
		bad := func(r rune) bool { return r != '\n' && r != '\t' && unsafeRune(r) }
		if !utf8.ValidString(out) || strings.ContainsFunc(out, bad) {
			t.Fatalf("Escape(%q) = %q", in, out)
		}
		if again := view.Escape(out); again != out {
			t.Fatalf("a second Escape made %q of %q", again, out)
		}
	})
}

// A8: the same characters are escaped in JSON, and nothing is lost by it.
func TestJSONIsSafeAndExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOf(anyText(), anyText()).Draw(t, "document")
		out, err := view.JSON(in)
		if err != nil {
			t.Fatal(err)
		}
		bad := func(r rune) bool { return r != '\n' && unsafeRune(r) }
		if !utf8.Valid(out) || strings.ContainsFunc(string(out), bad) {
			t.Fatalf("JSON(%q) = %q", in, out)
		}
		var back map[string]string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		for key, value := range in {
			if utf8.ValidString(key) && utf8.ValidString(value) && back[key] != value {
				t.Fatalf("%q came back as %q", value, back[key])
			}
		}
	})
}

func TestJSONIsOneDocument(t *testing.T) {
	out, err := view.JSON(struct {
		Zulu  string          `json:"zulu"`
		Alpha json.RawMessage `json:"alpha"`
	}{"<&>", json.RawMessage("\"\xff\u202e\"")})
	want := "{\n  \"zulu\": \"<&>\",\n  \"alpha\": \"\\ufffd\\u202e\"\n}\n"
	if err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
	if _, err := view.JSON(math.NaN()); err == nil {
		t.Error("NaN was encoded")
	}
}

// A8: a hundred thousand characters are no reason to be slow.
func TestLineOfLongText(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	if view.Line(long) != long {
		t.Error("a long harmless text was changed")
	}
	if got := view.Line(strings.Repeat("\u202e", 100_000)); got != strings.Repeat(`\u202e`, 100_000) {
		t.Error("a long hostile text was not escaped throughout")
	}
}

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
		if !tt.link && (strings.Contains(got, "://") || strings.ContainsFunc(got, unsafeRune)) {
			t.Errorf("%q is shown as a link: %q", tt.url, got)
		}
		if again := view.Line(got); again != got {
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
		if again := view.Links(got, []string{"github.com"}); again != got || view.Line(got) != got {
			t.Fatalf("%q becomes %q, and that becomes %q", text, got, again)
		}
		for _, rest := range strings.Split(got, "://")[1:] {
			if !toGitHub.MatchString(rest) {
				t.Fatalf("%q becomes %q, which leads to %q", text, got, rest)
			}
		}
	})
}

package policy

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// markdown draws texts that are made of what means something: marks, keywords,
// words, line ends.
func markdown() *rapid.Generator[string] {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"the-loop start", "the-loop stop", "The-Loop  Pause", "the-loop", " start", "word", " ", "\n", "\n\n", "\r\n", "\t",
			"> ", ">", "- ", "1. ", "# ", "    ", "```", "~~~", "`", "``", "*", "**", "_", "~~", "<!--", "-->", "<b>", "</b>",
			"<code>", "</code>", "<blockquote>", "</blockquote>", "<div>", "</div>", "<pre>", "[", "]", "(", ")", "![", "](x)", "[x]: /y",
			"<https://", ">", "https://x/", "&", "&amp;", "&#45;", "\\", "\u200F", "\u0301", "é", "🚀", "-", ":", ".", "---", "===", "'", "\"",
		}),
		rapid.String(),
	)
	return rapid.Map(rapid.SliceOfN(piece, 0, 24), func(s []string) string { return strings.Join(s, "") })
}

func prefixed(mark, body string) string {
	return mark + strings.ReplaceAll(body, "\n", "\n"+mark)
}

// unfenced keeps a text from ending the fence or comment it is put into.
func unfenced(body string) string {
	return strings.NewReplacer("\r", "", "~~~", "", "-->", "", "--", "-", ">", "").Replace(body)
}

func obeyed(f Found) bool { return f.Command != "" || f.Ambiguous != nil }

func TestQuotedOrHiddenWordsAreNeverObeyed(t *testing.T) { // X3
	p := shipped()
	wraps := map[string]func(string) string{
		"a quote": func(s string) string { return prefixed("> ", strings.ReplaceAll(s, "\r", "\n")) },
		"a fence": func(s string) string { return "~~~\n" + unfenced(s) + "\n~~~" },
		"a fence in a list": func(s string) string {
			return "- x\n" + prefixed("  ", "~~~\n"+unfenced(s)+"\n~~~")
		},
		"indented code":   func(s string) string { return prefixed("    ", strings.ReplaceAll(s, "\r", "\n")) },
		"an HTML comment": func(s string) string { return "<!-- " + unfenced(s) + " -->" },
	}
	rapid.Check(t, func(t *rapid.T) {
		body := markdown().Draw(t, "body")
		for name, wrap := range wraps {
			if got := p.Commands(wrap(body)); obeyed(got) {
				t.Fatalf("in %s %q gives %+v", name, wrap(body), got)
			}
		}
	})
}

func TestQuotesAroundAKeywordChangeNothing(t *testing.T) { // X3
	p := shipped()
	rapid.Check(t, func(t *rapid.T) {
		quote := prefixed("> ", strings.ReplaceAll(markdown().Draw(t, "quote"), "\r", "\n"))
		c := rapid.SampledFrom(AllCommands()).Draw(t, "command")
		body := quote + "\n\n" + p.Keyword(c) + "\n\n" + quote
		if got := p.Commands(body); got.Command != c || got.Words {
			t.Fatalf("Commands(%q) = %+v, want %s alone", body, got, c)
		}
	})
}

func TestAKeywordAmongPlainWords(t *testing.T) { // X3
	p := shipped()
	word := rapid.StringMatching(`[a-zA-Z]{1,8}[,.!?]?`)
	rapid.Check(t, func(t *rapid.T) {
		c := rapid.SampledFrom(AllCommands()).Draw(t, "command")
		front := rapid.SliceOfN(word, 0, 5).Draw(t, "front")
		behind := rapid.SliceOfN(word, 0, 5).Draw(t, "behind")
		space := rapid.StringMatching(`[ \t]{1,3}`).Draw(t, "space")
		said := strings.ReplaceAll(p.Keyword(c), " ", space)
		if rapid.Bool().Draw(t, "capitals") {
			said = strings.ToUpper(said)
		}
		body := strings.Join(append(append(front, said), behind...), " ")
		got := p.Commands(body)
		if got.Command != c || got.Words != (len(front)+len(behind) > 0) {
			t.Fatalf("Commands(%q) = %+v, want %s", body, got, c)
		}
		for _, glued := range []string{"x" + said, said + "x", "-" + said, said + "-", ":" + said, said + ":"} {
			if got := p.Commands(glued); obeyed(got) {
				t.Fatalf("Commands(%q) = %+v", glued, got)
			}
		}
	})
}

func TestLineEndsDoNotMatter(t *testing.T) { // X3
	p := shipped()
	rapid.Check(t, func(t *rapid.T) {
		body := strings.ReplaceAll(markdown().Draw(t, "body"), "\r", "")
		want := p.Commands(body)
		for _, end := range []string{"\r\n", "\r"} {
			if diff := cmp.Diff(want, p.Commands(strings.ReplaceAll(body, "\n", end))); diff != "" {
				t.Fatalf("%q with line ends %q:\n%s", body, end, diff)
			}
		}
	})
}

func TestAnyKeywordIsFoundByItself(t *testing.T) { // X3
	rapid.Check(t, func(t *rapid.T) {
		// Signs that mean nothing in Markdown, and letters of several scripts.
		text := rapid.StringMatching(`[a-zäßЖ日$^?.+(){}|/@%;,'"=]{1,6}( [a-zäßЖ日$^?.|/@%;,'"=]{1,6}){0,2}`).Draw(t, "keyword")
		if strings.Contains(text, "://") || strings.HasPrefix(text, "www.") || strings.HasPrefix(text, "+ ") {
			t.Skip("an address or a list item")
		}
		p := keyed(text)
		for _, body := range []string{text, "> no\n\n" + text + "\n", "say \"" + text + "\" now"} {
			if text[0] == '=' || strings.HasPrefix(text, "+") || text[0] >= '0' && text[0] <= '9' {
				continue // a heading's line, a list
			}
			if got := p.Commands(body); got.Command != Start {
				t.Fatalf("keyword %q: Commands(%q) = %+v", text, body, got)
			}
		}
	})
}

func FuzzCommands(f *testing.F) { // X3
	for _, body := range []string{
		"the-loop start", "> the-loop stop\n\nthe-loop start", "```\nthe-loop start\n```", "<!-- the-loop start -->", "[a](<b", "&#x110000;",
		"~~a ~b", "<a b='", "[x]: /y 'z", "- > 1. `", "\\", "&", "<", "\xff", "\uFEFF", "***a**", "![[", "[x]:\n",
	} {
		f.Add(body, "the-loop start")
	}
	f.Fuzz(func(t *testing.T, body, text string) {
		for _, p := range []Policy{shipped(), keyed(text)} {
			got := p.Commands(body)
			if got.Command != "" && got.Ambiguous != nil || len(got.Ambiguous) == 1 {
				t.Errorf("Commands(%q) = %+v", body, got)
			}
			if diff := cmp.Diff(got, p.Commands(body)); diff != "" {
				t.Errorf("Commands(%q) changes its mind:\n%s", body, diff)
			}
		}
		if utf8.ValidString(body) && obeyed(shipped().Commands(prefixed("> ", strings.ReplaceAll(body, "\r", "\n")))) {
			t.Errorf("a quote of %q is obeyed", body)
		}
	})
}

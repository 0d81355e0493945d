package policy

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// tooLong is far above what any text may take, so that a slow machine passes,
// and far below what the parser takes for the same text without limits.
const tooLong = 15 * time.Second

// filled repeats a piece up to size bytes.
func filled(piece string, size int) string { return strings.Repeat(piece, size/len(piece)) }

// hostile are texts that Markdown parsers, or the search behind them, are slow on.
func hostile(size int) []string {
	ticks := &strings.Builder{}
	for i := 1; ticks.Len() < size; i++ {
		ticks.WriteString(strings.Repeat("`", i) + " ")
	}
	texts := []string{ticks.String(), filled("\u200B", size/2) + filled("a", size/2)}
	for _, piece := range []string{
		"> ", "- ", "1. ", "> - ", ">\n", "- a\n", "[a](<b", "![", "]", "[a]", "*a ", "**a *b _c ", "~~a ~b ", "a`", "<", "<a b='", "a<!--",
		"[a]: /u\n", "&amp;", "&", "\\", "\t", "<code>", "<div>\n\n", "/", "go ", "go\u200B", "go\u0301", "x://", "www.",
	} {
		texts = append(texts, filled(piece, size))
	}
	return texts
}

func TestHostileTextsTakeBoundedTime(t *testing.T) { // X3
	size := 16 << 10
	if os.Getenv("SOAK") != "" {
		size = maxBody
	}
	texts := append(hostile(size),
		// These two would take minutes without a limit.
		filled(">", maxBody), filled("[", maxBody/2)+filled("]", maxBody/2))
	for _, p := range []Policy{shipped(), keyed("go"), keyed("/")} {
		for _, body := range texts {
			began := time.Now()
			p.Commands(body)
			if took := time.Since(began); took > tooLong {
				t.Errorf("%.20q and so on: %v", body, took)
			}
		}
	}
}

func TestTextsBeyondTheLimitsHaveNoKeyword(t *testing.T) { // X3
	const said = "\n\nthe-loop start"
	for _, tt := range []struct {
		why, body string
		want      Command
	}{
		{"64 KiB of words", filled("word ", 64<<10) + said, Start},
		{"64 KiB of an emoji", filled("🚀", 64<<10) + said, Start},
		{"64 KiB of task list", filled("- [ ] work\n", 64<<10) + said, Start},
		{"as many links as are followed", filled("word ", 240<<10) + said + filled(" [a](b)", 13<<10), Start},
		{"64 KiB of brackets in code", "```\n" + filled("[[1,2],[3,4]],", 64<<10) + "\n```" + said, Start},
		{"a long rule", strings.Repeat("-", 1000) + said, Start},
		{"the most that a tracker has", filled("x", maxBody-len(said)) + said, Start},
		{"more than a tracker has", filled("x", maxBody) + said, ""},
		{"quotes as deep as is read", strings.Repeat(">", maxDepth) + said, Start},
		{"quotes deeper than that", strings.Repeat(">", maxDepth+1) + said, ""},
		{"lists deeper than that", strings.Repeat("1. - ", maxDepth) + said, ""},
		{"more links than are followed", filled("word ", 240<<10) + said + filled(" [a](b)", 15<<10), ""},
	} {
		if got := shipped().Commands(tt.body); got.Command != tt.want || tt.want == "" && !got.Words {
			t.Errorf("%s: %+v, want %q", tt.why, got, tt.want)
		}
	}
}

func TestLinksAreFollowedUpToTheirLimit(t *testing.T) { // X3
	const most, more = 3, 10
	links := &boundedLinks{left: most}
	doc := newParser(links).Parse(text.NewReader([]byte(strings.Repeat("[a](b) ", more))))
	found := 0
	for n := doc.FirstChild().FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() == ast.KindLink {
			found++
		}
	}
	if found != most || links.left >= 0 {
		t.Errorf("%d links of %d were followed and %d are left; %d are allowed", found, more, links.left, most)
	}
}

func BenchmarkCommands(b *testing.B) {
	p := shipped()
	comment := "> the-loop stop?\n\nNo: **the-loop start**, and use `make check` ([docs](https://example.com)).\n\n```sh\nmake\n```\n\n"
	body := strings.Repeat("- It fails when *two* of them run at once; see <b>below</b> &amp; <https://example.com>.\n", 42) + "\n" + comment
	if p.Commands(body).Command != Start || len(body) < 3<<10 {
		b.Fatal("the text is not what it should be")
	}
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		p.Commands(body)
	}
}

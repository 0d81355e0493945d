package policy

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// The Markdown parser takes time in the square of some texts' length. A text
// beyond these limits has no keyword; none that a person writes is.
const (
	// maxBody is the most that a tracker's 65 536 characters have in bytes.
	maxBody = 256 << 10
	// maxDepth is how many marks of quotes and lists may stand in front of one
	// line: 64 KiB of them take more than a second.
	maxDepth = 250
	// maxLinkWork bounds closing brackets times length in bytes: each bracket may
	// have the rest of the text searched for the end of its link. It allows 8192
	// links in 64 KiB.
	maxLinkWork = 1 << 29
)

// newParser returns a CommonMark parser with GitHub's strikethrough.
func newParser(links *boundedLinks) parser.Parser {
	return parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(links, 200),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
			util.Prioritized(parser.NewEmphasisParser(), 500),
			util.Prioritized(extension.NewStrikethroughParser(), 500),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
}

// boundedLinks parses links as Markdown does until it has looked for the ends of
// so many; then left is negative and what was parsed is of no use.
type boundedLinks struct{ left int }

// Trigger names the characters that links and pictures begin and end with.
func (b *boundedLinks) Trigger() []byte { return parser.NewLinkParser().Trigger() }

// Parse parses one bracket.
func (b *boundedLinks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	if line, _ := block.PeekLine(); line[0] == ']' {
		b.left--
	}
	if b.left < 0 {
		return nil
	}
	return parser.NewLinkParser().Parse(parent, block, pc)
}

// CloseBlock makes plain text of the brackets that were never closed.
func (b *boundedLinks) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := parser.NewLinkParser().(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// tooDeep reports whether a line of the body could open more quotes and lists
// within each other than maxDepth.
func tooDeep(body string) bool {
	for line := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(line) > maxDepth && depth(line) > maxDepth {
			return true
		}
	}
	return false
}

// depth counts the marks of quotes and list items in front of a line.
func depth(line string) int {
	n := 0
	for i := range len(line) {
		spaceNext := i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t')
		switch c := line[i]; {
		case c == '>':
			n++
		case strings.IndexByte("-+*.)", c) >= 0 && spaceNext:
			n++
		case c == ' ' || c == '\t' || '0' <= c && c <= '9':
		default:
			return n
		}
	}
	return n
}

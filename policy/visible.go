package policy

import (
	"html"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// visible is what a reader sees of a text as its author's own words.
type visible struct {
	// text is folded; blocks and lines are parted by line breaks.
	text string
	// more says that there is something else of the author's to be seen that no
	// keyword is looked for in: code, a picture, a link, HTML.
	more bool
}

// read parses the body as Markdown and returns what is visible of it. It is not
// ok when the body is beyond what is read (bounds.go).
func read(body string) (visible, bool) {
	if len(body) > maxBody || tooDeep(body) {
		return visible{}, false
	}
	source := []byte(normalized(body))
	brackets := &boundedLinks{left: maxLinkWork / (len(source) + 1)}
	doc := newParser(brackets).Parse(text.NewReader(source))
	if brackets.left < 0 {
		return visible{}, false
	}
	r := reader{source: source}
	r.children(doc)
	return visible{text: folded(r.out.String()), more: r.more}, true
}

// normalized undoes what parsers disagree about: a byte order mark hides the
// mark of a block quote behind it, and line ends come in three forms.
func normalized(body string) string {
	body = strings.TrimPrefix(body, "\uFEFF")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(body)
}

// reader collects the visible words of a parsed text.
type reader struct {
	source []byte
	out    strings.Builder
	more   bool
	// html holds the elements that are open in the author's own HTML.
	html elements
}

// children reads what is inside n.
func (r *reader) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.node(c)
		if c.Type() == ast.TypeBlock {
			r.out.WriteByte('\n')
		}
	}
}

// node reads n: here it is decided what are the author's own visible words.
func (r *reader) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		r.words(n)
	case *ast.Blockquote, *ast.LinkReferenceDefinition: // somebody else's; not to be seen
	case *extast.Strikethrough: // taken back
		r.out.WriteRune(gap)
	case *ast.CodeSpan, *ast.CodeBlock, *ast.FencedCodeBlock, *ast.Image, *ast.AutoLink:
		r.other()
	case *ast.RawHTML:
		r.tags(string(n.Segments.Value(r.source)))
	case *ast.HTMLBlock:
		r.htmlBlock(n)
	default:
		r.children(n)
	}
}

// words reads a piece of plain text, and the line break behind it.
func (r *reader) words(n *ast.Text) {
	value := string(n.Value(r.source))
	switch {
	case r.html.foreign():
	case r.html.code():
		r.more = r.more || hasWord(value)
		r.out.WriteRune(gap)
	default:
		r.out.WriteString(unescaped(value))
	}
	if n.SoftLineBreak() || n.HardLineBreak() {
		r.out.WriteByte('\n')
	}
}

// other notes something that is to be seen and is not searched.
func (r *reader) other() {
	r.out.WriteRune(gap)
	if !r.html.foreign() {
		r.more = true
	}
}

// tags reads inline HTML. A break parts words as it does on the page; other tags
// and comments leave no trace there.
func (r *reader) tags(raw string) {
	for name := range r.html.read(raw) {
		if name == "br" {
			r.out.WriteByte('\n')
		}
	}
}

// htmlBlock reads a block of HTML. Its text is not searched, but it is
// something that the author has to say.
func (r *reader) htmlBlock(n *ast.HTMLBlock) {
	raw := string(n.Lines().Value(r.source))
	if n.HasClosure() {
		raw += string(n.ClosureLine.Value(r.source))
	}
	for _, said := range r.html.read(raw) {
		if !r.html.foreign() && hasWord(said) {
			r.more = true
		}
	}
}

// maxReference is longer than the longest named character of HTML, in bytes.
const maxReference = 40

// unescaped resolves the backslashes and character references of Markdown text.
func unescaped(s string) string {
	if !strings.ContainsAny(s, `\&`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) && util.IsPunct(s[i+1]) {
			i++
			b.WriteByte(s[i])
			continue
		}
		reference := referenceAt(s[i:])
		if reference == "" {
			b.WriteByte(s[i])
			continue
		}
		b.WriteString(html.UnescapeString(reference))
		i += len(reference) - 1
	}
	return b.String()
}

// referenceAt returns what has the form of a character reference at the front of
// s, `&amp;` or `&#38;`, and "" when nothing has.
func referenceAt(s string) string {
	end := strings.IndexByte(s[:min(len(s), maxReference)], ';')
	if s[0] != '&' || end < 0 {
		return ""
	}
	for _, c := range []byte(s[1:end]) {
		if c != '#' && !util.IsAlphaNumeric(c) {
			return ""
		}
	}
	return s[:end+1]
}

package github

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"theloop/workitem"
)

const (
	// maxWords is the most that GitHub's 65 536 characters have in bytes.
	maxWords = 256 << 10
	// maxMarks is how many marks of quotes and lists may begin a line: the
	// Markdown parser takes time in the square of them.
	maxMarks = 250
	// maxWordRefs is how many issues one body can close: nobody works on more.
	maxWordRefs = 100
	// gap stands where something is to be seen that closes nothing.
	gap = " \uFFFC "
)

// closingWords returns the issues that a pull request's body closes by
// GitHub's own words, each once, in the order of the text: `closes #12`,
// `Fixes: octo/other#3`, `resolves GH-4`, `fixed https://HOST/octo/repo/issues/5`.
// home is any ref of the pull request's own repository; addresses on other
// hosts name nothing.
//
// Only words in plain text count: not what is quoted, in code, in a comment or
// in other HTML. A body that is longer than GitHub takes, or nested deeper than
// anybody writes, closes nothing.
func closingWords(home workitem.Ref, body string) []workitem.Ref {
	if len(body) > maxWords || tooDeep(body) {
		return nil
	}
	var refs []workitem.Ref
	seen := map[string]bool{}
	words := strings.Fields(plainText(body))
	for i := 1; i < len(words) && len(refs) < maxWordRefs; i++ {
		if !isClosingWord(words[i-1]) {
			continue
		}
		if ref, ok := issueNamed(home, words[i]); ok && !seen[ref.Key()] {
			seen[ref.Key()] = true
			refs = append(refs, ref)
		}
	}
	return refs
}

// emphasis is what Markdown puts around words, which are read unparsed.
const emphasis = "*_~"

func isClosingWord(word string) bool {
	word = strings.TrimSuffix(strings.Trim(word, emphasis), ":")
	word = strings.TrimLeft(strings.Trim(word, emphasis), `([{"'`)
	switch strings.ToLower(word) {
	case "close", "closes", "closed", "fix", "fixes", "fixed", "resolve", "resolves", "resolved":
		return true
	}
	return false
}

// issueName is an issue's name as text: of this repository, of another one.
var issueName = regexp.MustCompile(`^(?:(?:([A-Za-z0-9_-]+)/([A-Za-z0-9._-]+))?#|[Gg][Hh]-)([1-9][0-9]*)`)

// issueNamed reads the name or the address of an issue at the front of a word.
func issueNamed(home workitem.Ref, word string) (workitem.Ref, bool) {
	word = strings.TrimLeft(word, emphasis)
	if strings.Contains(word, "://") {
		return issueAt(home, word)
	}
	found := issueName.FindStringSubmatch(word)
	if found == nil {
		return workitem.Ref{}, false
	}
	behind := strings.TrimLeft(word[len(found[0]):], emphasis)
	if next, _ := utf8.DecodeRuneInString(behind); next == '-' || unicode.IsLetter(next) || unicode.IsNumber(next) {
		return workitem.Ref{}, false
	}
	number, err := strconv.Atoi(found[3])
	if err != nil {
		return workitem.Ref{}, false
	}
	ref, err := workitem.NewRef(home.Provider, home.Host, nonEmpty(found[1], home.Owner), nonEmpty(found[2], home.Repo), number)
	return ref, err == nil
}

// issueAt reads an issue's web address on the same host.
func issueAt(home workitem.Ref, word string) (workitem.Ref, bool) {
	address := strings.TrimRight(word, emphasis+"`.,;:!?)]}>\"'")
	ref, err := workitem.ParseRefOrURL(address)
	ok := err == nil && sameHost(ref.Host, home.Host) && strings.Contains(strings.ToLower(address), "/issues/")
	return ref, ok
}

// plainText returns what a body says in plain text. Links and emphasis are left
// as they are written: they close nothing by themselves, and a parser of them
// takes time in the square of some texts' length.
func plainText(body string) string {
	source := []byte(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(strings.TrimPrefix(body, "\uFEFF")))
	markdown := parser.NewParser(
		parser.WithBlockParsers(parser.DefaultBlockParsers()...),
		parser.WithInlineParsers(
			util.Prioritized(parser.NewCodeSpanParser(), 100),
			util.Prioritized(parser.NewAutoLinkParser(), 300),
			util.Prioritized(parser.NewRawHTMLParser(), 400),
		),
		parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
	)
	r := plainReader{source: source}
	r.children(markdown.Parse(text.NewReader(source)))
	return r.out.String()
}

// plainReader collects the plain text of a parsed body.
type plainReader struct {
	source []byte
	out    strings.Builder
	html   silentHTML
}

func (r *plainReader) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.node(c)
		if c.Type() == ast.TypeBlock {
			r.out.WriteString(gap)
		}
	}
}

// node reads n. Blocks of code and definitions of links hold no text.
func (r *plainReader) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		r.say(n.Value(r.source))
		if n.SoftLineBreak() || n.HardLineBreak() {
			r.out.WriteByte('\n')
		}
	case *ast.AutoLink:
		r.say(n.Label(r.source))
	case *ast.Blockquote, *ast.CodeSpan:
		r.out.WriteString(gap)
	case *ast.RawHTML:
		r.html.read(string(n.Segments.Value(r.source)))
	case *ast.HTMLBlock:
		r.html.read(string(n.Lines().Value(r.source)))
		if n.HasClosure() {
			r.html.read(string(n.ClosureLine.Value(r.source)))
		}
	default:
		r.children(n)
	}
}

func (r *plainReader) say(words []byte) {
	if r.html.open() {
		r.out.WriteString(gap)
		return
	}
	r.out.Write(words)
}

// tooDeep reports whether a line of the body begins with more marks of quotes
// and lists than anybody writes.
func tooDeep(body string) bool {
	for line := range strings.FieldsFuncSeq(body, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if len(line) > maxMarks && marks(line) > maxMarks {
			return true
		}
	}
	return false
}

func marks(line string) int {
	n := 0
	for i := range len(line) {
		switch c := line[i]; {
		case c == '>':
			n++
		case strings.IndexByte("-+*.)", c) >= 0 && i+1 < len(line) && (line[i+1] == ' ' || line[i+1] == '\t'):
			n++
		case c == ' ' || c == '\t' || '0' <= c && c <= '9':
		default:
			return n
		}
	}
	return n
}

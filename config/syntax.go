package config

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxBytes   = 256 << 10 // what a person writes by hand is a hundredth of it
	maxNesting = 32        // the deepest key of ours is at 5; the YAML parser is quadratic in it
)

// parse turns text into a tree that keeps to the part of YAML which this file
// may use. It reports everything it finds and returns nil when there is
// nothing to read on.
func (r *reader) parse(data []byte) ast.Node {
	if len(data) > maxBytes {
		r.add(Problem{Message: fmt.Sprintf("the file has more than %d bytes", maxBytes), Allowed: fmt.Sprintf("at most %d", maxBytes)})
		return nil
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !r.checkBytes(data) {
		return nil
	}
	tokens := lexer.Tokenize(string(data))
	if !r.checkTokens(tokens) {
		return nil
	}
	file := r.parseTokens(tokens)
	if file == nil {
		return nil
	}
	return r.oneDocument(file)
}

// checkBytes refuses what YAML forbids and the parser lets through: text that
// is not UTF-8, and control characters.
func (r *reader) checkBytes(data []byte) bool {
	line, column := 1, 1
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && size == 1 {
			r.add(Problem{Line: line, Column: column, Message: "not UTF-8 text: save the file as UTF-8"})
			return false
		}
		if (c < ' ' && c != '\t' && c != '\n' && c != '\r') || c == 0x7f {
			r.add(Problem{Line: line, Column: column, Found: fmt.Sprintf("the control character %U", c), Message: "remove it"})
			return false
		}
		if c == '\n' {
			line, column = line+1, 0
		}
		i, column = i+size, column+1
	}
	return true
}

// checkTokens refuses the parts of YAML that hide what a file says, and
// nesting that would keep the parser busy for minutes. It returns false when
// parsing could.
func (r *reader) checkTokens(tokens token.Tokens) bool {
	flow, entries, line := 0, 0, 0
	for _, tk := range tokens {
		if tk.Position.Line != line {
			line, entries = tk.Position.Line, 0
		}
		if feature := forbidden(tk.Type); feature != "" {
			r.add(Problem{Line: line, Column: tk.Position.Column, Found: feature, Message: "write the value out where it is used"})
		}
		switch tk.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow--
		case token.SequenceEntryType, token.MappingKeyType:
			entries++ // each on one line is inside the one before it
		}
		if flow > maxNesting || entries > maxNesting {
			r.nesting(place{line, tk.Position.Column})
			return false
		}
	}
	// Anchors and tags nest too: a file of them alone is refused unparsed.
	return len(r.problems) <= maxNesting
}

func (r *reader) nesting(at place) {
	r.add(Problem{Line: at.line, Column: at.column,
		Message: "lists and mappings nest too deep here", Allowed: fmt.Sprintf("%d levels", maxNesting)})
}

func forbidden(t token.Type) string {
	switch t {
	case token.AnchorType:
		return "an anchor (&)"
	case token.AliasType:
		return "an alias (*)"
	case token.MergeKeyType:
		return "a merge key (<<)"
	case token.TagType:
		return "a tag (!)"
	case token.DirectiveType:
		return "a directive (%)"
	}
	return ""
}

// parseTokens reports the first syntax error; the parser knows no more. A
// panic of the library is one too: an edit must not end a running poller.
func (r *reader) parseTokens(tokens token.Tokens) (file *ast.File) {
	defer func() {
		if recover() != nil {
			file = nil
			r.add(Problem{Message: "not YAML that can be read: simplify the lines that were edited last"})
		}
	}()
	// Duplicate keys are reported by structure, all of them, with both lines.
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err == nil {
		return file
	}
	p := Problem{Message: "not YAML: " + plain(err.Error())}
	var syntax yaml.Error
	if errors.As(err, &syntax) {
		p.Message = "not YAML: " + plain(syntax.GetMessage())
		if strings.Contains(p.Message, `'\t'`) {
			p.Message += "; indent with spaces"
		}
		if tk := syntax.GetToken(); tk != nil && tk.Position != nil {
			p.Line, p.Column = tk.Position.Line, tk.Position.Column
		}
	}
	r.add(p)
	return nil
}

// oneDocument returns the body of the only document, nil when it is empty.
func (r *reader) oneDocument(file *ast.File) ast.Node {
	var body ast.Node
	for i, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() == ast.DirectiveType {
			continue // reported as a token
		}
		if i > 0 && body != nil {
			p := Problem{Message: "a second document begins here: keep one"}
			if doc.Start != nil {
				p.Line, p.Column = doc.Start.Position.Line, doc.Start.Position.Column
			} else if doc.Body != nil {
				at := position(doc.Body)
				p.Line, p.Column = at.line, at.column
			}
			r.add(p)
			break
		}
		body = doc.Body
	}
	return body
}

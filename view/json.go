package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"theloop/escape"
)

// jsonIndent makes the one document readable without a tool.
const jsonIndent = "  "

// JSON encodes v as one indented document that ends in a newline. Keys of
// structs keep their order, keys of maps are sorted, and &, < and > stay as
// they are. The characters that [escape.Line] escapes stand in it as \u sequences, so
// that the text is safe to look at and still decodes to exactly what v held
// (A8); only bytes that are not UTF-8 are lost, as \ufffd.
func JSON(v any) ([]byte, error) { return indented(v, "") }

// indented is [JSON] for a value within a document, each line but the first behind
// a prefix.
func indented(v any, prefix string) ([]byte, error) {
	var doc bytes.Buffer
	enc := json.NewEncoder(&doc)
	enc.SetEscapeHTML(false)
	enc.SetIndent(prefix, jsonIndent)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return escapeJSON(doc.Bytes()), nil
}

// List writes one document, an array, while its values come. The text is the one
// that [JSON] makes of a slice of them. A list that is not ended is no document:
// whoever reads it sees that it was cut.
type List struct {
	to io.Writer
	n  int
}

// NewList begins an array on an output.
func NewList(to io.Writer) *List { return &List{to: to} }

// Add writes one value.
func (l *List) Add(v any) error {
	doc, err := indented(v, jsonIndent)
	if err != nil {
		return err
	}
	before := ",\n"
	if l.n == 0 {
		before = "[\n"
	}
	l.n++
	_, err = io.WriteString(l.to, before+jsonIndent+strings.TrimSuffix(string(doc), "\n"))
	return err
}

// End ends the array and the document.
func (l *List) End() error {
	end := "\n]\n"
	if l.n == 0 {
		end = "[]\n"
	}
	_, err := io.WriteString(l.to, end)
	return err
}

// escapeJSON rewrites the hidden characters of an encoded document. Outside of
// strings JSON is ASCII, and inside of them the encoder has already escaped
// what is below a space, so that line feeds are the document's own.
func escapeJSON(doc []byte) []byte {
	out := make([]byte, 0, len(doc))
	for i := 0; i < len(doc); {
		r, size := utf8.DecodeRune(doc[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			out = escape.AppendJSON(out, r)
		case r == '\n' || !escape.Hidden(r):
			out = append(out, doc[i:i+size]...)
		default:
			out = escape.AppendJSON(out, r)
		}
		i += size
	}
	return out
}

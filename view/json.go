package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// jsonIndent makes the one document readable without a tool.
const jsonIndent = "  "

// JSON encodes v as one indented document that ends in a newline. Keys of
// structs keep their order, keys of maps are sorted, and &, < and > stay as
// they are. The characters that [escape.Line] escapes stand in it as \u sequences, so
// that the text is safe to look at and still decodes to exactly what v held
// (A8); only bytes that are not UTF-8 are lost, as \ufffd.
func JSON(v any) ([]byte, error) {
	doc, err := newDocuments("").append(nil, v)
	if err != nil {
		return nil, err
	}
	return append(doc, '\n'), nil
}

// documents encodes values one after the other.
type documents struct {
	prefix string
	// compact is what enc makes of a value.
	compact bytes.Buffer
	enc     *json.Encoder
}

// newDocuments begins each line of a value but the first with a prefix.
func newDocuments(prefix string) *documents {
	d := &documents{prefix: prefix}
	d.enc = json.NewEncoder(&d.compact)
	d.enc.SetEscapeHTML(false)
	return d
}

// append appends one document, without a line feed behind it.
func (d *documents) append(to []byte, v any) ([]byte, error) {
	d.compact.Reset()
	if err := d.enc.Encode(v); err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	return appendIndented(to, bytes.TrimSuffix(d.compact.Bytes(), []byte("\n")), d.prefix), nil
}

// List writes one document, an array, while its values come. The text is the one
// that [JSON] makes of a slice of them. A list that is not ended is no document:
// whoever reads it sees that it was cut.
type List struct {
	to   io.Writer
	n    int
	docs *documents
	// text is room for one value.
	text []byte
}

// NewList begins an array on an output.
func NewList(to io.Writer) *List { return &List{to: to, docs: newDocuments(jsonIndent)} }

// Add writes one value.
func (l *List) Add(v any) error {
	before := ",\n"
	if l.n == 0 {
		before = "[\n"
	}
	text, err := l.docs.append(append(append(l.text[:0], before...), jsonIndent...), v)
	if err != nil {
		return err
	}
	l.n++
	l.text = text
	_, err = l.to.Write(text)
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

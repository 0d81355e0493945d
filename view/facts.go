package view

import (
	"strings"

	"theloop/escape"
)

// factColumns is where the value of a fact is cut. It is long enough for any
// honest title, path or URL and short enough not to flood a screen.
const factColumns = 2000

// Fact is one property of a record.
type Fact struct {
	Key   string
	Value string
	Tone  Tone
}

// Facts is a list of properties, shown one a line.
type Facts []Fact

// Render writes "key: value" lines with the values aligned, each on one line
// (A8). A fact without a value is left out. Long values are left to the
// terminal to wrap, so that what is copied from it is whole.
func (f Facts) Render(style Style) string {
	widest := 0
	for _, fact := range f {
		if fact.Value != "" {
			widest = max(widest, Width(escape.Line(fact.Key)))
		}
	}
	var b strings.Builder
	for _, fact := range f {
		if fact.Value == "" {
			continue
		}
		key := escape.Line(fact.Key)
		b.WriteString(style.Paint(Dim, key+":"))
		b.WriteString(pad(widest - Width(key) + 1))
		b.WriteString(style.Paint(fact.Tone, Cut(fact.Value, factColumns)))
		b.WriteByte('\n')
	}
	return b.String()
}

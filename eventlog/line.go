package eventlog

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	// maxLine is the most bytes that one write takes, newlines included: a page,
	// which is what file systems write in one piece.
	maxLine = 4096
	// maxFields bounds the work that one event can cause.
	maxFields = 64
	// minText is the encoded size below which a text is not shortened further.
	minText = 32
	// envelope are the keys that every line has; a field of such a name is
	// written with fieldPrefix.
	envelope    = " ts source event level pid v cut "
	fieldPrefix = "field_"
)

// line encodes e in at most maxLine bytes, with one to spare for the newline
// that may have to precede it.
func (l *Log) line(e Event) []byte {
	head := l.head(e)
	fields := fit(fieldsOf(e), maxLine-len(head)-len("}\n")-len("\n"))
	return []byte(head + fields + "}\n")
}

// head is the envelope, without the closing brace.
func (l *Log) head(e Event) string {
	source := e.Source
	if source == "" {
		source = l.source
	}
	head := `{"ts":` + quote(l.now().UTC().Format(stamp)) +
		`,"source":` + quote(safeKey(source)) +
		`,"event":` + quote(safeKey(e.Name)) +
		`,"level":` + quote(levelOf(e).String()) +
		`,"pid":` + strconv.Itoa(l.pid)
	if l.version != "" {
		head += `,"v":` + quote(safeKey(l.version))
	}
	return head
}

// levelOf is the level of e: its own, else the catalogue's, else info.
func levelOf(e Event) Level {
	if e.Level.String() != "" {
		return e.Level
	}
	if row, ok := index()[e.Name]; ok {
		return row.level
	}
	return Info
}

// body is what follows the envelope.
type body struct {
	values []value
	// dropped says that whole fields are missing.
	dropped bool
}

// fieldsOf collects the fields of e that are not empty: those of the catalogue
// in its order, then any others by name.
func fieldsOf(e Event) body {
	var b body
	known := index()[e.Name].fields
	for _, name := range known {
		if v, ok := e.Fields[name]; ok {
			b.add(name, v)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		if !slices.Contains(known, name) {
			b.add(name, e.Fields[name])
		}
	}
	return b
}

// add appends one field, unless it is empty or one too many.
func (b *body) add(name string, given any) {
	if len(b.values) == maxFields {
		b.dropped = true
		return
	}
	v := classify(given)
	if v.empty {
		return
	}
	v.key = safeKey(name)
	if strings.Contains(envelope, " "+v.key+" ") {
		v.key = fieldPrefix + v.key
	}
	if name == "error" {
		v.limit(errorLimit)
	}
	b.values = append(b.values, v)
}

// fit encodes b in at most room bytes, shortening the longest texts and lists
// until it fits. When none is left to shorten, fields go, last ones first.
func fit(b body, room int) string {
	for {
		encoded := b.json()
		excess := len(encoded) - room
		if excess <= 0 {
			return encoded
		}
		if i := b.longest(); i >= 0 {
			b.values[i].shorten(excess)
			continue
		}
		b.values = b.values[:len(b.values)-1]
		b.dropped = true
	}
}

// longest is the index of the value that loses least by being shortened, or -1.
func (b *body) longest() int {
	longest, size := -1, 0
	for i := range b.values {
		v := &b.values[i]
		n := len(v.json())
		shrinkable := v.kind == text && n > minText || v.kind == list && len(v.items) > 0
		if shrinkable && n > size {
			longest, size = i, n
		}
	}
	return longest
}

// shorten takes at least one byte, and if it can excess bytes, from a value
// that longest has chosen.
func (v *value) shorten(excess int) {
	target := max(minText, len(v.json())-excess)
	v.cut = true
	if v.kind == list {
		for len(v.items) > 0 && len(v.json()) > target {
			v.items = v.items[:len(v.items)-1]
		}
		return
	}
	room := target - len(quote(ellipsis))
	end := 0
	for i, r := range v.text {
		size := len(quote(string(r))) - len(quote(""))
		if room -= size; room < 0 {
			break
		}
		end = i + len(string(r))
	}
	v.text = v.text[:end] + ellipsis
}

// json is the fields with their keys, each after a comma, and the names of
// those that were cut.
func (b *body) json() string {
	var s strings.Builder
	var cut []string
	for i := range b.values {
		v := &b.values[i]
		s.WriteString("," + quote(v.key) + ":" + v.json())
		if v.cut {
			cut = append(cut, quote(v.key))
		}
	}
	if b.dropped {
		cut = append(cut, quote(ellipsis))
	}
	if cut != nil {
		s.WriteString(`,"cut":[` + strings.Join(cut, ",") + "]")
	}
	return s.String()
}

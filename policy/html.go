package policy

import (
	"iter"
	"strings"
)

// elements counts the open elements of HTML whose words are not searched. The
// zero value has none open.
type elements struct {
	open map[string]int
}

// foreign reports whether the place is inside an element whose words are not the
// author's (quoted), are taken back, or cannot be seen.
func (e *elements) foreign() bool {
	return e.anyOpen("blockquote", "q", "del", "s", "strike", "script", "style", "template", "title")
}

// code reports whether the place is inside code.
func (e *elements) code() bool { return e.anyOpen("code", "pre", "samp", "kbd", "tt") }

func (e *elements) anyOpen(names ...string) bool {
	for _, name := range names {
		if e.open[name] > 0 {
			return true
		}
	}
	return false
}

// read goes through HTML and follows what it opens and closes. It yields every
// tag's name and every text between tags, one of them empty each time. Comments
// are neither.
func (e *elements) read(raw string) iter.Seq2[string, string] {
	return func(yield func(name, said string) bool) {
		for raw != "" {
			size := tagLen(raw)
			piece := raw[:max(size, 1)]
			if size == 0 {
				piece = raw[:1+untilTag(raw[1:])]
			}
			raw = raw[len(piece):]
			name, closing := tagName(piece)
			e.count(name, closing)
			said := piece
			if size > 0 {
				said = ""
			}
			if (name != "" || said != "") && !yield(name, said) {
				return
			}
		}
	}
}

// count notes that an element begins or ends.
func (e *elements) count(name string, closing bool) {
	if e.open == nil {
		e.open = make(map[string]int)
	}
	switch {
	case name == "":
	case !closing:
		e.open[name]++
	case e.open[name] > 0:
		e.open[name]--
	}
}

// untilTag returns how far it is to the next tag or comment.
func untilTag(s string) int {
	if i := strings.IndexByte(s, '<'); i >= 0 {
		return i
	}
	return len(s)
}

// tagLen returns the length of the tag, comment or declaration at the front of
// raw, 0 when there is text. One without an end takes the rest.
func tagLen(raw string) int {
	if strings.HasPrefix(raw, "<!--") {
		if i := strings.Index(raw[2:], "-->"); i >= 0 {
			return 2 + i + 3
		}
		return len(raw)
	}
	if len(raw) < 2 || raw[0] != '<' || !isLetter(raw[1]) && strings.IndexByte("/!?", raw[1]) < 0 {
		return 0
	}
	quote := byte(0)
	for i := 1; i < len(raw); i++ {
		switch c := raw[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return len(raw)
}

// tagName returns the name in a tag, in lower case; "" for what is no tag.
func tagName(tag string) (name string, closing bool) {
	name, ok := strings.CutPrefix(tag, "<")
	if !ok {
		return "", false
	}
	name, closing = strings.CutPrefix(name, "/")
	end := 0
	for end < len(name) && (isLetter(name[end]) || end > 0 && '0' <= name[end] && name[end] <= '9') {
		end++
	}
	return lowerASCII(name[:end]), closing
}

func isLetter(c byte) bool { return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' }

package session

import (
	"unicode/utf8"

	"theloop/escape"
)

// safe is text that others wrote, as it stands in an excerpt: a JSON string in
// which nothing hides (A5).
type safe string

// MarshalJSON quotes the text. Characters that cannot be seen, or that change
// how others are seen, become \u escapes; < and & stay, since agents read it and
// no browser does.
func (s safe) MarshalJSON() ([]byte, error) {
	var e escaper
	quoted := append(make([]byte, 0, len(s)+2), '"')
	for _, r := range string(s) { // bytes that are no UTF-8 come as U+FFFD
		quoted = e.append(quoted, r)
	}
	return append(quoted, '"'), nil
}

// maxTicks is the longest run of backticks that is quoted as it is. A fence is
// longer than any run in it, so a text of backticks alone would take the prompt
// for its fence.
const maxTicks = 64

// escaper escapes one text, rune by rune.
type escaper struct{ ticks int }

func (e *escaper) append(b []byte, r rune) []byte {
	if r != '`' {
		e.ticks = 0
		return appendEscaped(b, r)
	}
	if e.ticks++; e.ticks > maxTicks {
		return escape.AppendJSON(b, r)
	}
	return append(b, '`')
}

func appendEscaped(b []byte, r rune) []byte {
	switch {
	case r == '"' || r == '\\':
		return append(b, '\\', byte(r))
	case r == '\n':
		return append(b, `\n`...)
	case r == '\t':
		return append(b, `\t`...)
	case r == '\r':
		return append(b, `\r`...)
	case !escape.Hidden(r):
		return utf8.AppendRune(b, r)
	}
	return escape.AppendJSON(b, r)
}

// escapedLen is how many bytes the text takes in an excerpt, without quotes.
func escapedLen(s string) int {
	n, _ := measure(s, -1)
	return n
}

// cut returns the longest head of s that takes at most limit bytes in an
// excerpt. It ends on a rune: cutting comes before escaping.
func cut(s string, limit int) string {
	_, end := measure(s, max(limit, 0))
	return s[:end]
}

// measure escapes s up to limit bytes (-1: all of it) and returns what that
// takes, and how much of s it is.
func measure(s string, limit int) (taken, end int) {
	var e escaper
	var buffer [12]byte
	for i, r := range s {
		n := len(e.append(buffer[:0], r))
		if limit >= 0 && taken+n > limit {
			return taken, i
		}
		taken += n
	}
	return taken, len(s)
}

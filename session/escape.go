package session

import (
	"unicode"
	"unicode/utf8"
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
		return appendUnit(b, r)
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
	case !hidden(r):
		return utf8.AppendRune(b, r)
	case r > 0xffff:
		// JSON has four digits, so the rest of Unicode takes two of them.
		r -= 0x10000
		return appendUnit(appendUnit(b, 0xd800+r>>10), 0xdc00+r&0x3ff)
	}
	return appendUnit(b, r)
}

func appendUnit(b []byte, u rune) []byte {
	const digits = "0123456789abcdef"
	return append(b, '\\', 'u', digits[u>>12&15], digits[u>>8&15], digits[u>>4&15], digits[u&15])
}

// hidden reports whether a character is of Cc, Cf, Co, Cs, Cn, Zl or Zp, or is
// one that is drawn as nothing (A5): fillers, selectors, the empty braille cell.
func hidden(r rune) bool {
	const brailleBlank = 0x2800
	if ' ' <= r && r < 0x7f {
		return false
	}
	return r == brailleBlank || unicode.In(r,
		unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Cn, unicode.Zl, unicode.Zp,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
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

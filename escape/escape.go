package escape

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line makes s fit to be shown as one field on one line (A8). Characters that
// cannot be seen, or that change how others are seen, are written as \u202e or
// \U000e0001, line breaks and tabs as \n, \r and \t, bytes that are not UTF-8
// as \x9b. Text without any of these comes back unchanged, so that escaping
// twice is the same as escaping once.
func Line(s string) string {
	return escape(s, "")
}

// Text is [Line] for text that may have several lines (A8): line feeds and
// tabs stay, and a carriage return before a line feed is dropped, as trackers
// send both.
func Text(s string) string {
	return escape(strings.ReplaceAll(s, "\r\n", "\n"), "\n\t")
}

// escape rewrites every hidden character of s but those in keep.
func escape(s, keep string) string {
	first := firstHidden(s, keep)
	if first < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:first])
	for i := first; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case Hidden(r) && !strings.ContainsRune(keep, r):
			b.WriteString(spell(r))
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
}

// firstHidden is the index of the first byte that escape has to rewrite, or -1.
func firstHidden(s, keep string) int {
	for i := range len(s) { // most texts are plain, and are looked at often
		if s[i] < ' ' || s[i] >= 0x7f {
			break
		}
		if i == len(s)-1 {
			return -1
		}
	}
	for i, r := range s {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(s[i:]); size == 1 {
				return i
			}
		}
		if Hidden(r) && !strings.ContainsRune(keep, r) {
			return i
		}
	}
	return -1
}

// spell writes one hidden character in ASCII.
func spell(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r > 0xffff:
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// AppendJSON appends r as it can stand in a JSON string, in ASCII: \u and four
// digits, or two of those for what lies beyond.
func AppendJSON(b []byte, r rune) []byte {
	if r <= 0xffff {
		return fmt.Appendf(b, `\u%04x`, r)
	}
	high, low := utf16.EncodeRune(r)
	return fmt.Appendf(b, `\u%04x\u%04x`, high, low)
}

// Hidden reports whether r is escaped wherever people or agents look (A5, A8). What
// is not graphic is Cc, Cf, Co, Cs, Cn, Zl or Zp. Others count as letters, marks or
// symbols but draw nothing: fillers, joiners, variation selectors, blanks.
func Hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	return !unicode.IsGraphic(r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Variation_Selector, r) ||
		blank(r)
}

// blank reports whether r is a symbol or mark whose picture is empty and that
// no property of Unicode names as such.
func blank(r rune) bool {
	switch r {
	case 0x2800, // braille pattern with no dots
		0x16fe4, // Khitan filler
		0x1d159: // musical null notehead
		return true
	}
	return false
}

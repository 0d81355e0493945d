package eventlog

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// safe spells out the characters of s that cannot be seen or that change how
// others are seen (A8), so that the file can be looked at with any tool. This
// package may not import the one that prints; a test holds the two together.
func safe(s string) string {
	if !strings.ContainsFunc(s, hidden) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case hidden(r) && r != utf8.RuneError:
			b.WriteString(spell(r))
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	return b.String()
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

// hidden reports the characters that may have to be spelled out. It holds the
// replacement character for one, because that is what broken UTF-8 decodes to.
func hidden(r rune) bool {
	if r < utf8.RuneSelf {
		return r < ' ' || r == 0x7f
	}
	switch r {
	case utf8.RuneError,
		0x2800, 0x16fe4, 0x1d159: // drawn as nothing, though no property says so
		return true
	}
	return !unicode.IsGraphic(r) ||
		unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) ||
		unicode.Is(unicode.Variation_Selector, r)
}

// truncate is s cut to at most n characters, the last of which is then "…". It
// reports whether it cut.
func truncate(s string, n int) (string, bool) {
	if len(s) <= n {
		return s, false
	}
	end, count := 0, 0
	for i := range s {
		if count == n-1 {
			end = i
		}
		if count == n {
			return s[:end] + ellipsis, true
		}
		count++
	}
	return s, false
}

// ellipsis ends what was cut.
const ellipsis = "…"

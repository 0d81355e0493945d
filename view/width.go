package view

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"

	"theloop/escape"
)

// ellipsis ends what was cut.
const ellipsis = "…"

// Width is the number of terminal columns that s takes. It expects text that
// [escape.Line] has been through; a control character would count as one.
func Width(s string) int {
	n := 0
	for n < len(s) && ' ' <= s[n] && s[n] < 0x7f { // most texts are this plain to their end
		n++
	}
	for _, r := range s[n:] {
		n += runeWidth(r)
	}
	return n
}

// Cut makes s one line of at most columns columns (A8) and ends it with "…"
// when something had to go. Marks stay with the letter they stand on; a ref, an id or an
// address behind other words goes whole, since a part of it would be another one.
func Cut(s string, columns int) string {
	s = escape.Line(s)
	if columns < 1 {
		return ""
	}
	// end is where the text has to stop to leave room for the ellipsis.
	taken, end := 0, 0
	for i, r := range s {
		taken += runeWidth(r)
		if taken < columns {
			end = i + utf8.RuneLen(r)
		}
		if taken > columns {
			return s[:beforeName(s, end)] + ellipsis
		}
	}
	return s
}

// nameMarks stand in refs, ids and addresses, and hardly ever in words.
const nameMarks = "#_:/"

// beforeName moves an end that would part a name in front of that.
func beforeName(s string, end int) int {
	begin := strings.LastIndexByte(s[:end], ' ') + 1
	word, _, _ := strings.Cut(s[begin:], " ")
	if begin == 0 || begin+len(word) <= end || !strings.ContainsAny(word[:len(word)-1], nameMarks) {
		return end
	}
	return begin
}

// pad is n spaces, none when n is negative.
func pad(n int) string {
	return strings.Repeat(" ", max(n, 0))
}

// runeWidth is 0 for what is drawn onto the letter before it, 2 for East Asian
// wide letters and pictures, otherwise 1. Ambiguous ones are narrow, as they
// are in terminals that are not set up for East Asian text.
func runeWidth(r rune) int {
	switch {
	case r >= ' ' && r < 0x7f:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me), joinsHangul(r):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// joinsHangul reports vowels and finals that are drawn into the syllable that
// the wide letter before them has begun.
func joinsHangul(r rune) bool {
	return r >= 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7ff
}

package view

import (
	"strings"
	"unicode/utf8"
)

// blockLines is how many lines a cell that may be cut takes in a block.
const blockLines = 3

// block writes one row as "title: value" lines.
func (l layout) block(style Style, row []Cell) string {
	heads, widest := titles(l.columns), 0
	for _, title := range heads {
		widest = max(widest, Width(title.Text))
	}
	var b strings.Builder
	for i, cell := range row {
		if cell.Text == "" {
			continue
		}
		title := heads[i].Text
		key := title + ":" + pad(widest-Width(title)+1)
		if l.columns[i].Flexible {
			b.WriteString(flexibleLines(style, key, cell, l.width))
		} else {
			b.WriteString(wholeLines(style, key, cell, l.width))
		}
	}
	return b.String()
}

// wholeLines is a value that people copy: it is never cut, and has a line to itself
// where there is no room for it beside its title. One that is longer than that is left
// to the terminal to wrap.
func wholeLines(style Style, key string, cell Cell, width int) string {
	value := style.Paint(cell.Tone, cell.Text) + "\n"
	switch {
	case Width(key)+Width(cell.Text) <= width:
		return style.Paint(Dim, key) + value
	case Width(strings.TrimRight(key, " ")) <= width:
		return style.Paint(Dim, strings.TrimRight(key, " ")) + "\n" + value
	}
	return value
}

// flexibleLines is a value in a few lines of at most width columns, cut when they do not
// hold it. A title that leaves no room for a value gives way to it.
func flexibleLines(style Style, key string, cell Cell, width int) string {
	room := width - Width(key)
	if room < minFlexible {
		key, room = "", width
	}
	most := blockLines
	if room < minFlexible {
		most = 1
	}
	var b strings.Builder
	before := style.Paint(Dim, key)
	for _, line := range wrap(cell.Text, room, most) {
		b.WriteString(before + style.Paint(cell.Tone, line) + "\n")
		before = pad(Width(key))
	}
	return b.String()
}

// wrap parts a text, which is safe, into at most so many lines. The last one is cut.
func wrap(s string, columns, most int) []string {
	var lines []string
	for len(lines) < most-1 && Width(s) > columns {
		at := breakAt(s, columns)
		lines = append(lines, strings.TrimRight(s[:at], " "))
		s = strings.TrimLeft(s[at:], " ")
	}
	return append(lines, Cut(s, columns))
}

// breakAt is where the first line of a text that is wider ends: at a space, or within a
// word that fills the line.
func breakAt(s string, columns int) int {
	taken, space, end := 0, 0, 0
	for i, r := range s {
		if r == ' ' {
			space = i
		}
		if taken += runeWidth(r); taken > columns {
			break
		}
		end = i + utf8.RuneLen(r)
	}
	if space > 0 {
		return space
	}
	_, first := utf8.DecodeRuneInString(s)
	return max(end, first)
}

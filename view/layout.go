package view

import (
	"strings"

	"theloop/escape"
)

// lineRoom is what most lines take, with colours, so that they are made in one piece.
const lineRoom = 256

// layout is how the rows of one table are shown: in columns of these widths, or
// each as a block.
type layout struct {
	columns []Column
	widths  []int
	// width is that of the terminal; 0 for pipes and files.
	width  int
	blocks bool
}

// layOut decides how a table is shown from rows of it.
func layOut(columns []Column, rows [][]Cell, width int) layout {
	l := layout{columns: columns, width: width, widths: make([]int, len(columns))}
	for _, row := range append([][]Cell{titles(columns)}, rows...) {
		widen(l.widths, row)
	}
	if width <= 0 {
		for i := range l.widths {
			l.widths[i] = min(l.widths[i], unboundedCell)
		}
		return l
	}
	l.blocks = width < narrow || !fit(columns, l.widths, width)
	return l
}

// titles is the row above the others.
func titles(columns []Column) []Cell {
	row := make([]Cell, len(columns))
	for i, c := range columns {
		row[i] = Cell{Text: escape.Line(c.Title), Tone: Dim}
	}
	return row
}

// cleanRow copies a row, safe and exactly as long as the list of columns.
func cleanRow(columns []Column, row []Cell) []Cell {
	cells := make([]Cell, len(columns))
	for i := range min(len(row), len(cells)) {
		cells[i] = Cell{Text: escape.Line(row[i].Text), Tone: row[i].Tone}
	}
	return cells
}

// widen makes room for a row in which nothing is cut.
func widen(widths []int, row []Cell) {
	for i, cell := range row {
		widths[i] = max(widths[i], Width(cell.Text))
	}
}

// head is the line of titles; blocks have none.
func (l layout) head(style Style) string {
	if l.blocks {
		return ""
	}
	return l.line(style, titles(l.columns), l.widths)
}

// row is the nth row, from 0, which is clean.
func (l layout) row(style Style, n int, row []Cell) string {
	if l.blocks {
		return l.parted(n, l.block(style, row))
	}
	if l.width <= 0 {
		return l.line(style, row, l.widths)
	}
	widths := l.widths
	for i, c := range l.columns {
		if !c.Flexible && Width(row[i].Text) > widths[i] {
			widths = l.stretched(row)
			break
		}
	}
	if widths == nil {
		return l.block(style, row)
	}
	return l.line(style, row, widths)
}

// stretched are widths for one row that has more in it than those that decided the
// layout, nil when a line cannot hold it.
func (l layout) stretched(row []Cell) []int {
	widths := make([]int, len(l.widths))
	copy(widths, l.widths)
	widen(widths, row)
	if !fit(l.columns, widths, l.width) {
		return nil
	}
	return widths
}

// line writes one row with each column as wide as widths says.
func (l layout) line(style Style, row []Cell, widths []int) string {
	var b strings.Builder
	b.Grow(lineRoom)
	// Blanks are owed until something stands behind them, so that no line ends in
	// any.
	owed := 0
	for i, cell := range row {
		text := cell.Text
		if l.width > 0 {
			text = Cut(text, widths[i])
		}
		blank := max(widths[i]-Width(text), 0)
		if text == "" {
			owed += blank + len(gap)
			continue
		}
		before, after := 0, blank
		if l.columns[i].Right {
			before, after = blank, 0
		}
		b.WriteString(pad(owed + before))
		b.WriteString(style.Paint(cell.Tone, text))
		owed = after + len(gap)
	}
	b.WriteByte('\n')
	return b.String()
}

// parted puts an empty line between two blocks.
func (l layout) parted(n int, block string) string {
	if n == 0 {
		return block
	}
	return "\n" + block
}

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
		b.WriteString(blockLine(style, key, cell, l.width))
	}
	return b.String()
}

// blockLine is one "title: value" line of at most width columns. A title that
// leaves no room for a value gives way to it.
func blockLine(style Style, key string, cell Cell, width int) string {
	room := width - Width(key)
	if room < minFlexible {
		key, room = "", width
	}
	return style.Paint(Dim, key) + style.Paint(cell.Tone, Cut(cell.Text, room)) + "\n"
}

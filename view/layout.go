package view

import "theloop/escape"

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

// appendClean appends a row to cells, safe and exactly as long as the list of columns.
func appendClean(cells []Cell, columns []Column, row []Cell) []Cell {
	for i := range columns {
		var cell Cell
		if i < len(row) {
			cell = Cell{Text: escape.Line(row[i].Text), Tone: row[i].Tone}
		}
		cells = append(cells, cell)
	}
	return cells
}

// widen makes room for a row in which nothing is cut.
func widen(widths []int, row []Cell) {
	for i, cell := range row {
		widths[i] = max(widths[i], Width(cell.Text))
	}
}

// head appends the line of titles; blocks have none.
func (l layout) head(to []byte, style Style) []byte {
	if l.blocks {
		return to
	}
	return l.line(to, style, titles(l.columns), l.widths)
}

// row appends the nth row, from 0, which is clean.
func (l layout) row(to []byte, style Style, n int, row []Cell) []byte {
	if l.blocks {
		return append(to, l.parted(n, l.block(style, row))...)
	}
	if l.width <= 0 {
		return l.line(to, style, row, l.widths)
	}
	widths := l.widths
	for i, c := range l.columns {
		if !c.Flexible && Width(row[i].Text) > widths[i] {
			widths = l.stretched(row)
			break
		}
	}
	if widths == nil {
		return append(to, l.block(style, row)...)
	}
	return l.line(to, style, row, widths)
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

// line appends one row with each column as wide as widths says.
func (l layout) line(to []byte, style Style, row []Cell, widths []int) []byte {
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
		for range owed + before {
			to = append(to, ' ')
		}
		to = style.paint(to, cell.Tone, text)
		owed = after + len(gap)
	}
	return append(to, '\n')
}

// parted puts an empty line between two blocks.
func (l layout) parted(n int, block string) string {
	if n == 0 {
		return block
	}
	return "\n" + block
}

package view

import "strings"

// narrow is the terminal width below which a table becomes one block per
// record: with fewer columns cells are cut until none of them says anything.
const narrow = 60

// unboundedCell is how far a cell pushes the columns right of it when there is
// no width to fit. A longer one overhangs in its own row, so that one enormous
// value does not pad every other row to its size.
const unboundedCell = 100

// gap parts columns.
const gap = "  "

// Column describes one column of a [Table].
type Column struct {
	Title string
	// Right aligns the cells to the right, for numbers.
	Right bool
	// Flexible lets the cells be cut when a row would be too wide. Leave it out
	// for what people copy: refs, ids.
	Flexible bool
}

// Cell is one value of a row.
type Cell struct {
	Text string
	Tone Tone
}

// Table is one row per record. A row may have fewer cells than there are
// columns; cells past the last column are not shown.
type Table struct {
	Columns []Column
	Rows    [][]Cell
}

// Add appends a row of plain cells.
func (t *Table) Add(texts ...string) {
	row := make([]Cell, len(texts))
	for i, text := range texts {
		row[i] = Cell{Text: text}
	}
	t.Rows = append(t.Rows, row)
}

// Render aligns the table by display width, a line of titles first, every cell
// on one line (A8). With a width (in columns, above 0) no line is wider: the
// widest flexible column is cut with "…", and when that is not enough, or the
// width is below 60, each record becomes a block of "title: value" lines.
// Without one, for pipes and files, nothing is cut. A table without rows is "".
func (t Table) Render(style Style, width int) string {
	if len(t.Rows) == 0 || len(t.Columns) == 0 {
		return ""
	}
	rows := t.clean()
	widths := t.naturalWidths(rows)
	switch {
	case width <= 0:
		for i := range widths {
			widths[i] = min(widths[i], unboundedCell)
		}
	case width < narrow || !fit(t.Columns, widths, width):
		return t.blocks(style, rows, width)
	default:
		cutRows(rows, widths)
	}
	return t.grid(style, rows, widths)
}

// clean copies the rows, titles first, safe and each exactly as long as the
// list of columns.
func (t Table) clean() [][]Cell {
	rows := make([][]Cell, 0, len(t.Rows)+1)
	titles := make([]Cell, len(t.Columns))
	for i, c := range t.Columns {
		titles[i] = Cell{Text: Line(c.Title), Tone: Dim}
	}
	rows = append(rows, titles)
	for _, row := range t.Rows {
		cells := make([]Cell, len(t.Columns))
		for i := range min(len(row), len(cells)) {
			cells[i] = Cell{Text: Line(row[i].Text), Tone: row[i].Tone}
		}
		rows = append(rows, cells)
	}
	return rows
}

// naturalWidths is what each column takes when nothing is cut.
func (t Table) naturalWidths(rows [][]Cell) []int {
	widths := make([]int, len(t.Columns))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell.Text))
		}
	}
	return widths
}

// grid writes the rows with each column as wide as widths says.
func (t Table) grid(style Style, rows [][]Cell, widths []int) string {
	var b strings.Builder
	for _, row := range rows {
		// Blanks are owed until something stands behind them, so that no line
		// ends in any.
		owed := ""
		for i, cell := range row {
			blank := pad(widths[i] - Width(cell.Text))
			before, after := "", blank
			if t.Columns[i].Right {
				before, after = blank, ""
			}
			if cell.Text == "" {
				owed += blank + gap
				continue
			}
			b.WriteString(owed + before + style.Paint(cell.Tone, cell.Text))
			owed = after + gap
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// blocks writes one record after the other, with an empty line in between.
func (t Table) blocks(style Style, rows [][]Cell, width int) string {
	widest := 0
	for _, title := range rows[0] {
		widest = max(widest, Width(title.Text))
	}
	var b strings.Builder
	for n, row := range rows[1:] {
		if n > 0 {
			b.WriteByte('\n')
		}
		for i, cell := range row {
			if cell.Text == "" {
				continue
			}
			title := rows[0][i].Text
			key := title + ":" + pad(widest-Width(title)+1)
			b.WriteString(blockLine(style, key, cell, width))
		}
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

package view

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
// width is below 60, each record becomes a block of "title: value" lines, in which a
// flexible value has three lines. What is not flexible is never cut: a value that is
// longer than a line has one to itself, and the terminal wraps that.
// Without one, for pipes and files, nothing is cut. A table without rows is "".
func (t Table) Render(style Style, width int) string {
	if len(t.Rows) == 0 || len(t.Columns) == 0 {
		return ""
	}
	rows := make([][]Cell, len(t.Rows))
	for i, row := range t.Rows {
		rows[i] = appendClean(nil, t.Columns, row)
	}
	l := layOut(t.Columns, rows, width)
	text := l.head(nil, style)
	for n, row := range rows {
		text = l.row(text, style, n, row)
	}
	return string(text)
}

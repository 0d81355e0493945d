package view

import "io"

// measuredRows are the rows of a [Stream] that decide how wide its columns are:
// more than a screen, and little to remember.
const measuredRows = 500

// Stream shows a [Table] while its rows come, in bounded memory. The first 500 rows
// decide how it looks: a table of no more than that is shown exactly as Render
// does. What comes later and is wider is cut where its column may be, moves what
// stands behind it in its own line where not, and becomes a block where a line
// cannot hold it.
type Stream struct {
	to     io.Writer
	style  Style
	width  int
	cols   []Column
	first  [][]Cell // until the layout is known
	layout *layout
	shown  int
	// clean and text are room for one row.
	clean []Cell
	text  []byte
}

// NewStream shows a table on an output. The width is as Render's.
func NewStream(to io.Writer, columns []Column, style Style, width int) *Stream {
	return &Stream{to: to, style: style, width: width, cols: columns}
}

// Add shows a row, or keeps it until the layout is known. It returns the output's
// error.
func (s *Stream) Add(row ...Cell) error {
	if s.layout != nil {
		s.clean = appendClean(s.clean[:0], s.cols, row)
		return s.show(s.clean)
	}
	if s.first = append(s.first, appendClean(nil, s.cols, row)); len(s.first) < measuredRows {
		return nil
	}
	return s.begin()
}

// End shows what is left and returns how many rows there were. Without any, nothing
// was written.
func (s *Stream) End() (rows int, err error) {
	if s.layout == nil && len(s.first) > 0 {
		err = s.begin()
	}
	return s.shown, err
}

func (s *Stream) begin() error {
	l := layOut(s.cols, s.first, s.width)
	s.layout = &l
	if _, err := s.to.Write(l.head(nil, s.style)); err != nil {
		return err
	}
	for _, row := range s.first {
		if err := s.show(row); err != nil {
			return err
		}
	}
	s.first = nil
	return nil
}

func (s *Stream) show(row []Cell) error {
	s.text = s.layout.row(s.text[:0], s.style, s.shown, row)
	_, err := s.to.Write(s.text)
	s.shown++
	return err
}

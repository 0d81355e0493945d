package eventlog

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxForeign is the longest line that is looked at. Ours are far shorter; other
// programs' may be longer, but not by much.
const maxForeign = 64 << 10

// lineReader splits a stream into lines with a fixed buffer.
type lineReader struct {
	r *bufio.Reader
	// skipped counts the lines that were too long to be looked at.
	skipped int
	// end is where the next whole line begins, for a reader that comes back; whole
	// says that the last one ended in a newline, cut that the last one that was
	// skipped did not.
	end    int64
	whole  bool
	cut    bool
	offset int64
}

func newLineReader(r io.Reader) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, maxForeign)}
}

// next is the next line that is not empty, without its newline; it is valid
// until the following call. The last line need not have a newline: whether it
// is whole is for the decoder to say.
func (l *lineReader) next() ([]byte, error) {
	for {
		line, err := l.r.ReadSlice('\n')
		l.offset += int64(len(line))
		l.whole = err == nil
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			l.skipped++
			if err := l.discard(); err != nil {
				l.cut = true
				return nil, err
			}
			l.end = l.offset
			continue
		case err != nil && (len(line) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		}
		if l.whole {
			l.end = l.offset
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, nil
		}
	}
}

// discard passes over the rest of a line.
func (l *lineReader) discard() error {
	for {
		rest, err := l.r.ReadSlice('\n')
		l.offset += int64(len(rest))
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

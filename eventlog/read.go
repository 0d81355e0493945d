package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"time"

	"theloop/escape"
)

// Filter chooses entries. Every condition that is set has to hold; the zero
// Filter chooses all.
type Filter struct {
	Source string
	// Type is a glob over names, such as "dispatch.*".
	Type string
	// WorkItem and Delivery match the entry's one or any of its several.
	WorkItem string
	Delivery string
	MinLevel Level
	// Since leaves out what is older.
	Since time.Time
	// Limit keeps the last so many; 0 means all. That many are held in memory.
	Limit int
}

// Read gives the entries of the log at path that pass f to visit, oldest first
// (R2), those of the older files that it was rotated into included. It returns
// how many lines were skipped because they were torn or foreign. It stops at the
// first error of visit and returns that as it is; a log that does not exist is an
// error for which errors.Is fs.ErrNotExist holds.
func Read(path string, f Filter, visit func(Entry) error) (skipped int, err error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	files, err := openAll(path, f.Since)
	if err != nil {
		return 0, err
	}
	defer closeAll(files)
	tail := &tail{keep: f.Limit, visit: visit}
	for _, file := range slices.Backward(files) {
		n, err := f.scan(file, tail)
		skipped += n
		if err != nil {
			return skipped, err
		}
	}
	return skipped, tail.flush()
}

// openAll opens the file at path and those that it was rotated into, the youngest
// first. When it is rotated meanwhile it begins anew, boundedly. What was last
// written before since has nothing to say.
func openAll(path string, since time.Time) (files []*os.File, err error) {
	for n := 1; ; n++ {
		if files, err = openNumbered(path, since); err != nil {
			return nil, err
		}
		now, gone := os.Stat(path)
		if n == maxRotations || gone == nil && sameFile(files[0], now) {
			return files, nil
		}
		closeAll(files)
	}
}

// maxRotations is how many rotations in a row a reader begins anew for.
const maxRotations = 10

// openNumbered opens the files one after the other. A number may be missing for an
// instant, between two renames.
func openNumbered(path string, since time.Time) ([]*os.File, error) {
	var files []*os.File
	var first error
	for n, gaps := 0, 0; gaps < 2; n++ {
		file, err := openForRead(numbered(path, n))
		if err != nil && n == 0 {
			first = err
		}
		if err != nil {
			gaps++
			continue
		}
		gaps = 0
		info, err := file.Stat()
		if err != nil {
			closeAll(append(files, file))
			return nil, fmt.Errorf("look at the event log: %w", err)
		}
		switch {
		case n > 0 && info.ModTime().Before(since):
			_ = file.Close()
			gaps = 2 // and so are all before it
		case slices.ContainsFunc(files, func(f *os.File) bool { return sameFile(f, info) }):
			_ = file.Close() // it was rotated a moment ago
		default:
			files = append(files, file)
		}
	}
	if first != nil && (len(files) == 0 || !errors.Is(first, fs.ErrNotExist)) {
		closeAll(files)
		return nil, first
	}
	return files, nil // without a first one it was rotated, and nothing has been written since
}

func sameFile(f *os.File, info os.FileInfo) bool {
	own, err := f.Stat()
	return err == nil && os.SameFile(own, info)
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // it was only read from
	}
}

// scan gives the entries of one file to a tail.
func (f Filter) scan(file *os.File, tail *tail) (skipped int, err error) {
	lines := newLineReader(file)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return lines.skipped, nil
		}
		if err != nil {
			return lines.skipped, fmt.Errorf("read the event log %s: %w", file.Name(), err)
		}
		entry, ok, err := f.decode(line)
		if err != nil {
			lines.skipped++
			continue
		}
		if ok {
			if err := tail.add(entry); err != nil {
				return lines.skipped, err
			}
		}
	}
}

// openForRead refuses what a read could hang on.
func openForRead(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|readFlags, 0)
	if err != nil {
		return nil, fmt.Errorf("open the event log: %w", err)
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = notAFile(path, info)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// check finds what is wrong with a filter before anything is read.
func (f Filter) check() error {
	if _, err := path.Match(f.Type, ""); err != nil {
		return fmt.Errorf("event type %q is not a pattern; use something like 'dispatch.*'", f.Type)
	}
	return nil
}

// decode gives the entry of a line and whether it passes. An error means that
// the line is not one of ours.
func (f Filter) decode(line []byte) (Entry, bool, error) {
	h, err := parseHeader(line)
	if err != nil || !f.passes(h) {
		return Entry{}, false, err
	}
	entry, err := h.entry(line)
	return entry, err == nil, err
}

func (f Filter) passes(h header) bool {
	return (f.Source == "" || f.Source == h.Source) &&
		f.passesType(h.Event) &&
		among(f.WorkItem, h.WorkItem, h.WorkItems) &&
		among(f.Delivery, h.DeliveryID, h.DeliveryIDs) &&
		h.level >= f.MinLevel &&
		!h.at.Before(f.Since)
}

func (f Filter) passesType(name string) bool {
	if f.Type == "" {
		return true
	}
	ok, err := path.Match(f.Type, name)
	return err == nil && ok
}

// among reports that want is not asked for, or is the one or among the many.
// It is compared in the form in which it was written.
func among(want, one string, many []string) bool {
	want = escape.Line(want)
	return want == "" || want == one || slices.Contains(many, want)
}

// tail hands entries on, or holds back the last keep of them until flush.
type tail struct {
	keep  int
	visit func(Entry) error
	held  []Entry
	next  int // the oldest of held, once it is full
}

func (t *tail) add(e Entry) error {
	switch {
	case t.keep <= 0:
		return t.visit(e)
	case len(t.held) < t.keep:
		t.held = append(t.held, e)
	default:
		t.held[t.next] = e
		t.next = (t.next + 1) % t.keep
	}
	return nil
}

func (t *tail) flush() error {
	for i := range t.held {
		if err := t.visit(t.held[(t.next+i)%len(t.held)]); err != nil {
			return err
		}
	}
	return nil
}

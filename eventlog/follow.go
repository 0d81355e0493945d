package eventlog

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"time"
)

// Follow gives what [Read] gives and then what is written from there on, until
// ctx ends, which is no error, or visit returns one. The log is looked at each
// time that long has passed. What it is rotated into meanwhile is read to its end,
// and the new file from its beginning.
func Follow(ctx context.Context, path string, f Filter, each time.Duration, visit func(Entry) error) (skipped int, err error) {
	if err := f.check(); err != nil {
		return 0, err
	}
	files, err := openAll(path, f.Since)
	if err != nil {
		return 0, err
	}
	w := &follower{path: path, filter: f, tail: &tail{keep: f.Limit, visit: visit}}
	defer func() { _ = w.file.Close() }() // it was only read from
	if err := w.through(files); err != nil {
		return w.skipped, err
	}
	if err := w.tail.flush(); err != nil {
		return w.skipped, err
	}
	w.tail = &tail{visit: visit}
	tick := time.NewTicker(each)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return w.skipped, nil
		case <-tick.C:
		}
		if err := w.look(); err != nil {
			return w.skipped, err
		}
	}
}

// follower is at a place in the youngest file that it knows of.
type follower struct {
	path    string
	filter  Filter
	tail    *tail
	skipped int
	file    *os.File
	offset  int64
}

// through reads files, the youngest first in the list and the last to be read; it
// stays with that one.
func (w *follower) through(files []*os.File) error {
	for i, file := range slices.Backward(files) {
		if w.file != nil {
			_ = w.file.Close()
		}
		w.file, w.offset = file, 0
		if err := w.read(); err != nil {
			closeAll(files[:i])
			return err
		}
	}
	return nil
}

// read reads what is whole from the place on.
func (w *follower) read() error {
	lines := newLineReader(io.NewSectionReader(w.file, w.offset, math.MaxInt64-w.offset))
	begin := w.offset
	defer func() {
		w.offset = begin + lines.end
		w.skipped += lines.skipped
		if lines.cut { // it is looked at again, and counted once it is whole
			w.skipped--
		}
	}()
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) || err == nil && !lines.whole {
			return nil // the rest of that line is still to come
		}
		if err != nil {
			return fmt.Errorf("read the event log %s: %w", w.path, err)
		}
		entry, ok, err := w.filter.decode(line)
		if err != nil {
			w.skipped++
			continue
		}
		if ok {
			if err := w.tail.add(entry); err != nil {
				return err
			}
		}
	}
}

// look reads what is new: in the file that it has, and in those that have come
// since.
func (w *follower) look() error {
	own, err := w.file.Stat()
	if err != nil {
		return fmt.Errorf("look at the event log: %w", err)
	}
	if own.Size() < w.offset {
		w.offset = 0 // it was cut
	}
	now, err := os.Stat(w.path)
	if err != nil || os.SameFile(own, now) {
		return w.read() // or it was renamed or removed, and nothing has been written since
	}
	files, err := openAll(w.path, time.Time{})
	if err != nil {
		return w.read()
	}
	if files[0].Name() != w.path { // it was taken away again: what is there is older
		closeAll(files)
		return w.read()
	}
	// Whoever still had it open has written its last line by the time that another
	// one is there.
	if err := w.read(); err != nil {
		closeAll(files)
		return err
	}
	younger := slices.IndexFunc(files, func(f *os.File) bool { return sameFile(f, own) })
	if younger < 0 { // rotated by somebody else's rules
		younger = 1
	}
	closeAll(files[younger:])
	return w.through(files[:younger])
}

package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

const (
	countInBody = 0xFFFF
	metaFlag    = 0x04
	// maxPageFaults is how many faults are worth a line each.
	maxPageFaults = 100
)

// pageWalk follows every page that can be reached, reading the file and never
// the map: a page that is not there is an error to it, also when the file is cut
// short at this moment. It says what the library's own check says (see
// CheckFile), and whether that is safe: it takes what pages say about themselves
// for granted and is led out of the map by a wrong number.
type pageWalk struct {
	f    io.ReaderAt
	m    metaPage
	todo []span
	// only is the one bucket whose pages are followed; nil is all.
	only   []byte
	faults []error
	// seen and free are by page.
	seen, free []bool
}

// span is a page and which keys may be in it and below it: from least on, and
// before end. Nil is no bound.
type span struct {
	id         uint64
	least, end []byte
}

// walkPages returns what is wrong with the pages of a file that has passed
// preflight.
func walkPages(f io.ReaderAt) []error {
	m, reason, err := liveMeta(f)
	if err != nil {
		return []error{fmt.Errorf("read the meta pages: %w", err)}
	}
	if reason != "" {
		return []error{errors.New("the file " + reason)}
	}
	w := newWalk(f, m)
	w.metas()
	if m.freelist != noFreelist {
		w.freelist()
	}
	w.follow()
	if m.freelist != noFreelist && len(w.faults) == 0 {
		w.lost()
	}
	return w.faults
}

// walkHead is an error when something is wrong with the pages that are read to
// open a ledger: the list of buckets, and the bucket that says what the others
// are. What they say about themselves is not to be trusted before.
func walkHead(f io.ReaderAt, path string) error {
	m, reason, err := liveMeta(f)
	if err != nil {
		return fmt.Errorf("read the ledger %s: %w", path, err)
	}
	if reason != "" {
		return damaged(path, reason)
	}
	w := newWalk(f, m)
	w.only = []byte(metaBucket)
	w.follow()
	if len(w.faults) == 0 {
		return nil
	}
	var unread *fs.PathError // the end of the file is none: that is damage
	if errors.As(w.faults[0], &unread) {
		return fmt.Errorf("read the ledger %s: %w", path, w.faults[0])
	}
	return damaged(path, fmt.Sprintf("is damaged: %v", w.faults[0]))
}

func newWalk(f io.ReaderAt, m metaPage) *pageWalk {
	return &pageWalk{f: f, m: m, seen: make([]bool, m.pages), free: make([]bool, m.pages), todo: []span{{id: m.root}}}
}

func (w *pageWalk) follow() {
	for len(w.todo) > 0 && len(w.faults) < maxPageFaults {
		s := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if body := w.read(s.id); body != nil {
			w.elements(s, body)
		}
	}
}

func (w *pageWalk) fault(id uint64, format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf("page %d: %w", id, fmt.Errorf(format, args...)))
}

// metas looks at the heads of the meta pages, which their checksum leaves out.
func (w *pageWalk) metas() {
	for id := range uint64(2) {
		var header [pageHeader]byte
		if _, err := w.f.ReadAt(header[:], int64(id)*int64(w.m.pageSize)); err != nil {
			w.fault(id, "read it: %w", err)
			return
		}
		own, flags := binary.NativeEndian.Uint64(header[0:]), binary.NativeEndian.Uint16(header[8:])
		if own != id || flags != metaFlag {
			w.fault(id, "it says that it is page %d of type %#x", own, flags)
		}
	}
}

// read returns a page with what overflows from it, and nil when it is faulty.
func (w *pageWalk) read(id uint64) []byte {
	if id < 2 || id >= w.m.pages {
		w.fault(id, "it is used and outside of the file")
		return nil
	}
	var header [pageHeader]byte
	offset := int64(id) * int64(w.m.pageSize)
	if _, err := w.f.ReadAt(header[:], offset); err != nil {
		w.fault(id, "read it: %w", err)
		return nil
	}
	own, overflow := binary.NativeEndian.Uint64(header[0:]), uint64(binary.NativeEndian.Uint32(header[12:]))
	if own != id || overflow >= w.m.pages-id {
		w.fault(id, "it says that it is page %d and %d more", own, overflow)
		return nil
	}
	for n := id; n <= id+overflow; n++ {
		if w.seen[n] || w.free[n] {
			w.fault(n, "it is used twice, or free")
			return nil
		}
		w.seen[n] = true
	}
	body := make([]byte, (overflow+1)*uint64(w.m.pageSize))
	if _, err := w.f.ReadAt(body, offset); err != nil {
		w.fault(id, "read it: %w", err)
		return nil
	}
	return body
}

// freelist: page ids, uint64 each; their number is in front of them when it is
// too large for the header.
func (w *pageWalk) freelist() {
	id := w.m.freelist
	page := w.read(id)
	if page == nil {
		return
	}
	count, ids := uint64(binary.NativeEndian.Uint16(page[10:])), page[pageHeader:]
	if count == countInBody {
		count, ids = binary.NativeEndian.Uint64(ids), ids[8:]
	}
	if count > uint64(len(ids)/8) {
		w.fault(id, "it has no room for its %d free pages", count)
		return
	}
	for i := range count {
		free := binary.NativeEndian.Uint64(ids[i*8:])
		if free < 2 || free >= w.m.pages || w.free[free] || w.seen[free] {
			w.fault(id, "page %d is free and outside of the file, used, or free twice", free)
			return
		}
		w.free[free] = true
	}
}

// lost looks for pages that nobody would use again.
func (w *pageWalk) lost() {
	for id := uint64(2); id < w.m.pages && len(w.faults) < maxPageFaults; id++ {
		if !w.seen[id] && !w.free[id] {
			w.fault(id, "it is neither used nor free")
		}
	}
}

package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

const (
	elementSize  = 16
	bucketFlag   = 0x01 // of a leaf element: its value is a bucket
	bucketHeader = 16   // root page uint64, sequence uint64; root 0 is an inline page
	countInBody  = 0xFFFF
	// maxPageFaults is how many faults are worth a line each.
	maxPageFaults = 100
)

// pageWalk follows every page that can be reached, reading the file and never
// the map: it says whether walking the map is safe. The library's own check,
// which knows more, takes what pages say about themselves for granted and is
// led out of the map by a wrong number.
type pageWalk struct {
	f      io.ReaderAt
	m      metaPage
	todo   []uint64
	seen   map[uint64]bool
	faults []error
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
	w := pageWalk{f: f, m: m, seen: make(map[uint64]bool)}
	if m.freelist != noFreelist {
		w.freelist()
	}
	w.todo = append(w.todo, m.root)
	for len(w.todo) > 0 && len(w.faults) < maxPageFaults {
		id := w.todo[len(w.todo)-1]
		w.todo = w.todo[:len(w.todo)-1]
		if body := w.read(id); body != nil {
			w.elements(id, body)
		}
	}
	return w.faults
}

func (w *pageWalk) fault(id uint64, format string, args ...any) {
	w.faults = append(w.faults, fmt.Errorf("page %d: %w", id, fmt.Errorf(format, args...)))
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
		if w.seen[n] {
			w.fault(n, "it is used twice")
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

// elements looks at the elements of a branch or leaf page, or of a page that is
// the value of an element of page id.
func (w *pageWalk) elements(id uint64, page []byte) {
	flags, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if flags != branchFlag && flags != leafFlag {
		w.fault(id, "its type is %#x", flags)
		return
	}
	if pageHeader+count*elementSize > len(page) {
		w.fault(id, "it has no room for its %d elements", count)
		return
	}
	for i := range count {
		element := page[pageHeader+i*elementSize:]
		if flags == branchFlag {
			w.branch(id, i, element)
		} else {
			w.leaf(id, i, element)
		}
	}
}

// branch: offset and size of the key uint32, page uint64.
func (w *pageWalk) branch(id uint64, i int, element []byte) {
	at, key := uint64(binary.NativeEndian.Uint32(element)), uint64(binary.NativeEndian.Uint32(element[4:]))
	if at+key > uint64(len(element)) {
		w.fault(id, "key %d is not inside of it", i)
		return
	}
	w.todo = append(w.todo, binary.NativeEndian.Uint64(element[8:]))
}

// leaf: flags, offset of the key, size of the key, size of the value behind it,
// uint32 each.
func (w *pageWalk) leaf(id uint64, i int, element []byte) {
	flags, at := binary.NativeEndian.Uint32(element), uint64(binary.NativeEndian.Uint32(element[4:]))
	start := at + uint64(binary.NativeEndian.Uint32(element[8:]))
	end := start + uint64(binary.NativeEndian.Uint32(element[12:]))
	switch {
	case end > uint64(len(element)):
		w.fault(id, "row %d is not inside of it", i)
	case flags&bucketFlag == 0:
	case end-start < bucketHeader:
		w.fault(id, "row %d is too short for a bucket", i)
	default:
		w.bucket(id, i, element[start:end])
	}
}

func (w *pageWalk) bucket(id uint64, i int, value []byte) {
	root, inline := binary.NativeEndian.Uint64(value), value[bucketHeader:]
	switch {
	case root != 0:
		w.todo = append(w.todo, root)
	case len(inline) < pageHeader:
		w.fault(id, "row %d is too short for the bucket in it", i)
	default:
		w.elements(id, inline)
	}
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
		if free := binary.NativeEndian.Uint64(ids[i*8:]); free < 2 || free >= w.m.pages {
			w.fault(id, "page %d is free and outside of the file", free)
			return
		}
	}
}

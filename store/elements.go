package store

import (
	"bytes"
	"encoding/binary"
)

const (
	elementSize  = 16
	bucketFlag   = 0x01 // of a leaf element: its value is a bucket
	bucketHeader = 16   // root page uint64, sequence uint64; root 0 is an inline page
)

// elements looks at the elements of a branch or leaf page, or of a page that is
// the value of an element of it.
func (w *pageWalk) elements(s span, page []byte) {
	flags, count := binary.NativeEndian.Uint16(page[8:]), int(binary.NativeEndian.Uint16(page[10:]))
	if flags != branchFlag && flags != leafFlag {
		w.fault(s.id, "its type is %#x", flags)
		return
	}
	if pageHeader+count*elementSize > len(page) {
		w.fault(s.id, "it has no room for its %d elements", count)
		return
	}
	key, child := branchKey, w.branch
	if flags == leafFlag {
		key, child = leafKey, w.leaf
	}
	keys := make([][]byte, count)
	for i := range count {
		if keys[i] = key(page[pageHeader+i*elementSize:]); keys[i] == nil {
			w.fault(s.id, "key %d is not inside of it", i)
			return
		}
	}
	w.order(s, keys)
	for i := range count {
		below := span{id: s.id, least: keys[i], end: s.end}
		if i+1 < count {
			below.end = keys[i+1]
		}
		child(below, i, page[pageHeader+i*elementSize:])
	}
}

// order looks at whether keys ascend and are where they belong.
func (w *pageWalk) order(s span, keys [][]byte) {
	for i, key := range keys {
		switch {
		case i == 0 && bytes.Compare(key, s.least) < 0, s.end != nil && bytes.Compare(key, s.end) >= 0:
			w.fault(s.id, "key %d belongs elsewhere", i)
			return
		case i > 0 && bytes.Compare(key, keys[i-1]) <= 0:
			w.fault(s.id, "key %d is not behind the one before it", i)
			return
		}
	}
}

// within returns part of an element and what is behind it, and nil when it is
// not inside.
func within(element []byte, at, size uint32) []byte {
	if uint64(at)+uint64(size) > uint64(len(element)) {
		return nil
	}
	return element[at : at+size : at+size]
}

// branchKey: offset and size of the key uint32, page uint64.
func branchKey(element []byte) []byte {
	return within(element, binary.NativeEndian.Uint32(element), binary.NativeEndian.Uint32(element[4:]))
}

func (w *pageWalk) branch(below span, _ int, element []byte) {
	below.id = binary.NativeEndian.Uint64(element[8:])
	w.todo = append(w.todo, below)
}

// leafKey: flags, offset of the key, size of the key, size of the value behind
// it, uint32 each.
func leafKey(element []byte) []byte {
	return within(element, binary.NativeEndian.Uint32(element[4:]), binary.NativeEndian.Uint32(element[8:]))
}

func (w *pageWalk) leaf(at span, i int, element []byte) {
	flags := binary.NativeEndian.Uint32(element)
	start := uint64(binary.NativeEndian.Uint32(element[4:])) + uint64(binary.NativeEndian.Uint32(element[8:]))
	end := start + uint64(binary.NativeEndian.Uint32(element[12:]))
	switch {
	case end > uint64(len(element)):
		w.fault(at.id, "row %d is not inside of it", i)
	case flags&bucketFlag == 0:
	case end-start < bucketHeader:
		w.fault(at.id, "row %d is too short for a bucket", i)
	default:
		w.bucket(at, i, element[start:end])
	}
}

// bucket looks at a row that is a bucket. The row's key is the least of at.
func (w *pageWalk) bucket(at span, i int, value []byte) {
	root, inline := binary.NativeEndian.Uint64(value), value[bucketHeader:]
	switch {
	case root != 0 && w.only != nil && !bytes.Equal(at.least, w.only):
	case root != 0:
		w.todo = append(w.todo, span{id: root})
	case len(inline) < pageHeader:
		w.fault(at.id, "row %d is too short for the bucket in it", i)
	default:
		w.elements(span{id: at.id}, inline)
	}
}

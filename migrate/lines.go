package migrate

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// lines finds the lines of the values in a document. A document may have as many
// faults as it has entries: what is found on the way to one is kept for the next.
type lines struct {
	data []byte
	// ends are the offsets of the newlines, once one line was asked for.
	ends    []int
	counted bool
	// parts holds, by where an object or a list begins, where the values in it do: by
	// key, or by index.
	parts map[int64]map[any]int64
}

func newLines(data []byte) *lines {
	return &lines{data: data}
}

// of returns the line, from 1, of the value that keys and indexes lead to from the
// top of the document; the last one that is there when they lead nowhere.
func (l *lines) of(way []any) int {
	offset := l.value(0)
	for _, step := range way {
		next, ok := l.within(offset)[step]
		if !ok {
			break
		}
		offset = next
	}
	return l.at(offset)
}

// at is the line of an offset.
func (l *lines) at(offset int64) int {
	if !l.counted {
		l.counted = true
		for i, b := range l.data {
			if b == '\n' {
				l.ends = append(l.ends, i)
			}
		}
	}
	n, _ := slices.BinarySearch(l.ends, int(offset))
	return n + 1
}

// value passes over what stands before one.
func (l *lines) value(offset int64) int64 {
	for offset < int64(len(l.data)) && strings.IndexByte(" \t\r\n,:", l.data[offset]) >= 0 {
		offset++
	}
	return offset
}

// within are the values in the object or list that begins at an offset; none in
// anything else. Of a key that comes twice the last one counts, as when it is read.
func (l *lines) within(start int64) map[any]int64 {
	if found, ok := l.parts[start]; ok {
		return found
	}
	found := map[any]int64{}
	if l.parts == nil { // of most documents nothing is asked
		l.parts = map[int64]map[any]int64{}
	}
	l.parts[start] = found
	dec := json.NewDecoder(bytes.NewReader(l.data[start:]))
	open, err := dec.Token()
	if err != nil || open != json.Delim('{') && open != json.Delim('[') {
		return found
	}
	for i := 0; dec.More(); i++ {
		var step any = i
		if open == json.Delim('{') {
			if step, err = dec.Token(); err != nil {
				break
			}
		}
		at := l.value(start + dec.InputOffset())
		var passed json.RawMessage
		if dec.Decode(&passed) != nil {
			break
		}
		found[step] = at
	}
	return found
}

package store

import (
	"bytes"
	"context"
	"iter"

	bolt "go.etcd.io/bbolt"
)

// pageItems and pageBytes bound what one read transaction of a walk copies.
const (
	pageItems = 500
	pageBytes = 4 << 20
)

// reader copies what it is asked for of one item. It is asked in key order.
type reader func(rows *tapes, key []byte) rawRecord

// walk yields what read copies of every item that has a row in one of the
// buckets, in key order and page by page. An error is the last thing it yields.
func (l *Ledger) walk(ctx context.Context, read reader, in ...string) iter.Seq2[rawRecord, error] {
	return func(yield func(rawRecord, error) bool) {
		page := make([]rawRecord, 0, pageItems)
		for from, more := []byte(nil), true; more; {
			err := l.view(ctx, func(tx *bolt.Tx) error {
				page, from, more = readPage(tx, page[:0], read, in, from)
				return nil
			})
			if err != nil {
				yield(rawRecord{}, err)
				return
			}
			for _, raw := range page {
				if !yield(raw, nil) {
					return
				}
			}
		}
	}
}

// readPage appends items from a key on to page; more is false when it reached the
// end, else the next page begins at then.
func readPage(tx *bolt.Tx, page []rawRecord, read reader, in []string, from []byte) (_ []rawRecord, then []byte, more bool) {
	rows := newTapes(tx)
	walked := make([]*tape, len(in))
	for i, bucket := range in {
		walked[i] = rows.of(bucket)
	}
	then = from
	for size := 0; len(page) < pageItems && size < pageBytes; {
		key := nextItem(walked, then)
		if key == nil {
			return page, nil, false
		}
		raw := read(rows, key)
		page = append(page, raw)
		size += raw.size()
		then = append(append(then[:0], raw.key...), next...)
	}
	return page, then, true
}

// nextItem returns the first item at or behind a key that has a row in one of
// the buckets, and nil when none has.
func nextItem(in []*tape, from []byte) (item []byte) {
	for _, t := range in {
		t.to(from)
		if t.key == nil {
			continue
		}
		if key := itemIn(t.key); item == nil || bytes.Compare(key, item) < 0 {
			item = key
		}
	}
	return item
}

// size is how many bytes were copied.
func (raw rawRecord) size() int {
	n := len(raw.item) + len(raw.session) + len(raw.link)
	for _, c := range raw.comments {
		n += len(c.value)
	}
	return n
}

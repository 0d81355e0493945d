package store

import (
	"context"
	"iter"

	bolt "go.etcd.io/bbolt"
)

// pageItems and pageBytes bound what one read transaction of a walk copies.
const (
	pageItems = 500
	pageBytes = 4 << 20
)

// reader copies what it is asked for of one item.
type reader func(tx *bolt.Tx, key string) rawRecord

// walk yields what read copies of every item that has a row in one of the
// buckets, in key order and page by page. An error is the last thing it yields.
func (l *Ledger) walk(ctx context.Context, read reader, in ...string) iter.Seq2[rawRecord, error] {
	return func(yield func(rawRecord, error) bool) {
		for from, more := "", true; more; {
			var page []rawRecord
			err := l.view(ctx, func(tx *bolt.Tx) error {
				page, from, more = readPage(tx, read, in, from)
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

// readPage copies items from a key on; more is false when it reached the end,
// else the next page begins at then.
func readPage(tx *bolt.Tx, read reader, in []string, from string) (page []rawRecord, then string, more bool) {
	for size := 0; len(page) < pageItems && size < pageBytes; {
		key, ok := nextItem(tx, in, from)
		if !ok {
			return page, from, false
		}
		raw := read(tx, key)
		page = append(page, raw)
		size += raw.size()
		from = key + next
	}
	return page, from, true
}

// nextItem returns the first item at or behind a key that has a row in one of
// the buckets.
func nextItem(tx *bolt.Tx, in []string, from string) (key string, ok bool) {
	for _, bucket := range in {
		k, _ := tx.Bucket([]byte(bucket)).Cursor().Seek([]byte(from))
		if item := itemOf(k); k != nil && (!ok || item < key) {
			key, ok = item, true
		}
	}
	return key, ok
}

// size is how many bytes were copied.
func (raw rawRecord) size() int {
	n := len(raw.item) + len(raw.session) + len(raw.link)
	for _, c := range raw.comments {
		n += len(c.value)
	}
	return n
}

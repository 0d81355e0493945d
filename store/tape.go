package store

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// tape reads the rows of one bucket in one transaction, best in the order of their
// keys: to go one row on costs a small part of looking a key up, and rows of most
// buckets lie as close together as the keys that a walk asks for. The library looks a
// bucket up anew whenever a read transaction asks for it, which takes as long as to
// find a row in it: a tape asks once.
type tape struct {
	tx     *bolt.Tx
	bucket string
	cursor *bolt.Cursor
	// behind is a key from which on there is nothing before the current row: to a key
	// before that it goes back.
	behind []byte
	// key is nil behind the last row. What key and value hold is the file's.
	key, value []byte
}

// to goes to the first row at or behind a key.
func (t *tape) to(key []byte) {
	if t.cursor == nil {
		t.cursor = t.tx.Bucket([]byte(t.bucket)).Cursor()
		t.seek(key)
		return
	}
	if bytes.Compare(key, t.behind) < 0 {
		t.seek(key)
		return
	}
	if t.before(key) {
		t.next()
	}
	if t.before(key) {
		t.seek(key)
	}
}

func (t *tape) before(key []byte) bool { return t.key != nil && bytes.Compare(t.key, key) < 0 }

// seek looks a key up. There is nothing between it and where that leads.
func (t *tape) seek(key []byte) {
	t.behind = append(t.behind[:0], key...)
	t.key, t.value = t.cursor.Seek(key)
}

// next goes one row on. There is nothing between the row that it leaves and where
// that leads.
func (t *tape) next() {
	t.behind = append(append(t.behind[:0], t.key...), 0)
	t.key, t.value = t.cursor.Next()
}

// at returns a copy of the value at a key, nil when there is none.
func (t *tape) at(key []byte) []byte {
	if t.to(key); !bytes.Equal(t.key, key) {
		return nil
	}
	return bytes.Clone(t.value)
}

// tapes has one for each bucket with rows of items.
type tapes struct{ items, comments, open, sessions, links tape }

func newTapes(tx *bolt.Tx) *tapes {
	of := func(bucket string) tape { return tape{tx: tx, bucket: bucket} }
	return &tapes{of(itemsBucket), of(commentsBucket), of(openBucket), of(sessionsBucket), of(linksBucket)}
}

// of returns the tape of a bucket, nil for one that has no rows of items.
func (t *tapes) of(bucket string) *tape {
	for _, one := range []*tape{&t.items, &t.comments, &t.open, &t.sessions, &t.links} {
		if one.bucket == bucket {
			return one
		}
	}
	return nil
}

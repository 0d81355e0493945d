package store

import (
	"bytes"

	bolt "go.etcd.io/bbolt"
)

// tape reads the rows of one bucket in one transaction, and only ever forward: to go
// one row on costs a small part of looking a key up, and rows of most buckets lie as
// close together as the keys that a walk asks for.
type tape struct {
	tx     *bolt.Tx
	bucket string
	cursor *bolt.Cursor
	// key is nil behind the last row. What key and value hold is the file's.
	key, value []byte
}

// to goes on to the first row at or behind a key. Keys must ascend.
func (t *tape) to(key []byte) {
	if t.cursor == nil {
		t.cursor = t.tx.Bucket([]byte(t.bucket)).Cursor()
		t.key, t.value = t.cursor.Seek(key)
		return
	}
	if t.before(key) {
		t.next()
	}
	if t.before(key) {
		t.key, t.value = t.cursor.Seek(key)
	}
}

func (t *tape) before(key []byte) bool { return t.key != nil && bytes.Compare(t.key, key) < 0 }

func (t *tape) next() { t.key, t.value = t.cursor.Next() }

// at returns a copy of the value at a key, nil when there is none. Keys must ascend.
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

package store

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"theloop/record"
	"theloop/workitem"
)

// maxCommentID keeps keys far below what the library takes.
const maxCommentID = 1024

// diff returns the rows to write so that what the ledger holds of an item
// becomes after. A zero after.Item removes the item's row.
func diff(key string, before, after record.Record) ([]row, error) {
	if err := check(key, after); err != nil {
		return nil, err
	}
	d := differ{key: key, rows: make([]row, 0, 4+max(0, after.Comments.Len()-before.Comments.Len()))}
	one(&d, itemsBucket, ptr(before.Item, before.Item.Rev > 0), ptr(after.Item, after.Item.Rev > 0))
	one(&d, sessionsBucket, before.Session, after.Session)
	one(&d, linksBucket, before.Link, after.Link)
	d.comments(before.Comments, after.Comments)
	d.index(key, unfinished(before), unfinished(after))
	return d.rows, d.err
}

func ptr[T any](value T, is bool) *T {
	if !is {
		return nil
	}
	row := value // what is not there is not made either
	return &row
}

// check refuses what could not be read back as it is, before anything is
// written: a fault of this program.
func check(key string, rec record.Record) error {
	if rec.Item.Rev > 0 {
		ref, err := workitem.ParseRef(rec.Item.Ref)
		if err != nil || ref.Key() != key {
			return fmt.Errorf("%w: a row of %s for the item %q", record.ErrIllegal, key, rec.Item.Ref)
		}
	}
	ids := make(map[string]bool, rec.Comments.Len())
	var last uint64
	for _, c := range rec.Comments.All() {
		if c.ID == "" || len(c.ID) > maxCommentID || strings.Contains(c.ID, sep) || !utf8.ValidString(c.ID) || ids[c.ID] {
			return fmt.Errorf("%w: a comment row of %s with the id %q", record.ErrIllegal, key, c.ID)
		}
		if c.Seq <= last {
			return fmt.Errorf("%w: comment %q of %s follows seq %d with %d", record.ErrIllegal, c.ID, key, last, c.Seq)
		}
		ids[c.ID], last = true, c.Seq
	}
	return nil
}

// differ collects rows, and the first error.
type differ struct {
	key  string
	rows []row
	err  error
}

func (d *differ) put(bucket, key string, value any) {
	encoded, err := encode(value)
	if err != nil && d.err == nil {
		d.err = fmt.Errorf("row %q of %s: %w", key, bucket, err)
	}
	d.rows = append(d.rows, row{bucket, key, encoded})
}

func (d *differ) drop(bucket, key string) { d.rows = append(d.rows, row{bucket: bucket, key: key}) }

func (d *differ) index(key string, was, is bool) {
	switch {
	case is && !was:
		d.rows = append(d.rows, row{openBucket, key, []byte{}})
	case was && !is:
		d.drop(openBucket, key)
	}
}

// one compares a row that an item has once. A nil pointer is no row.
func one[T any](d *differ, bucket string, before, after *T) {
	if after == nil {
		if before != nil {
			d.drop(bucket, d.key)
		}
		return
	}
	if before == nil {
		d.put(bucket, d.key, after)
		return
	}
	was, err := encode(before)
	is, err2 := encode(after)
	if d.err = cmp.Or(d.err, err, err2); d.err != nil || bytes.Equal(was, is) {
		return
	}
	d.rows = append(d.rows, row{bucket, d.key, is})
}

// comments compares the threads row by row. Rows that Apply did not touch are
// copies, so that comparing them as values is enough.
func (d *differ) comments(before, after record.Thread) {
	old := make(map[string]*record.Comment, before.Len())
	for i, c := range before.All() {
		old[c.ID] = &before.All()[i]
	}
	for _, c := range after.All() {
		was, had := old[c.ID]
		delete(old, c.ID)
		if had && *was == c {
			continue
		}
		key := commentKey(d.key, c.ID)
		d.put(commentsBucket, key, c)
		d.index(key, had && was.State == record.Pending, c.State == record.Pending)
	}
	for id, was := range old {
		key := commentKey(d.key, id)
		d.drop(commentsBucket, key)
		d.index(key, was.State == record.Pending, false)
	}
}

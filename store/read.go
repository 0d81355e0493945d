package store

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
	"theloop/workitem"
)

// Empty reports whether the ledger has no row of any item.
func (l *Ledger) Empty(ctx context.Context) (bool, error) {
	some := false
	err := l.view(ctx, func(tx *bolt.Tx) error {
		rows := newTapes(tx)
		for _, in := range itemBuckets() {
			tape := rows.of(in)
			tape.to(nil)
			some = some || tape.key != nil
		}
		return nil
	})
	return !some && err == nil, err
}

// Pending returns the items that have unresolved comment rows, in key order.
func (l *Ledger) Pending(ctx context.Context) ([]workitem.Ref, error) {
	return l.openItems(ctx, func(c *bolt.Cursor, key string) bool {
		rows := []byte(key + sep)
		k, _ := c.Seek(rows)
		return bytes.HasPrefix(k, rows)
	})
}

// Unfinished returns, in key order, the items that a start and every cycle have
// to look at whatever their tracker says: those with an unresolved comment row,
// an attempt in hand, an owed notice, a start that was not served yet, a session
// row that is not closed (of any machine), or an ending that is not sealed.
func (l *Ledger) Unfinished(ctx context.Context) ([]workitem.Ref, error) {
	return l.openItems(ctx, func(*bolt.Cursor, string) bool { return true })
}

// openItems returns the items in the open bucket that want picks.
func (l *Ledger) openItems(ctx context.Context, want func(*bolt.Cursor, string) bool) ([]workitem.Ref, error) {
	var keys []string
	var values [][]byte
	err := l.view(ctx, func(tx *bolt.Tx) error {
		items, c := tx.Bucket([]byte(itemsBucket)), tx.Bucket([]byte(openBucket)).Cursor()
		for k, _ := c.First(); k != nil; {
			key := itemOf(k)
			if want(c, key) {
				keys = append(keys, key)
				values = append(values, bytes.Clone(items.Get([]byte(key))))
			}
			k, _ = c.Seek([]byte(key + next))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var refs []workitem.Ref
	var bad error
	for i, key := range keys {
		ref, err := refOf(key, values[i])
		if bad = errors.Join(bad, err); err == nil {
			refs = append(refs, ref)
		}
	}
	return refs, bad
}

// refOf returns the ref as an item's row spells it, or as its key does when the
// row cannot be read: an item must not drop out for that.
func refOf(key string, value []byte) (workitem.Ref, error) {
	var item struct{ Ref string }
	_ = json.Unmarshal(value, &item) // what is not read is no ref
	return refNamed(key, item.Ref)
}

// refNamed is refOf for a row that is decoded.
func refNamed(key, text string) (workitem.Ref, error) {
	if ref, err := workitem.ParseRef(text); err == nil && ref.Key() == key {
		return ref, nil
	}
	ref, err := workitem.ParseRef(key)
	if err != nil {
		return workitem.Ref{}, &RowError{Bucket: itemsBucket, Key: key, Err: err}
	}
	return ref, nil
}

// Known returns, in key order, the items of a source that are not forgotten,
// those that have ended and those that were imported and not seen yet included:
// what a complete listing of it is held against (P8). Rows that do not decode are left
// out and come back as joined *RowErrors beside the refs, which are valid.
func (l *Ledger) Known(ctx context.Context, source string) ([]workitem.Ref, error) {
	var refs []workitem.Ref
	var bad error
	for raw, err := range l.walk(ctx, readItem, itemsBucket) {
		if err != nil {
			return nil, err
		}
		ref, known, err := raw.knownFrom(source)
		if bad = errors.Join(bad, err); known {
			refs = append(refs, ref)
		}
	}
	return refs, bad
}

func (raw rawRecord) knownFrom(source string) (ref workitem.Ref, known bool, err error) {
	item, err := raw.decodeItem()
	if err != nil {
		return workitem.Ref{}, false, err
	}
	if item.Source != source || item.Sealed() {
		return workitem.Ref{}, false, nil
	}
	ref, err = refNamed(raw.key, item.Ref)
	return ref, err == nil, err
}

// Items walks over every item in key order, without comment rows (Item.Counts
// says how many there are). It reads in pages, each a short transaction, so that
// items written meanwhile may or may not show their change. A *RowError stands
// for one item and the walk goes on; any other error is the last thing it yields.
func (l *Ledger) Items(ctx context.Context) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for raw, err := range l.walk(ctx, readItem, itemsBucket) {
			var rec record.Record
			if err == nil {
				rec, err = raw.decode()
			}
			if !yield(rec, err) {
				return
			}
		}
	}
}

// Linked returns the pull requests whose recorded target is the item and that
// have not ended (P3), in key order.
func (l *Ledger) Linked(ctx context.Context, target workitem.Ref) ([]workitem.Ref, error) {
	var raws []rawRecord
	err := l.view(ctx, func(tx *bolt.Tx) error {
		rows := newTapes(tx)
		return tx.Bucket([]byte(linksBucket)).ForEach(func(k, _ []byte) error {
			raws = append(raws, readItem(rows, k))
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	var refs []workitem.Ref
	var bad error
	for _, raw := range raws {
		var link record.Link
		err := decodeRow(linksBucket, raw.key, raw.link, &link)
		to, _ := workitem.ParseRef(link.Target)
		if err == nil && !link.Ended && to.Key() == target.Key() {
			var ref workitem.Ref
			if ref, err = refOf(raw.key, raw.item); err == nil {
				refs = append(refs, ref)
			}
		}
		bad = errors.Join(bad, err)
	}
	return refs, bad
}

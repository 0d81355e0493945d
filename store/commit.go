package store

import (
	"context"
	"fmt"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
	"theloop/workitem"
)

// Write is what one work item gets in a transaction: the changes, and the
// revision they were decided on. Without changes it only holds the others to
// that revision.
type Write struct {
	Ref     workitem.Ref
	Rev     uint64
	Changes []record.Change
}

// Record returns what the ledger holds of an item: the zero Record when it
// knows nothing. A row that does not decode is a *RowError, which concerns this
// item alone. The caller must not write into what the record points to.
func (l *Ledger) Record(ctx context.Context, ref workitem.Ref) (record.Record, error) {
	key, err := keyOf(ref)
	if err != nil {
		return record.Record{}, err
	}
	records, err := l.records(ctx, key)
	if err != nil {
		return record.Record{}, err
	}
	return records[0], nil
}

// Commit applies the changes to the item's record in one transaction and
// returns those that changed something (F1, F4). When none did, there is no
// transaction (F6). It returns record.ErrChanged when the record no longer has
// the revision (F7), record.ErrIllegal for a change that is no legal step, and
// record.ErrUnknown when it is not known whether the commit took effect: no
// effect may follow before the record was read again (B9). With any error but
// the last nothing has changed.
func (l *Ledger) Commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change) ([]record.Change, error) {
	applied, err := l.commit(ctx, Write{ref, rev, changes})
	if err != nil {
		return nil, err
	}
	return applied[0], nil
}

// CommitBoth is Commit for a pull request and the item whose session it belongs
// to, in one transaction: the target's control or session row is written, or
// with no changes its revision is relied on (F1, F7). The two must differ.
func (l *Ledger) CommitBoth(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change,
	target workitem.Ref, targetRev uint64, targetChanges []record.Change,
) (applied, targetApplied []record.Change, err error) {
	both, err := l.commit(ctx, Write{ref, rev, changes}, Write{target, targetRev, targetChanges})
	if err != nil {
		return nil, nil, err
	}
	return both[0], both[1], nil
}

// Batch is Commit for many items in one transaction, all or none. It is for the
// importer, which writes up to 1 000 whole records at a time; the poller commits
// item by item (F1). Every item may occur once.
func (l *Ledger) Batch(ctx context.Context, writes []Write) error {
	_, err := l.commit(ctx, writes...)
	return err
}

func (l *Ledger) commit(ctx context.Context, writes ...Write) ([][]record.Change, error) {
	if err := l.mayWrite(); err != nil {
		return nil, err
	}
	keys, err := keysOf(writes)
	if err != nil {
		return nil, err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	before, err := l.records(ctx, keys...)
	if err != nil {
		return nil, err
	}
	rows := make([]row, 0, 4*len(writes))
	applied := make([][]record.Change, len(writes))
	for i, w := range writes {
		var changed []row
		applied[i], changed, err = w.plan(keys[i], before[i])
		if err != nil {
			return nil, err
		}
		rows = append(rows, changed...)
	}
	if err := l.write(ctx, rows); err != nil {
		return nil, err
	}
	return applied, nil
}

// plan decides what a write changes in the record as it stands.
func (w Write) plan(key string, before record.Record) ([]record.Change, []row, error) {
	if before.Item.Rev != w.Rev {
		return nil, nil, fmt.Errorf("%w: %s is at revision %d, not %d", record.ErrChanged, w.Ref, before.Item.Rev, w.Rev)
	}
	after, applied, err := record.Apply(before, w.Changes)
	if err != nil || len(applied) == 0 {
		return nil, nil, err
	}
	if after.Item.Ref == "" { // nobody observed it yet, but a row says whose it is
		after.Item.Ref = w.Ref.String()
	}
	rows, err := diff(key, before, after)
	return applied, rows, err
}

// records reads several items in one transaction.
func (l *Ledger) records(ctx context.Context, keys ...string) ([]record.Record, error) {
	raw := make([]rawRecord, len(keys))
	threads := make([]record.Thread, len(keys))
	known := make([]bool, len(keys))
	err := l.view(ctx, func(tx *bolt.Tx) error {
		rows := newTapes(tx)
		for i, key := range keys {
			raw[i] = readItem(rows, []byte(key))
			if threads[i], known[i] = l.recent.get(key, raw[i].item); !known[i] {
				raw[i].comments = readComments(rows, key)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	records := make([]record.Record, len(keys))
	for i := range raw {
		if records[i], err = raw[i].decode(); err != nil {
			return nil, err
		}
		if known[i] {
			records[i].Comments = threads[i]
		} else {
			l.recent.put(keys[i], raw[i].item, records[i].Comments)
		}
	}
	return records, nil
}

// keyOf returns the item key of a ref that can be one.
func keyOf(ref workitem.Ref) (string, error) {
	key := ref.Key()
	if _, err := workitem.ParseRef(key); err != nil {
		return "", fmt.Errorf("use %q as a work item: %w", key, err)
	}
	return key, nil
}

func keysOf(writes []Write) ([]string, error) {
	keys := make([]string, len(writes))
	seen := make(map[string]bool, len(writes))
	for i, w := range writes {
		key, err := keyOf(w.Ref)
		if err != nil {
			return nil, err
		}
		if seen[key] {
			return nil, fmt.Errorf("%w: two writes of %s in one transaction", record.ErrIllegal, key)
		}
		keys[i], seen[key] = key, true
	}
	return keys, nil
}

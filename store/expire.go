package store

import (
	"context"
	"fmt"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// Expire removes tombstones of items that ended before a time, and session rows
// that were closed before it (P8: both stay for 90 days), in one transaction.
// It returns how many rows it removed. Items whose rows do not decode stay.
func (l *Ledger) Expire(ctx context.Context, before time.Time) (int, error) {
	if err := l.mayWrite(); err != nil {
		return 0, err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	keys, err := l.expiring(ctx, before)
	if err != nil {
		return 0, err
	}
	records, err := l.records(ctx, keys...)
	if err != nil {
		return 0, err
	}
	var rows []row
	removed := 0
	for i, rec := range records {
		after, n := expired(rec, before)
		changed, err := diff(keys[i], rec, after)
		if err != nil {
			return 0, err
		}
		rows, removed = append(rows, changed...), removed+n
	}
	return removed, l.remove(ctx, rows)
}

// expiring returns the items that have something to expire.
func (l *Ledger) expiring(ctx context.Context, before time.Time) (keys []string, err error) {
	for raw, err := range l.walk(ctx, readItem, itemsBucket, sessionsBucket) {
		if err != nil {
			return nil, err
		}
		rec, err := raw.decode()
		if _, n := expired(rec, before); err == nil && n > 0 { // Items and Check report the others
			keys = append(keys, raw.key)
		}
	}
	return keys, nil
}

// expired returns the record without what is too old, and how many rows went.
// The revision moves: whoever decided on the old rows decides again (F7).
func expired(rec record.Record, before time.Time) (after record.Record, removed int) {
	after = rec
	if s := rec.Session; s != nil && !s.Open() && !s.EndedAt.IsZero() && s.EndedAt.Before(before) {
		after.Session = nil
		removed++
	}
	switch {
	case rec.Item.Sealed() && rec.Item.EndedAt.Before(before):
		after = record.Record{Session: after.Session}
		removed++
	case removed > 0 && rec.Item.Rev > 0:
		after.Item.Rev++
	}
	return after, removed
}

// ForgetAll is what a person asks for: it forgets the items, all or, when one
// cannot be forgotten, none. An ended item leaves its tombstone (P8), an open
// one nothing but a closed session row, so that it is seen for the first time
// again. An item that the ledger does not know, or whose session row is not
// closed, is an error that names it.
func (l *Ledger) ForgetAll(ctx context.Context, refs []workitem.Ref) error {
	if err := l.mayWrite(); err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	var rows []row
	for _, ref := range refs {
		changed, err := l.planForget(ctx, ref)
		if err != nil {
			return fmt.Errorf("forget %s: %w", ref, err)
		}
		rows = append(rows, changed...)
	}
	return l.remove(ctx, rows)
}

// remove writes rows of items that leave no revision behind.
func (l *Ledger) remove(ctx context.Context, rows []row) error {
	defer l.recent.clear()
	return l.write(ctx, rows)
}

func (l *Ledger) planForget(ctx context.Context, ref workitem.Ref) ([]row, error) {
	key, err := keyOf(ref)
	if err != nil {
		return nil, err
	}
	records, err := l.records(ctx, key)
	if err != nil {
		return nil, err
	}
	rec := records[0]
	switch {
	case rec.Item.Rev == 0:
		return nil, fmt.Errorf("the ledger does not know it")
	case rec.Session.Open():
		return nil, fmt.Errorf("%w (%s)", ErrSessionOpen, rec.Session.Status)
	case rec.Item.Ended() || rec.Item.Sealed():
		_, rows, err := Write{ref, rec.Item.Rev, []record.Change{record.Forget{}}}.plan(key, rec)
		return rows, err
	}
	return diff(key, rec, record.Record{Session: l.bygone(rec)})
}

// bygone is the session row that outlives a forgotten item. An item that has had a
// session, and has no row of it, leaves one: the numbers of its spawns go on with
// the next first sight. What a pane that was kept has in its ring by then must not
// prove one, nor what is said on the item of the one before (D5, D12, B3).
func (l *Ledger) bygone(rec record.Record) *record.Session {
	if rec.Item.Spawn.N == 0 {
		return rec.Session
	}
	row := record.Session{Status: record.Shut, CreatedAt: rec.Item.FirstSeenAt, EndedAt: l.opts.Now().UTC()}
	if rec.Session != nil {
		row = *rec.Session
	}
	row.Spawns = max(row.Spawns, rec.Item.Spawn.N)
	return &row
}

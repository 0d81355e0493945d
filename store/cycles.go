package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
)

// keptCycles is how many cycle rows stay: a day of one a minute.
const keptCycles = 1440

// EndCycle writes a cycle's row and the rows of the sources it listed, in one
// transaction: the only one of a quiet cycle (F6). Of the cycles the last 1 440
// are kept; sources that are not given keep their row.
func (l *Ledger) EndCycle(ctx context.Context, cycle record.Cycle, sources []record.SourceRow) error {
	if err := l.mayWrite(); err != nil {
		return err
	}
	value, err := encode(cycle)
	if err != nil {
		return err
	}
	rows := make([]row, len(sources))
	for i, s := range sources {
		encoded, err := encode(s)
		if err != nil {
			return err
		}
		rows[i] = row{sourcesBucket, s.ID, encoded}
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.update(ctx, func(tx *bolt.Tx) error {
		for _, r := range rows {
			if err := put(tx, r); err != nil {
				return err
			}
		}
		return putCycle(tx, value)
	})
}

// putCycle appends a cycle row and removes the oldest over the limit.
func putCycle(tx *bolt.Tx, value []byte) error {
	cycles := tx.Bucket([]byte(cyclesBucket))
	seq, err := cycles.NextSequence()
	if err != nil {
		return fmt.Errorf("number the cycle: %w", err)
	}
	if err := put(tx, row{cyclesBucket, cycleKey(seq), value}); err != nil {
		return err
	}
	if seq <= keptCycles {
		return nil
	}
	oldest := cycleKey(seq - keptCycles + 1)
	var old []string
	c := cycles.Cursor()
	for k, _ := c.First(); k != nil && string(k) < oldest; k, _ = c.Next() {
		old = append(old, string(k))
	}
	for _, key := range old {
		if err := put(tx, row{bucket: cyclesBucket, key: key}); err != nil {
			return err
		}
	}
	return nil
}

// Cycles returns the last n cycles, the newest first; all that are kept when n
// is not positive. Rows that do not decode are left out and come back as joined
// *RowErrors beside the others.
func (l *Ledger) Cycles(ctx context.Context, n int) ([]record.Cycle, error) {
	var rows []row
	err := l.view(ctx, func(tx *bolt.Tx) error {
		c := tx.Bucket([]byte(cyclesBucket)).Cursor()
		for k, v := c.Last(); k != nil && (n <= 0 || len(rows) < n); k, v = c.Prev() {
			rows = append(rows, row{cyclesBucket, string(k), append([]byte{}, v...)})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return decodeRows[record.Cycle](rows)
}

// Sources returns the rows of all sources that were ever listed, by id. Rows
// that do not decode are left out and come back as joined *RowErrors beside the
// others.
func (l *Ledger) Sources(ctx context.Context) (map[string]record.SourceRow, error) {
	var rows []row
	err := l.view(ctx, func(tx *bolt.Tx) error {
		return tx.Bucket([]byte(sourcesBucket)).ForEach(func(k, v []byte) error {
			rows = append(rows, row{sourcesBucket, string(k), append([]byte{}, v...)})
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	all, bad := decodeRows[record.SourceRow](rows)
	sources := make(map[string]record.SourceRow, len(all))
	for _, s := range all {
		sources[s.ID] = s
	}
	return sources, bad
}

func decodeRows[T any](rows []row) (values []T, bad error) {
	for _, r := range rows {
		var value T
		err := decodeRow(r.bucket, r.key, r.value, &value)
		if bad = errors.Join(bad, err); err == nil {
			values = append(values, value)
		}
	}
	return values, bad
}

// FinishImport notes that records of earlier releases were imported, or written from
// this ledger in their place: from then on the ledger has a history although no cycle
// was run on it, and only what is written later is news.
func (l *Ledger) FinishImport(ctx context.Context, at time.Time) error {
	if err := l.mayWrite(); err != nil {
		return err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	return l.write(ctx, []row{{metaBucket, metaImported, []byte(at.UTC().Format(time.RFC3339Nano))}})
}

// ImportedAt returns when the last import, or export in place, finished; the zero time
// when none did.
func (l *Ledger) ImportedAt(ctx context.Context) (time.Time, error) {
	var text string
	err := l.view(ctx, func(tx *bolt.Tx) error {
		text = string(tx.Bucket([]byte(metaBucket)).Get([]byte(metaImported)))
		return nil
	})
	if err != nil || text == "" {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return time.Time{}, &RowError{Bucket: metaBucket, Key: metaImported, Err: err}
	}
	return at, nil
}

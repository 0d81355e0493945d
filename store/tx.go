package store

import (
	"context"
	"errors"
	"fmt"
	"os"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
)

// row is one row as it is written: a nil value removes it.
type row struct {
	bucket, key string
	value       []byte
}

// view runs fn in a read transaction. fn copies what it keeps, and does nothing
// else: a reader that stays makes the file grow and the next writer wait.
func (l *Ledger) view(ctx context.Context, fn func(*bolt.Tx) error) error {
	return l.use(ctx, func(db *bolt.DB) error { return l.viewOn(db, fn) })
}

func (l *Ledger) viewOn(db *bolt.DB, fn func(*bolt.Tx) error) error {
	l.risky.Add(1)
	tx, err := db.Begin(false)
	l.risky.Add(-1)
	if err != nil {
		l.suspect.Store(true) // a failed remap leaves nothing mapped
		return fmt.Errorf("read the ledger %s: %w", l.opts.Path, err)
	}
	defer func() { _ = tx.Rollback() }() // gives its locks back, in a fault too
	return fn(tx)
}

// update runs fn in a read-write transaction. The caller holds writing. An
// error of the commit itself is record.ErrUnknown: the transaction may be there.
func (l *Ledger) update(ctx context.Context, fn func(*bolt.Tx) error) error {
	err := l.use(ctx, func(db *bolt.DB) error {
		l.risky.Add(1)
		err := l.updateOn(db, fn)
		l.risky.Add(-1)
		return err
	})
	if err != nil {
		return err
	}
	l.writer = l.opts.Writer
	l.commits.Add(1)
	return nil
}

func (l *Ledger) updateOn(db *bolt.DB, fn func(*bolt.Tx) error) error {
	tx, err := db.Begin(true)
	if err != nil {
		l.suspect.Store(true)
		return fmt.Errorf("write the ledger %s: %w", l.opts.Path, err)
	}
	if err := l.fill(tx, fn); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	err = tx.Commit()
	if committed := l.opts.failpoints.committed; err == nil && committed != nil {
		err = committed()
	}
	if err != nil {
		l.suspect.Store(true)
		return fmt.Errorf("commit to the ledger %s: %w: %w", l.opts.Path, record.ErrUnknown, err)
	}
	return nil
}

// fill does everything between the begin and the commit of a write.
func (l *Ledger) fill(tx *bolt.Tx, fn func(*bolt.Tx) error) error {
	if err := l.uncut(tx); err != nil { // writing would put zeros where the rest was
		return err
	}
	if err := l.settle(); err != nil {
		return err
	}
	if l.writer != l.opts.Writer {
		if err := put(tx, row{metaBucket, metaWriter, []byte(l.opts.Writer)}); err != nil {
			return err
		}
	}
	return fn(tx)
}

// present looks at the meta pages in the file before the library does so in the
// map. It would meet a fault there while it holds its locks, and whoever waits
// for those would wait for ever. That is left for a file whose first pages go
// in the microsecond in which a transaction begins.
func (l *Ledger) present() error {
	_, reason, err := liveMeta(l.file)
	if err != nil {
		return fmt.Errorf("read the ledger %s: %w", l.opts.Path, err)
	}
	if reason != "" {
		reason = "was changed by somebody else while it was open: it " + reason
	}
	return damaged(l.opts.Path, reason)
}

// Damage returns the *DamagedError that makes the ledger unusable from now on,
// and nil while it is none. It looks at the file, so that somebody who has
// nothing to read or write notices as well.
func (l *Ledger) Damage(ctx context.Context) error {
	if err := l.view(ctx, l.uncut); isDamage(err) {
		return err
	}
	return nil
}

// uncut is an error when the file has become shorter than what is in it.
func (l *Ledger) uncut(tx *bolt.Tx) error {
	info, err := l.file.Stat()
	if err != nil {
		return fmt.Errorf("look at the open ledger: %w", err)
	}
	if info.Size() < tx.Size() {
		return &DamagedError{Path: l.opts.Path, Reason: "was cut short while it was open"}
	}
	return nil
}

// use runs fn on the open file, after opening it again if a commit failed. A
// fault in fn makes the ledger unusable.
func (l *Ledger) use(ctx context.Context, fn func(*bolt.DB) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("use the ledger %s: %w", l.opts.Path, err)
	}
	if err := l.hold(); err != nil {
		return err
	}
	defer l.mu.RUnlock()
	err := l.present()
	if err == nil {
		err = survive(l.opts.Path, func() error { return fn(l.db) })
	}
	var damage *DamagedError
	if errors.As(err, &damage) {
		l.damage.CompareAndSwap(nil, damage)
	}
	return err
}

// hold takes mu shared, with the file open and fit to be used.
func (l *Ledger) hold() error {
	for {
		l.mu.RLock()
		damage := l.damage.Load()
		switch {
		case l.closed:
			l.mu.RUnlock()
			return l.errClosed()
		case damage != nil:
			l.mu.RUnlock()
			return damage
		case l.db != nil && !l.suspect.Load():
			return nil
		}
		l.mu.RUnlock()
		if err := l.reopen(); err != nil {
			return err
		}
	}
}

// mayWrite is the first thing every write asks.
func (l *Ledger) mayWrite() error {
	if l.opts.ReadOnly {
		return fmt.Errorf("write the ledger %s: it is open for reading only: %w", l.opts.Path, os.ErrPermission)
	}
	return nil
}

// write commits rows in one transaction; none, no transaction (F6). The caller
// holds writing.
func (l *Ledger) write(ctx context.Context, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	return l.update(ctx, func(tx *bolt.Tx) error {
		for _, r := range rows {
			if err := put(tx, r); err != nil {
				return err
			}
		}
		return nil
	})
}

func put(tx *bolt.Tx, r row) error {
	bucket := tx.Bucket([]byte(r.bucket))
	var err error
	if r.value == nil {
		err = bucket.Delete([]byte(r.key))
	} else {
		err = bucket.Put([]byte(r.key), r.value)
	}
	if err != nil {
		return fmt.Errorf("write row %q of %s: %w", r.key, r.bucket, err)
	}
	return nil
}

package store

import (
	"fmt"
	"strconv"

	bolt "go.etcd.io/bbolt"
)

// A migration brings the rows of a ledger from one schema to the next one. It
// does nothing but calls of the library, on buckets of which only those that its
// schema has are there.
type migration func(*bolt.Tx) error

// layout is the schema that a program works with, and how older ledgers get
// there: migrations by the schema that each of them begins with.
type layout struct {
	schema     int
	migrations map[int]migration
}

// currentLayout is that of this program. There has been one schema so far. Whoever
// makes another one counts schema up and puts the way from the one before here;
// a migration stays for as long as a ledger of its schema may be met.
func currentLayout() layout { return layout{schema: schema, migrations: map[int]migration{}} }

// oldest is the first schema from which there is a way without a gap.
func (y layout) oldest() int {
	from := y.schema
	for from > 1 && y.migrations[from-1] != nil {
		from--
	}
	return from
}

// migrate brings an older ledger to this program's schema: in one transaction,
// after a copy of what it was lies beside it on disk. It is the old one until
// that transaction is there, and the new one from then on. Nobody else knows l
// yet, and the run lock keeps other writers away (L11).
func (l *Ledger) migrate(h head) (head, error) {
	if l.opts.ReadOnly || h.schema < l.opts.layout.oldest() {
		return head{}, l.olderSchema(h)
	}
	to := l.opts.layout.schema
	what := fmt.Sprintf("migrate the ledger %s from schema %d to %d", l.opts.Path, h.schema, to)
	kept, err := l.keepCopy(h.schema)
	if err != nil {
		return head{}, fmt.Errorf("%s: %w; nothing was changed", what, err)
	}
	err = survive(l.opts.Path, func() error {
		l.risky.Add(1)
		err := l.updateOn(l.db, func(tx *bolt.Tx) error { return l.rewriteRows(tx, h.schema) })
		l.risky.Add(-1)
		return err
	})
	if err == nil {
		err = l.opts.reached("committed")
	}
	if err != nil {
		return head{}, fmt.Errorf("%s: %w; a copy of what it was is %s", what, err, kept)
	}
	l.opts.Log.Info("migrated the ledger; a copy of what it was lies beside it",
		"path", l.opts.Path, "from", h.schema, "to", to, "copy", kept)
	return l.readHead(l.db)
}

// olderSchema says why an older ledger is not used.
func (l *Ledger) olderSchema(h head) error {
	y := l.opts.layout
	return &SchemaError{Path: l.opts.Path, Found: h.schema, Known: y.schema, Oldest: y.oldest(), Writer: h.writer}
}

// rewriteRows goes from schema to schema and says in the file which one it is.
func (l *Ledger) rewriteRows(tx *bolt.Tx, from int) error {
	y := l.opts.layout
	for v := from; v < y.schema; v++ {
		if err := y.migrations[v](tx); err != nil {
			return fmt.Errorf("from schema %d: %w", v, err)
		}
		if err := l.opts.reached(fmt.Sprintf("schema %d", v+1)); err != nil {
			return err
		}
	}
	if name := missingBucket(tx); name != "" {
		return fmt.Errorf("it left no bucket %q", name)
	}
	return put(tx, row{metaBucket, metaSchema, []byte(strconv.Itoa(y.schema))})
}

// reached is where tests let a migration fail or be killed.
func (o Options) reached(step string) error {
	if o.failpoints.migrating == nil {
		return nil
	}
	return o.failpoints.migrating(step)
}

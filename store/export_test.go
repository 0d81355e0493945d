package store

import (
	"context"
	"hash/maphash"
	"io"

	bolt "go.etcd.io/bbolt"
)

// FailCommits makes every commit that took effect return what fn returns.
func (l *Ledger) FailCommits(fn func() error) { l.opts.failpoints.committed = fn }

// OnOpened runs fn when the file is open and not yet held against its path.
func (o *Options) OnOpened(fn func()) { o.failpoints.opened = fn }

// OnBuilt runs fn when a new ledger is whole and has not got its name yet.
func (o *Options) OnBuilt(fn func()) { o.failpoints.built = fn }

// OnMigrating runs fn at each step of a migration.
func (o *Options) OnMigrating(fn func(step string) error) { o.failpoints.migrating = fn }

// SetSchema is what another release of this program knows.
func (o *Options) SetSchema(newest int, migrations map[int]func(*bolt.Tx) error) {
	o.layout = layout{schema: newest, migrations: map[int]migration{}}
	for from, fn := range migrations {
		o.layout.migrations[from] = fn
	}
}

// CheckFileWith is CheckFile of another release.
func CheckFileWith(ctx context.Context, opts Options) ([]Problem, error) { return checkFile(ctx, opts) }

// ReportCheckWith is ReportCheck of another release.
func ReportCheckWith(ctx context.Context, opts Options, w io.Writer) error {
	return reportCheck(ctx, opts, w)
}

// CheckPages is the part of Check that looks at the file's pages.
func (l *Ledger) CheckPages(ctx context.Context) ([]Problem, error) { return l.checkFile(ctx) }

// CheckLibrary is the library's own check of them.
func (l *Ledger) CheckLibrary(ctx context.Context) ([]Problem, error) { return l.checkLibrary(ctx) }

// Sum is a hash of every row as it lies in the file.
func (l *Ledger) Sum(ctx context.Context, seed maphash.Seed) (uint64, error) {
	var h maphash.Hash
	h.SetSeed(seed)
	err := l.view(ctx, func(tx *bolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bolt.Bucket) error {
			_, _ = h.Write(name)
			return b.ForEach(func(k, v []byte) error {
				_, _ = h.Write(k)
				_, _ = h.Write(v)
				return nil
			})
		})
	})
	return h.Sum64(), err
}

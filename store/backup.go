package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	bolt "go.etcd.io/bbolt"
)

// compactTx bounds what one transaction of Compact holds in memory, in bytes.
const compactTx = 4 << 20

// Backup writes a consistent copy of the whole file to w while the ledger is in
// use. The copy is a read transaction for as long as w takes: commits that make
// the file grow wait for it, so w should be a file and no slow client.
func (l *Ledger) Backup(ctx context.Context, w io.Writer) error {
	return l.view(ctx, func(tx *bolt.Tx) error {
		if _, err := tx.WriteTo(patient{ctx, w}); err != nil {
			if cut := l.uncut(tx); cut != nil {
				return cut
			}
			return fmt.Errorf("copy the ledger %s: %w", l.opts.Path, err)
		}
		return nil
	})
}

// patient writes until its context ends.
type patient struct {
	ctx context.Context
	w   io.Writer
}

func (p patient) Write(b []byte) (int, error) {
	if err := p.ctx.Err(); err != nil {
		return 0, err
	}
	return p.w.Write(b)
}

// Compact rewrites the file without its free pages and returns the sizes before
// and after, in bytes. It works beside the ledger, checks what it wrote and only
// then renames it; the caller holds the run lock (L11), and nobody has the file
// open. A ledger that is missing is an error (fs.ErrNotExist), one that Check
// finds fault with is left as it is.
func Compact(ctx context.Context, opts Options) (before, after int64, err error) {
	if _, err := os.Lstat(opts.Path); err != nil {
		return 0, 0, fmt.Errorf("look for the ledger: %w", err)
	}
	opts.ReadOnly = false
	l, err := Open(ctx, opts)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	problems, err := l.Check(ctx)
	if err != nil {
		return 0, 0, err
	}
	if len(problems) > 0 {
		return 0, 0, &DamagedError{Path: opts.Path, Reason: fmt.Sprintf("has %d faults, the first one: %s", len(problems), problems[0])}
	}
	if before, err = fileSize(opts.Path); err != nil {
		return 0, 0, err
	}
	if err := l.rewrite(); err != nil {
		return 0, 0, fmt.Errorf("compact the ledger %s: %w", opts.Path, err)
	}
	after, err = fileSize(opts.Path)
	return before, after, err
}

func (l *Ledger) rewrite() error {
	path := l.opts.Path
	tmp, err := newFile(path)
	if err != nil {
		return err
	}
	err = survive(tmp, func() error {
		return build(tmp, l.opts, func(dst *bolt.DB) error { return bolt.Compact(dst, l.db, compactTx) })
	})
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return syncFolder(filepath.Dir(path))
}

func fileSize(path string) (int64, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return 0, fmt.Errorf("look at the ledger: %w", err)
	}
	return info.Size(), nil
}

package store

import (
	"fmt"
	"os"
	"path/filepath"
)

// settle puts what the file says on disk, once for each time it is opened,
// before the first write. What is read need not be there: a process that was
// killed between a write and the sync behind it, or whose sync failed, leaves a
// meta page that everybody reads and no disk has, and maybe a name. A commit on
// top would write over the pages of the state before, and a power cut in the
// middle of it would leave neither of the two.
//
// The meta page is written again with what is in it, since a page whose sync
// failed counts as written: syncing alone would not bring it back.
func (l *Ledger) settle() error {
	if l.settled == l.file {
		return nil
	}
	if err := rewriteMeta(l.file, l.opts.Path); err != nil {
		return err
	}
	if err := syncFolder(filepath.Dir(l.opts.Path)); err != nil {
		return fmt.Errorf("sync the folder of the ledger %s: %w", l.opts.Path, err)
	}
	l.settled = l.file
	return nil
}

// rewriteMeta writes the meta page that counts as it is, and syncs the file.
func rewriteMeta(f *os.File, path string) error {
	m, reason, err := liveMeta(f)
	if err != nil {
		return fmt.Errorf("read the ledger %s: %w", path, err)
	}
	if reason != "" {
		return damaged(path, reason)
	}
	page := make([]byte, m.pageSize)
	offset := int64(m.tx%2) * int64(m.pageSize) // as bbolt places them
	if _, err = f.ReadAt(page, offset); err == nil {
		_, err = f.WriteAt(page, offset)
	}
	if err == nil {
		err = f.Sync()
	}
	if err != nil {
		return fmt.Errorf("put the ledger %s on disk: %w", path, err)
	}
	return nil
}

package store

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	bolt "go.etcd.io/bbolt"
)

// keepCopy puts a copy of the ledger beside it, whole or not at all, and returns
// its path: the ledger's with `.v1.bak` behind it. That name is on disk before the
// first write of the migration (see settle). A copy that is there already is never
// written over: one of this very state, from a migration that was cut off, is the
// copy; any other one keeps its name, and this one gets `.2`, `.3`, … behind its own.
func (l *Ledger) keepCopy(from int) (path string, err error) {
	name := fmt.Sprintf("%s.v%d.bak", l.opts.Path, from)
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy it to %s first, which takes as much room again: %w", name, err)
		}
	}()
	if err := l.opts.reached("copy"); err != nil {
		return "", err
	}
	tmp, err := newFile(name)
	if err != nil {
		return "", err
	}
	if err = l.copyTo(tmp); err == nil {
		path, err = placeCopy(tmp, name)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(tmp))
	}
	return path, l.opts.reached("placed")
}

// copyTo writes the ledger into an empty file, and looks whether what it wrote
// holds together: a ledger that does not is not to be migrated.
func (l *Ledger) copyTo(path string) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	to := noting{w: io.NewOffsetWriter(f, 0)}
	err = l.viewOn(l.db, func(tx *bolt.Tx) error {
		_, err := tx.WriteTo(&to)
		return cmp.Or(to.err, err)
	})
	if err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = l.opts.reached("copied")
	}
	if err != nil {
		return err
	}
	if faults := walkPages(f); len(faults) > 0 {
		return &DamagedError{Path: l.opts.Path, Reason: fmt.Sprintf("has %d faults in its pages, the first one: %v", len(faults), faults[0])}
	}
	return nil
}

// noting keeps the error of a write, of which the library passes on the text.
type noting struct {
	w   io.Writer
	err error
}

func (n *noting) Write(b []byte) (int, error) {
	done, err := n.w.Write(b)
	n.err = err
	return done, err
}

// placeCopy gives a copy the first name that is free, or removes it when the
// same is there already.
func placeCopy(tmp, name string) (string, error) {
	for n, path := 1, name; ; path = fmt.Sprintf("%s.%d", name, n) {
		_, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			return path, place(tmp, path)
		}
		if err != nil {
			return "", err
		}
		if sameState(tmp, path) {
			return path, os.Remove(tmp)
		}
		n++
	}
}

// sameState reports whether two files hold the same state of one ledger. Pages
// that are not used may differ: a transaction that was cut off wrote into them.
// A file that cannot be read is another one.
func sameState(one, other string) bool {
	a, pagesA, ok := usedPages(one)
	if !ok {
		return false
	}
	defer a.f.Close()
	b, pagesB, ok := usedPages(other)
	if !ok {
		return false
	}
	defer b.f.Close()
	if a.m != b.m || len(pagesA) != len(pagesB) {
		return false
	}
	was, is := make([]byte, a.m.pageSize), make([]byte, b.m.pageSize)
	for i, id := range pagesA {
		at := int64(id) * int64(a.m.pageSize)
		_, errA := a.f.ReadAt(was, at)
		_, errB := b.f.ReadAt(is, at)
		if errA != nil || errB != nil || id != pagesB[i] || !bytes.Equal(was, is) {
			return false
		}
	}
	return true
}

// openState is a ledger file and which state it is in.
type openState struct {
	f *os.File
	m metaPage
}

// usedPages opens a ledger file and returns the pages that are used in it; ok is
// false, and nothing is open, when it is none that holds together.
func usedPages(path string) (s openState, ids []uint64, ok bool) {
	if inspect(path) != nil {
		return s, nil, false
	}
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return s, nil, false
	}
	m, reason, err := liveMeta(f)
	if err == nil && reason == "" && preflight(f, path) == nil {
		w := newWalk(f, m)
		w.follow()
		for id, used := range w.seen {
			if used {
				ids = append(ids, uint64(id))
			}
		}
		if len(w.faults) == 0 {
			return openState{f, m}, ids, true
		}
	}
	_ = f.Close()
	return s, nil, false
}

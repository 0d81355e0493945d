package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
	"time"

	bolt "go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"
)

// fileMode is that of every file of ours (L9).
const fileMode = 0o600

// interruptedPause keeps what is interrupted again and again from taking a core.
const interruptedPause = 5 * time.Millisecond

// attach opens the file and makes sure that it is the one at the path, the one
// that was open before, and a ledger. The caller holds mu, or nobody knows l.
func (l *Ledger) attach() error {
	db, file, err := openBolt(l.opts)
	if l.info != nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s", ErrReplaced, l.opts.Path)
	}
	if err != nil {
		return err
	}
	if opened := l.opts.failpoints.opened; opened != nil {
		opened()
	}
	head, err := l.verify(db, file)
	if err != nil {
		return errors.Join(err, l.closeFile(db, file))
	}
	l.db, l.file = db, file
	if head.schema < l.opts.layout.schema && !l.opts.older {
		if head, err = l.migrate(head); err != nil {
			return errors.Join(err, l.detach())
		}
	}
	if l.instance == "" { // the first time: nobody else knows l
		l.instance, l.writer = head.instance, head.writer
	}
	l.suspect.Store(false)
	return nil
}

// detach closes what attach opened. No transaction runs.
func (l *Ledger) detach() error {
	db, file := l.db, l.file
	l.db, l.file = nil, nil
	if db == nil {
		return nil
	}
	return l.closeFile(db, file)
}

// closeFile closes the file. After a fault where the library holds locks of its
// own it would wait for them for ever: then only the descriptor is closed, and
// the file stays locked until the process ends, as it should soon.
func (l *Ledger) closeFile(db *bolt.DB, file *os.File) error {
	if l.risky.Load() > 0 {
		return file.Close()
	}
	return db.Close()
}

func isDamage(err error) bool {
	var damaged *DamagedError
	return errors.As(err, &damaged)
}

// reopen closes and opens the file after a commit whose outcome is unknown, so
// that what is read next is what is there (B9).
func (l *Ledger) reopen() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.db != nil && !l.suspect.Load() {
		return nil // somebody else did
	}
	l.recent.clear()
	if err := l.detach(); err != nil {
		l.opts.Log.Warn("close the ledger to open it again", "path", l.opts.Path, "error", err)
	}
	if err := l.attach(); err != nil {
		return fmt.Errorf("open the ledger again: %w", err)
	}
	return nil
}

// verify holds the open file against its path (L11) and reads its head.
func (l *Ledger) verify(db *bolt.DB, file *os.File) (head, error) {
	info, err := file.Stat()
	if err != nil {
		return head{}, fmt.Errorf("look at the open ledger: %w", err)
	}
	if l.info == nil {
		l.info = info
	}
	replaced, err := l.Replaced()
	if err != nil {
		return head{}, err
	}
	if replaced || !os.SameFile(l.info, info) {
		return head{}, fmt.Errorf("%w: %s", ErrReplaced, l.opts.Path)
	}
	if err := walkHead(file, l.opts.Path); err != nil {
		return head{}, err
	}
	return l.readHead(db)
}

// openBolt opens an existing file that has passed the checks which need no
// mapping. The checks run on the descriptor that is opened, before bbolt locks
// it: a writer that holds it at this moment has at least one whole meta page in
// it at any time, and the file never shrinks under it.
func openBolt(opts Options) (db *bolt.DB, file *os.File, err error) {
	path := opts.Path
	if err := inspect(path); err != nil {
		return nil, nil, err
	}
	open := func(name string, flag int, _ os.FileMode) (*os.File, error) {
		f, err := os.OpenFile(name, flag&^os.O_CREATE|noFollow, 0)
		if err != nil {
			return nil, fmt.Errorf("open the ledger: %w", err)
		}
		if err := preflight(f, path); err != nil {
			return nil, errors.Join(err, f.Close())
		}
		file = f
		return f, nil
	}
	err = survive(path, func() error {
		db, err = openPatiently(path, bolt.Options{Timeout: opts.Timeout, ReadOnly: opts.ReadOnly, OpenFile: open})
		return err
	})
	if isDamage(err) && file != nil { // the library had no chance to close it
		_ = file.Close()
	}
	return db, file, openError(path, file != nil, err)
}

// openPatiently tries again within the timeout when a signal interrupted the
// library's call for the lock, which takes that for a refusal: file systems over
// a network, and such in user space, let calls be interrupted that never wait.
func openPatiently(path string, o bolt.Options) (*bolt.DB, error) {
	for give := time.Now().Add(o.Timeout); ; o.Timeout = max(time.Until(give), time.Millisecond) {
		db, err := bolt.Open(path, fileMode, &o)
		if !errors.Is(err, syscall.EINTR) || time.Now().After(give) {
			return db, err
		}
		time.Sleep(interruptedPause)
	}
}

// openError says what an error of the library means. opened is set when the
// descriptor was open and its file had passed the checks.
func openError(path string, opened bool, err error) error {
	switch {
	case err == nil, !opened, isDamage(err):
		return err
	case errors.Is(err, berrors.ErrTimeout):
		return &InUseError{Path: path}
	case errors.Is(err, berrors.ErrInvalid), errors.Is(err, berrors.ErrVersionMismatch), errors.Is(err, berrors.ErrChecksum):
		return &DamagedError{Path: path, Reason: fmt.Sprintf("is damaged (%v)", err)}
	}
	return fmt.Errorf("open the ledger %s: %w", path, err)
}

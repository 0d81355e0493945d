package store

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	bolt "go.etcd.io/bbolt"
)

// DefaultTimeout is how long Open waits for another process to let go of the
// file: long enough for a command that only reads, short enough for a person.
const DefaultTimeout = 2 * time.Second

// Options says which ledger to open and how.
type Options struct {
	// Path of the file. Its folder has to exist.
	Path string
	// Writer is the release of this program; the ledger keeps the last one that
	// wrote to it.
	Writer string
	// Timeout bounds the wait for another process; DefaultTimeout when zero.
	Timeout time.Duration
	// ReadOnly shares the file with other readers and writes nothing. A missing
	// file is then an error (fs.ErrNotExist).
	ReadOnly bool
	// Log takes what is worth a line and no error; nil discards it.
	Log *slog.Logger
	// Now is the clock for the time of creation; time.Now when nil.
	Now func() time.Time

	// older takes a ledger of an older schema as it is: its pages can be looked
	// at, its rows cannot.
	older      bool
	layout     layout
	failpoints failpoints
}

// failpoints is what tests put between two steps where a fault matters. They
// are nil outside of tests.
type failpoints struct {
	// built runs when a new ledger is whole and has not got its name yet.
	built func()
	// opened runs when the file is open and not yet held against its path.
	opened func()
	// committed makes a commit that took effect return an error, as a failing
	// fsync behind the last write does.
	committed func() error
	// migrating runs at each step of a migration; an error of it is one of the step.
	migrating func(step string) error
}

func (o Options) withDefaults() Options {
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.layout.schema == 0 {
		o.layout = currentLayout()
	}
	return o
}

// Ledger is an open ledger. Its methods may be called by several goroutines.
type Ledger struct {
	opts     Options
	instance string
	// info is the file that was opened first: every later one must be the same.
	info fs.FileInfo

	// writing is held from reading what a write is decided on until it is
	// committed: with it, what was read is what stands in the transaction.
	writing sync.Mutex
	// writer is the release in the meta bucket; writing guards it.
	writer string
	// settled is the open file once it was settled; writing guards it.
	settled *os.File
	// recent spares decoding what did not change.
	recent recent

	// mu is held shared by everything that uses db, exclusively to change it.
	mu     sync.RWMutex
	db     *bolt.DB
	file   *os.File
	closed bool

	// suspect is set when a commit failed: the file is opened again before it is
	// used again.
	suspect atomic.Bool
	// damage is set when a transaction met a fault: the ledger stays unusable.
	damage atomic.Pointer[DamagedError]
	// risky counts the calls of the library that hold its locks and touch pages;
	// one that met a fault is never over.
	risky   atomic.Int32
	commits atomic.Uint64
}

// Open opens the ledger, and makes it when it is missing. One of an older schema
// is migrated, after a copy was made beside it, unless it is opened for reading
// only. It returns an *InUseError, *DamagedError, *SchemaError or ErrReplaced for a
// file that cannot be used as it is, which is left alone. ctx bounds nothing but the
// start of it: the wait is bounded by the timeout.
func Open(ctx context.Context, opts Options) (*Ledger, error) {
	opts = opts.withDefaults()
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("open the ledger %s: %w", opts.Path, err)
	}
	if err := ensure(opts); err != nil {
		return nil, err
	}
	l := &Ledger{opts: opts}
	if err := l.attach(); err != nil {
		return nil, err
	}
	if kind := overNetwork(l.file); kind != "" && !opts.ReadOnly {
		opts.Log.Warn("the ledger is on a file system whose locks are not to be relied on: keep state.root on a local disk",
			"path", opts.Path, "kind", kind)
	}
	return l, nil
}

// Path returns the path that the ledger was opened at.
func (l *Ledger) Path() string { return l.opts.Path }

// Instance returns the id that was made with the ledger. It marks the tmux
// sessions that belong to it (D6).
func (l *Ledger) Instance() string { return l.instance }

// Commits returns how many transactions have been committed since Open.
func (l *Ledger) Commits() uint64 { return l.commits.Load() }

// Replaced reports whether the file at the ledger's path is another one than
// the one that is open, or gone (L11).
func (l *Ledger) Replaced() (bool, error) {
	at, err := os.Lstat(l.opts.Path)
	if os.IsNotExist(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for the ledger: %w", err)
	}
	return !os.SameFile(at, l.info), nil
}

// Close closes the file. Calls after it return an error that wraps
// fs.ErrClosed; a second Close does as well.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return l.errClosed()
	}
	l.closed = true
	if err := l.detach(); err != nil {
		return fmt.Errorf("close the ledger %s: %w", l.opts.Path, err)
	}
	return nil
}

func (l *Ledger) errClosed() error {
	return fmt.Errorf("the ledger %s: %w", l.opts.Path, fs.ErrClosed)
}

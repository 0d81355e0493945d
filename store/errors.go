package store

import (
	"errors"
	"fmt"
)

// ErrReplaced is returned when the file at the ledger's path is not, or no
// longer, the one that was opened (L11): two histories are worse than none.
var ErrReplaced = errors.New("the ledger file was removed or replaced while it was open")

// ErrSessionOpen is returned by ForgetAll for an item whose session row is not
// closed.
var ErrSessionOpen = errors.New("its session row is not closed")

// An InUseError is returned by Open when another process held the file until
// the timeout passed.
type InUseError struct{ Path string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("the ledger %s is in use by another process", e.Path)
}

// A DamagedError is returned when the file at Path cannot be used as a ledger.
// Reason continues "the ledger PATH …". The file was left as it was.
type DamagedError struct {
	Path, Reason string
	// Misplaced says that what stands there is the matter, or whose it is, and that
	// nobody has looked into it.
	Misplaced bool
}

func (e *DamagedError) Error() string {
	if e.Misplaced {
		return fmt.Sprintf("the ledger %s %s; nothing was changed: the ledger has to be a file of yours alone; mend that, or name another state.root", e.Path, e.Reason)
	}
	return fmt.Sprintf("the ledger %s %s; nothing was changed: run `the-loop ledger check`", e.Path, e.Reason)
}

// A SchemaError is returned by Open for a ledger whose schema this program
// cannot use: a newer one, an older one that is opened for reading only, or one
// so old that the way from there is not known. Nothing was changed.
type SchemaError struct {
	Path string
	// Found is the schema of the file, Known the newest this program reads.
	Found, Known int
	// Oldest is the first schema from which this program migrates; it is given
	// for an older one.
	Oldest int
	// Writer is the release that wrote to the file last.
	Writer string
}

// Older reports whether the ledger is one that opening it for writing migrates.
func (e *SchemaError) Older() bool { return e.Found < e.Known && e.Found >= e.Oldest }

func (e *SchemaError) Error() string {
	is := fmt.Sprintf("the ledger %s has schema %d, written by the-loop %s; this program ", e.Path, e.Found, e.Writer)
	switch {
	case e.Older():
		return is + fmt.Sprintf("reads schema %d: `the-loop poll start` migrates it and keeps a copy; nothing was changed", e.Known)
	case e.Found < e.Known:
		return is + fmt.Sprintf("has schema %d and knows the way there from schema %d on: start a release in between first; "+
			"nothing was changed", e.Known, e.Oldest)
	}
	return is + fmt.Sprintf("knows schema %d at most: install that release, or a newer one; nothing was changed", e.Known)
}

// A RowError says that one row does not hold what it should. It concerns that
// row's item alone.
type RowError struct {
	Bucket, Key string
	Err         error
}

func (e *RowError) Error() string {
	return fmt.Sprintf("row %q of %s: %v: run `the-loop ledger check`", e.Key, e.Bucket, e.Err)
}

// Row names it (record.RowFault).
func (e *RowError) Row() (bucket, key string) { return e.Bucket, e.Key }

// Unwrap returns what is wrong with the row.
func (e *RowError) Unwrap() error { return e.Err }

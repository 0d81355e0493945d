package store

import (
	"errors"
	"fmt"
)

// ErrReplaced is returned when the file at the ledger's path is not, or no
// longer, the one that was opened (L11): two histories are worse than none.
var ErrReplaced = errors.New("the ledger file was removed or replaced while it was open")

// An InUseError is returned by Open when another process held the file until
// the timeout passed.
type InUseError struct{ Path string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("the ledger %s is in use by another process", e.Path)
}

// A DamagedError is returned when the file at Path cannot be used as a ledger.
// Reason continues "the ledger PATH …". The file was left as it was.
type DamagedError struct{ Path, Reason string }

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the ledger %s %s; nothing was changed: run `the-loop ledger check`", e.Path, e.Reason)
}

// A SchemaError is returned by Open for a ledger that a newer release wrote.
type SchemaError struct {
	Path string
	// Found is the schema of the file, Known the newest this program reads.
	Found, Known int
	// Writer is the release that wrote to the file last.
	Writer string
}

func (e *SchemaError) Error() string {
	return fmt.Sprintf("the ledger %s has schema %d, written by the-loop %s; this program knows schema %d at most: "+
		"install that release, or a newer one; nothing was changed", e.Path, e.Found, e.Writer, e.Known)
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

// Unwrap returns what is wrong with the row.
func (e *RowError) Unwrap() error { return e.Err }

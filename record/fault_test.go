package record_test

import (
	"errors"
	"fmt"
	"testing"

	"theloop/record"
)

type fault struct{ bucket, key string }

func (f fault) Error() string             { return f.bucket + " " + f.key }
func (f fault) Row() (bucket, key string) { return f.bucket, f.key }

// What is said of rows is told from what is said of the ledger, however it is
// wrapped and joined.
func TestRowFaults(t *testing.T) {
	a, b, other := fault{"items", "a"}, fault{"comments", "b"}, errors.New("another")
	for name, c := range map[string]struct {
		err   error
		n     int
		alone bool
	}{
		"none":            {nil, 0, true},
		"one":             {a, 1, true},
		"wrapped":         {fmt.Errorf("read: %w", a), 1, true},
		"joined":          {fmt.Errorf("read: %w", errors.Join(errors.Join(nil, a), b)), 2, true},
		"another":         {other, 0, false},
		"beside another":  {errors.Join(a, other), 1, false},
		"another wrapped": {fmt.Errorf("read: %w", other), 0, false},
	} {
		faults, alone := record.RowFaults(c.err)
		if len(faults) != c.n || alone != c.alone {
			t.Errorf("%s: %v, %t", name, faults, alone)
		}
	}
}

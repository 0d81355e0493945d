package record

// A RowFault is what a ledger says of one row that does not hold what it should.
// It concerns the item that the row is of, and no other.
type RowFault interface {
	error
	// Row names the row: its bucket, and the key in it, which is an item's key, or
	// that, NUL and a comment's id.
	Row() (bucket, key string)
}

// RowFaults returns the faults of rows that an error consists of. alone is false
// when there is anything else in it: then what was asked for is not known.
func RowFaults(err error) (faults []RowFault, alone bool) {
	switch e := err.(type) {
	case nil:
		return nil, true
	case RowFault:
		return []RowFault{e}, true
	case interface{ Unwrap() error }:
		return RowFaults(e.Unwrap())
	case interface{ Unwrap() []error }:
		alone = true
		for _, one := range e.Unwrap() {
			more, only := RowFaults(one)
			faults, alone = append(faults, more...), alone && only
		}
		return faults, alone && len(faults) > 0
	}
	return nil, false
}

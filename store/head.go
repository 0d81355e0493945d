package store

import (
	"fmt"
	"strconv"

	bolt "go.etcd.io/bbolt"
)

// head is what the meta bucket says of the file.
type head struct {
	schema           int
	writer, instance string
}

// readHead returns the head of an open file, and an error when it is no ledger
// that this program can use. One of an older schema may have other buckets.
func (l *Ledger) readHead(db *bolt.DB) (h head, err error) {
	path := l.opts.Path
	var missing, version string
	err = survive(path, func() error {
		return l.viewOn(db, func(tx *bolt.Tx) error {
			if meta := tx.Bucket([]byte(metaBucket)); meta != nil {
				version = string(meta.Get([]byte(metaSchema)))
				h.writer = string(meta.Get([]byte(metaWriter)))
				h.instance = string(meta.Get([]byte(metaInstance)))
			}
			missing = missingBucket(tx)
			return nil
		})
	})
	if err != nil {
		return head{}, err
	}
	h.schema, err = strconv.Atoi(version)
	known := l.opts.layout.schema
	switch {
	case err == nil && h.schema > known: // its buckets may have other names
		return head{}, &SchemaError{Path: path, Found: h.schema, Known: known, Writer: h.writer}
	case missing != "" && (err != nil || h.schema == known):
		return head{}, &DamagedError{Path: path, Reason: fmt.Sprintf("is a bbolt file without the bucket %q", missing)}
	case err != nil || h.schema < 1:
		return head{}, &DamagedError{Path: path, Reason: fmt.Sprintf("names no schema that there ever was (%q)", version)}
	case h.instance == "":
		return head{}, &DamagedError{Path: path, Reason: "has no instance id"}
	}
	return h, nil
}

// missingBucket is one that a ledger of this program's schema has to have.
func missingBucket(tx *bolt.Tx) (missing string) {
	for _, name := range buckets() {
		if tx.Bucket([]byte(name)) == nil {
			missing = name
		}
	}
	return missing
}

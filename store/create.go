package store

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"
)

// newSuffix is what the name of a ledger that is being made ends in, before a
// random part.
const newSuffix = ".new-"

// ensure makes the ledger when nothing is at its path. A reader makes nothing.
func ensure(opts Options) error {
	_, err := os.Lstat(opts.Path)
	if opts.ReadOnly {
		return nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		if left := sweep(opts.Path); left != nil { // takes room, and is in nobody's way
			opts.Log.Debug("a ledger that was never finished is left over", "path", opts.Path, "error", left)
		}
		return nil // what is there is looked at when it is opened
	}
	err = create(opts)
	if err == nil || errors.Is(err, fs.ErrExist) { // made by somebody else meanwhile
		return nil
	}
	return fmt.Errorf("make the ledger %s: %w", opts.Path, err)
}

// create makes a whole ledger under another name and only then gives it its
// own: one that is half made (killed, disk full) is never opened, and would end
// every process that maps it.
func create(opts Options) error {
	tmp, err := newFile(opts.Path)
	if err != nil {
		return err
	}
	err = survive(tmp, func() error {
		return build(tmp, opts, func(db *bolt.DB) error {
			return db.Update(func(tx *bolt.Tx) error { return layRows(tx, opts) })
		})
	})
	if built := opts.failpoints.built; built != nil {
		built()
	}
	if err == nil {
		err = place(tmp, opts.Path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp))
	}
	return syncFolder(filepath.Dir(opts.Path))
}

// newFile makes an empty file beside a path, after removing those that makers
// which were killed left behind: none is at work, the run lock is held.
func newFile(path string) (string, error) {
	if err := sweep(path); err != nil {
		return "", err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+newSuffix)
	if err != nil {
		return "", err
	}
	return tmp.Name(), tmp.Close()
}

func sweep(path string) error {
	left, err := filepath.Glob(globQuote(path) + newSuffix + "*")
	for _, name := range left {
		digits, _ := strings.CutPrefix(filepath.Base(name), filepath.Base(path)+newSuffix)
		if digits != "" && strings.Trim(digits, "0123456789") == "" { // else it has its name from somebody else
			err = errors.Join(err, os.Remove(name))
		}
	}
	return err
}

// globQuote makes a path match itself alone.
func globQuote(path string) string {
	var quoted []byte
	for i := range len(path) {
		switch path[i] {
		case '*', '?', '[', '\\':
			if os.PathSeparator != '\\' {
				quoted = append(quoted, '\\')
			}
		}
		quoted = append(quoted, path[i])
	}
	return string(quoted)
}

// build fills an empty file, checks it, and puts it on disk.
func build(path string, opts Options, fill func(*bolt.DB) error) error {
	db, err := openPatiently(path, bolt.Options{Timeout: opts.Timeout})
	if err != nil {
		return err
	}
	if err = fill(db); err == nil {
		err = errors.Join(checkPages(db)...)
	}
	return errors.Join(err, db.Close(), syncFile(path))
}

// layRows makes the buckets and writes the meta rows.
func layRows(tx *bolt.Tx, opts Options) error {
	for _, name := range buckets() {
		if _, err := tx.CreateBucket([]byte(name)); err != nil {
			return err
		}
	}
	meta := tx.Bucket([]byte(metaBucket))
	for key, value := range map[string]string{
		metaSchema:   strconv.Itoa(opts.layout.schema),
		metaCreated:  opts.Now().UTC().Format(time.RFC3339),
		metaWriter:   opts.Writer,
		metaInstance: newInstance(),
	} {
		if err := meta.Put([]byte(key), []byte(value)); err != nil {
			return err
		}
	}
	return nil
}

// newInstance returns a random UUID (version 4).
func newInstance() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[0:4], b[4:6], b[6:8], b[8:10], b[10:])
}

func syncFile(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
)

// A Problem is one thing that Check found. Bucket and Key are empty for one of
// the file's pages.
type Problem struct {
	Bucket, Key string
	Text        string
}

func (p Problem) String() string {
	if p.Bucket == "" {
		return p.Text
	}
	return fmt.Sprintf("row %q of %s: %s", p.Key, p.Bucket, p.Text)
}

// Check looks at the whole ledger: whether its pages hold together, then every
// row, decoded and held against the others. It returns what is wrong, and stops
// where going on would only find what follows from it. Nothing is written. No
// commit runs while the pages are checked. The pages are read and not mapped, so
// that a file which is cut short meanwhile is a fault that it finds.
func (l *Ledger) Check(ctx context.Context) ([]Problem, error) {
	problems, err := l.checkFile(ctx)
	if err != nil || len(problems) > 0 {
		return problems, err
	}
	return l.checkRows(ctx)
}

func (l *Ledger) checkRows(ctx context.Context) (problems []Problem, err error) {
	for raw, err := range l.walk(ctx, readAll, itemBuckets()...) {
		if err != nil {
			return nil, err
		}
		problems = append(problems, raw.problems()...)
	}
	rest, err := l.checkRest(ctx)
	return append(problems, rest...), err
}

// checkFile checks the pages.
func (l *Ledger) checkFile(ctx context.Context) ([]Problem, error) {
	l.writing.Lock() // a commit uses pages again that the walk may have before it
	defer l.writing.Unlock()
	var faults []error
	err := l.use(ctx, func(*bolt.DB) error {
		info, err := l.file.Stat()
		if err != nil {
			return fmt.Errorf("look at the open ledger: %w", err)
		}
		reason, err := faultOf(l.file, info.Size())
		if err != nil || reason != "" {
			return errors.Join(err, damaged(l.opts.Path, reason))
		}
		faults = walkPages(l.file)
		return nil
	})
	return pageProblems(faults), err
}

func pageProblems(faults []error) (problems []Problem) {
	for _, fault := range faults {
		problems = append(problems, Problem{Text: fault.Error()})
	}
	return problems
}

// checkPages is the library's own check. It walks the map on a goroutine of its
// own, where a page that is not there ends the process.
func checkPages(db *bolt.DB) (faults []error) {
	err := db.View(func(tx *bolt.Tx) error {
		for fault := range tx.Check() {
			faults = append(faults, fault)
		}
		return nil
	})
	if err != nil {
		faults = append(faults, err)
	}
	return faults
}

// checkRest checks the buckets that are not by item.
func (l *Ledger) checkRest(ctx context.Context) (problems []Problem, err error) {
	var rows []row
	err = l.view(ctx, func(tx *bolt.Tx) error {
		for _, bucket := range []string{metaBucket, sourcesBucket, cyclesBucket} {
			c := tx.Bucket([]byte(bucket)).Cursor()
			for k, v := c.First(); k != nil; k, v = c.Next() {
				rows = append(rows, row{bucket, string(k), append([]byte{}, v...)})
			}
		}
		return nil
	})
	for _, r := range rows {
		if text := r.fault(); text != "" {
			problems = append(problems, Problem{r.bucket, r.key, text})
		}
	}
	return problems, err
}

// fault says what is wrong with a row that belongs to no item.
func (r row) fault() string {
	var source record.SourceRow
	var cycle record.Cycle
	var err error
	switch {
	case r.bucket == cyclesBucket && len(r.key) != 8:
		return "its key is no number of 8 bytes"
	case r.bucket == cyclesBucket:
		err = decodeRow(r.bucket, r.key, r.value, &cycle)
	case r.bucket == sourcesBucket:
		err = decodeRow(r.bucket, r.key, r.value, &source)
		if err == nil && source.ID != r.key {
			return fmt.Sprintf("it is the row of source %q", source.ID)
		}
	case r.key == metaSchema:
		_, err = strconv.Atoi(string(r.value))
	case r.key == metaCreated, r.key == metaImported:
		_, err = time.Parse(time.RFC3339, string(r.value))
	case r.key == metaInstance && strings.TrimSpace(string(r.value)) == "":
		return "it is empty"
	}
	return textOf(err)
}

// textOf is an error without what a Problem says already.
func textOf(err error) string {
	var bad *RowError
	if errors.As(err, &bad) {
		err = bad.Err
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

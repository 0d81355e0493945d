package migrate

import (
	"context"
	"fmt"
	"os"
	"time"
)

// Note is what the ledger keeps about when the records of these places and it last
// said the same; *store.Ledger is it.
type Note interface {
	ImportedAt(context.Context) (time.Time, error)
	FinishImport(ctx context.Context, at time.Time) error
}

// InStep runs an export into places that a start looks through, and notes that what
// stands there is the ledger's: only what is written later is an earlier release's
// ([Newer]). When it writes nothing, or leaves records that changed after the last
// import as they were, nothing is noted: they are told of, or refused beside a ledger
// that knows nothing (L12), as before.
func InStep(ctx context.Context, note Note, p Places, now func() time.Time, export func() error) error {
	imported, err := note.ImportedAt(ctx)
	if err != nil {
		return err
	}
	before, err := written(p, imported)
	if err != nil {
		return err
	}
	if err := export(); err != nil {
		return err
	}
	after, err := written(p, imported)
	if err != nil {
		return err
	}
	for path, at := range after {
		if was, is := before[path]; is && was.Equal(at) {
			return nil
		}
	}
	if len(after) == 0 {
		return nil
	}
	if err := note.FinishImport(ctx, now()); err != nil {
		return fmt.Errorf("note that what stands in %s is the ledger's: %w", p.Root, err)
	}
	return nil
}

// written says when the files of these places that are younger than a time were written.
func written(p Places, since time.Time) (map[string]time.Time, error) {
	found, _, err := scan(p)
	times := map[string]time.Time{}
	for _, s := range found {
		if info, err := os.Stat(s.path()); err == nil && info.ModTime().After(since) {
			times[s.path()] = info.ModTime()
		}
	}
	return times, err
}

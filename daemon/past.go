package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"theloop/heartbeat"
	"theloop/store"
	"theloop/view"
)

// Earlier finds what earlier releases kept of the same work items. Nil functions
// find nothing.
type Earlier struct {
	// Files are what an import would read.
	Files func() ([]string, error)
	// Newer are those of them that were written after a time.
	Newer func(since time.Time) ([]string, error)
}

// checkMissing refuses to make a ledger where there has been one, or records that
// were not imported (L12's other half): on an empty ledger every thread would be
// seen for the first time.
func (s *service) checkMissing(context.Context) error {
	path := filepath.Join(s.root, store.File)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // whatever is wrong with it, opening it says so
	}
	return s.checkPast("there is no ledger at " + path)
}

// checkEmpty is the same for a ledger that is there and knows of nothing. Records
// that were written after the import are named: the earlier release ran again.
func (s *service) checkEmpty(ctx context.Context) error {
	imported, err := s.ledger.ImportedAt(ctx)
	if err != nil {
		return err
	}
	if !imported.IsZero() {
		s.warnNewer(imported)
		return nil
	}
	if last, _ := s.ledger.Cycles(ctx, 1); len(last) > 0 {
		return nil
	}
	return s.checkPast("the ledger " + s.ledger.Path() + " knows of no cycle")
}

func (s *service) checkPast(what string) error {
	const waived = "or start without it: 'the-loop poll start --fresh'"
	if s.o.Fresh {
		return nil
	}
	if s.o.Earlier.Files != nil {
		files, err := s.o.Earlier.Files()
		if err != nil {
			return fmt.Errorf("look for records of earlier releases: %w", err)
		}
		if len(files) > 0 {
			return fmt.Errorf("%s, and there are records of earlier releases (%s, the first is %s): starting now would see every thread "+
				"for the first time; bring them in with 'the-loop migrate import-json', %s",
				what, view.Count(len(files), "file", "files"), files[0], waived)
		}
	}
	beat := filepath.Join(s.root, heartbeat.File)
	if b, ok := heartbeat.Read(beat); ok && !b.LastCycleAt.IsZero() {
		return fmt.Errorf("%s, and by %s a poller ran here %s: starting now would see every thread for the first time; "+
			"put the ledger back, from a backup perhaps, bring in records of an earlier release with 'the-loop migrate import-json', %s",
			what, beat, view.Age(s.o.Now(), b.LastCycleAt.Time), waived)
	}
	return nil
}

func (s *service) warnNewer(imported time.Time) {
	if s.o.Earlier.Newer == nil {
		return
	}
	files, err := s.o.Earlier.Newer(imported)
	if err != nil || len(files) == 0 {
		return // what cannot be looked at is for the import to say
	}
	s.o.Log.Warn(fmt.Sprintf("%s of an earlier release changed after the last import or export here, %s (the first is %s): it ran again; "+
		"'the-loop migrate import-json --dry-run' shows what differs",
		view.Count(len(files), "record", "records"), view.Age(s.o.Now(), imported), files[0]))
}

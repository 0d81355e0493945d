package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

// Ledger is what an import needs of the ledger; *store.Ledger is it.
type Ledger interface {
	Record(context.Context, workitem.Ref) (record.Record, error)
	// Empty reports whether it has nothing of any item.
	Empty(context.Context) (bool, error)
	// Batch commits several items in one transaction, all or none.
	Batch(context.Context, []store.Write) error
	FinishImport(ctx context.Context, at time.Time) error
}

// ImportOptions say what is imported and how.
type ImportOptions struct {
	// Ledger takes the records; nil, for a dry run alone, is one that has nothing.
	Ledger Ledger
	Places Places
	// DryRun reports what would be done and does nothing.
	DryRun bool
	// Overwrite lets the files win where the ledger differs.
	Overwrite bool
	// NoSessions makes no session rows. What was delivered into sessions is read
	// all the same.
	NoSessions bool
	// KeepGiveUps leaves what was given up so until the next release (B7).
	KeepGiveUps bool
	// Host is this machine's id, Version this release.
	Host, Version string
	// Now is time.Now when nil.
	Now func() time.Time
	// Log takes what is worth a line and no error; nil discards it.
	Log *slog.Logger
	// Progress is told how far each step is: how many files of how many are read,
	// then how many items of how many are done. Nil is fine.
	Progress Progress
}

// Step is what an import or an export is at.
type Step string

// The steps, in their order.
const (
	Reading   Step = "reading"
	Importing Step = "importing"
	Exporting Step = "exporting"
)

// Progress is told how far a step is. It is called often, and by the goroutine that
// does the work.
type Progress func(step Step, done, total int)

func (o ImportOptions) withDefaults() ImportOptions {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Progress == nil {
		o.Progress = func(Step, int, int) {}
	}
	return o
}

const (
	// batchItems is how many items share a transaction: one each is a few thousand
	// a second, a thousand at a time is limited by the disk alone.
	batchItems = 1000
	// batchRows bounds the memory of one transaction.
	batchRows = 50_000
	// rowBytes is how much of a document counts like a row.
	rowBytes = 1 << 8
)

var errNoLedger = errors.New("import: there is no ledger to write to")

// Import brings the records of earlier releases into the ledger. The report is
// good also beside an error, up to what was done; what could not be understood
// is in it and no error. An import that was cut is finished by another one. The
// caller holds the run lock (L11).
func Import(ctx context.Context, o ImportOptions) (Report, error) {
	o = o.withDefaults()
	r := newReport(o.DryRun)
	if o.Ledger == nil && !o.DryRun {
		return *r, errNoLedger
	}
	sources, unreadable, err := scan(o.Places)
	if err != nil {
		return *r, err
	}
	r.Invalid = append(r.Invalid, unreadable...)
	all, err := gather(ctx, sources, r, o.Progress)
	if err != nil {
		return *r, err
	}
	in := &importer{o: o, r: r, b: builder{
		all: all, host: o.Host, version: o.Version, now: o.Now().UTC(),
		keepGiveUps: o.KeepGiveUps, noSessions: o.NoSessions,
	}}
	if err := in.run(ctx); err != nil {
		return *r, err
	}
	if o.DryRun {
		return *r, nil
	}
	if err := o.Ledger.FinishImport(ctx, o.Now()); err != nil {
		return *r, fmt.Errorf("record that the import is finished: %w", err)
	}
	return *r, nil
}

// importer writes records in batches.
type importer struct {
	o     ImportOptions
	r     *Report
	b     builder
	batch []store.Write
	// pending are reported once their batch is committed.
	pending []func()
	rows    int
	// empty says that there is nothing in the ledger to ask for: each item comes once.
	empty bool
}

func (in *importer) run(ctx context.Context) error {
	if err := in.look(ctx); err != nil {
		return err
	}
	keys := in.b.all.keys()
	for i, next := range ahead(len(keys), func(i int) prepared { return in.b.prepare(keys[i], aheadBytes) }) {
		if next.late {
			next = in.b.prepare(keys[i], maxFile)
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("import: stopped after %d of %d items; import again to go on: %w", i, len(keys), err)
		}
		if next.changed {
			in.b.all.changed(in.b.all.lone[keys[i]])
		} else if err := in.item(ctx, next.wanted); err != nil {
			return err
		}
		if len(in.batch) >= batchItems || in.rows >= batchRows {
			if err := in.flush(ctx); err != nil {
				return err
			}
		}
		in.o.Progress(Importing, i+1, len(keys))
	}
	return in.flush(ctx)
}

// item decides what is written of one item.
func (in *importer) item(ctx context.Context, w *wanted) error {
	have, err := in.have(ctx, w.ref)
	var bad *store.RowError
	if errors.As(err, &bad) {
		in.r.Invalid = append(in.r.Invalid, Invalid{File: w.file, Reason: fmt.Sprintf("the ledger's own row of %s cannot be read: %v", w.ref, bad)})
		return nil
	}
	if err != nil {
		return fmt.Errorf("read what the ledger has of %s: %w", w.ref, err)
	}
	v := weigh(w, have, in.o.Overwrite)
	if len(v.differs) > 0 {
		in.r.Conflicts = append(in.r.Conflicts, Conflict{
			Ref: w.ref.String(), File: w.file, Differs: v.differs, Overwritten: len(v.changes) > 0,
		})
	}
	if w.isRecord && len(v.differs) == 0 && !v.record {
		in.r.Unchanged++
	}
	if len(v.changes) == 0 {
		return nil
	}
	in.pending = append(in.pending, func() { in.written(w, v) })
	in.batch = append(in.batch, store.Write{Ref: w.ref, Rev: have.Item.Rev, Changes: v.changes})
	in.rows += 1 + w.rec.Comments.Len() + w.bytes/rowBytes
	return nil
}

func (in *importer) look(ctx context.Context) (err error) {
	if in.o.Ledger == nil {
		in.empty = true
	} else if in.empty, err = in.o.Ledger.Empty(ctx); err != nil {
		return fmt.Errorf("look whether the ledger is empty: %w", err)
	}
	return nil
}

func (in *importer) have(ctx context.Context, ref workitem.Ref) (record.Record, error) {
	if in.empty {
		return record.Record{}, nil
	}
	return in.o.Ledger.Record(ctx, ref)
}

// flush commits what has come together. It is not cut: half a batch is none.
func (in *importer) flush(ctx context.Context) error {
	if len(in.batch) == 0 {
		return nil
	}
	if !in.o.DryRun {
		if err := in.o.Ledger.Batch(context.WithoutCancel(ctx), in.batch); err != nil {
			return fmt.Errorf("write %d items to the ledger (what was imported before them stays; import again to go on): %w", len(in.batch), err)
		}
	}
	for _, tell := range in.pending {
		tell()
	}
	in.batch, in.pending, in.rows = nil, nil, 0
	return nil
}

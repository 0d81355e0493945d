package localapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// Ledger is what the answers are made of.
type Ledger interface {
	Record(context.Context, workitem.Ref) (record.Record, error)
	// Items yields each item in key order, without its comments.
	Items(context.Context) iter.Seq2[record.Record, error]
	Sources(context.Context) (map[string]record.SourceRow, error)
	// Cycles returns the last n cycles, the newest first, and beside them what did
	// not decode.
	Cycles(ctx context.Context, n int) ([]record.Cycle, error)
	// Backup writes a consistent copy of the whole ledger.
	Backup(context.Context, io.Writer) error
}

// Local answers from a ledger that this process has open.
type Local struct {
	Ledger Ledger
	// Host is this machine's id.
	Host string
	// Instance is the ledger's id, with which its sessions are marked (D6).
	Instance string
	// Faults looks for what is wrong with the ledger.
	Faults func(context.Context) ([]string, error)
	// Forgetter forgets items; nil where nothing may be written.
	Forgetter func(context.Context, Forget) ([]string, error)
	// Adopter takes over the tmux session that has the name of an item's and
	// returns that name; nil where nothing may be written.
	Adopter func(context.Context, workitem.Ref) (string, error)
	// Linker links a pull request to the item whose session takes its comments,
	// Registrar makes a conversation an item's; nil where nothing may be written.
	Linker    func(context.Context, Link) (Linked, error)
	Registrar func(context.Context, Registration) (Registered, error)
	// Commander carries out a command of the operator, Planner says what the next
	// cycle would do; nil where that cannot be.
	Commander func(context.Context, Order) (Ordered, error)
	Planner   func(context.Context) (Plan, error)
	// Status says how the poller is, Kick makes it run a cycle at once; nil where
	// none runs.
	Status func() Status
	Kick   func(context.Context) (Kicked, error)
}

// Forget says which items are to be forgotten.
type Forget struct {
	Refs []workitem.Ref `json:"refs"`
	// All is every item of the ledger.
	All bool `json:"all"`
	// DryRun only says what would be forgotten.
	DryRun bool `json:"dryRun"`
}

// UnknownError is returned for a work item that the ledger does not have.
type UnknownError struct {
	Ref string `json:"ref"`
	// Near are refs it does have that look like it.
	Near []string `json:"near"`
}

// Error names the item and what it may have been meant to be.
func (e *UnknownError) Error() string {
	msg := fmt.Sprintf("%s is not in the ledger", e.Ref)
	if len(e.Near) > 0 {
		msg += "; did you mean " + strings.Join(e.Near, ", ") + "?"
	} else {
		msg += "; `the-loop ledger list` shows what is"
	}
	return msg
}

// nearest is how many near matches an unknown ref is answered with.
const nearest = 3

// Item returns the document of one work item, or an *UnknownError.
func (l Local) Item(ctx context.Context, ref workitem.Ref) (Item, error) {
	rec, err := l.Ledger.Record(ctx, ref)
	if err != nil {
		return Item{}, err
	}
	if rec.Item.Ref == "" {
		return Item{}, l.unknown(ctx, ref)
	}
	polled, err := l.polled(ctx, rec.Item.Source)
	if err != nil {
		return Item{}, err
	}
	doc := Describe(rec, polled, l.Host)
	doc.Target, doc.Lapsed = l.bound(ctx, rec)
	return doc, nil
}

// byHand is the source of a link that a person made.
const byHand = "link-pr"

// bound returns where what is said on a pull request goes, or the target that was
// recorded and takes nothing more: then the pull request stands for itself (P3). A
// target that cannot be read is told of at its own turn.
func (l Local) bound(ctx context.Context, rec record.Record) (to, lapsed *string) {
	to = target(rec)
	if to == nil || rec.Item.Ended() {
		return to, nil // its last words go to whatever has a session still (P8)
	}
	ref, err := workitem.ParseRef(*to)
	own := rec.Session.Here(l.Host) && rec.Session.Open() && rec.Link.Source != byHand
	if err != nil || own || strings.EqualFold(rec.Item.Ref, *to) {
		return nil, nil
	}
	of, err := l.Ledger.Record(ctx, ref)
	if err == nil && (!of.Item.Known() || of.Item.Ended()) {
		return nil, to
	}
	return to, nil
}

func (l Local) unknown(ctx context.Context, ref workitem.Ref) error {
	var known []string
	for rec, err := range l.Ledger.Items(ctx) {
		if err == nil { // what cannot be read is nobody's near match
			known = append(known, rec.Item.Ref)
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return &UnknownError{Ref: ref.String(), Near: workitem.Near(ref.String(), known, nearest)}
}

func (l Local) polled(ctx context.Context, source string) (time.Time, error) {
	rows, err := l.Ledger.Sources(ctx)
	if err != nil {
		return time.Time{}, err
	}
	return rows[source].CompleteAt, nil
}

// Items calls f with the summary of each work item, in key order, as it reads
// them. One that cannot be read is left out and is an error at the end.
func (l Local) Items(ctx context.Context, f func(Summary) error) error {
	var bad faulty
	for rec, err := range l.Ledger.Items(ctx) {
		if err != nil {
			bad.add(err)
			continue // the walk ends by itself where it cannot go on
		}
		s := Summarize(rec, l.Host)
		s.Target, _ = l.bound(ctx, rec)
		if err := f(s); err != nil {
			return err
		}
	}
	return bad.err()
}

// faultsShown is how many errors of a walk are told.
const faultsShown = 5

// faulty collects the errors of a walk, which may be as many as there are items.
type faulty struct {
	first []error
	more  int
}

func (f *faulty) add(err error) {
	if len(f.first) < faultsShown {
		f.first = append(f.first, err)
		return
	}
	f.more++
}

func (f *faulty) err() error {
	if f.more > 0 {
		return errors.Join(errors.Join(f.first...), fmt.Errorf("and %d more; 'the-loop ledger check' lists them", f.more))
	}
	return errors.Join(f.first...)
}

// Check returns what is wrong with the ledger; nothing is fine.
func (l Local) Check(ctx context.Context) ([]string, error) { return l.Faults(ctx) }

// Backup writes a consistent copy of the ledger.
func (l Local) Backup(ctx context.Context, w io.Writer) error { return l.Ledger.Backup(ctx, w) }

// Forget forgets items, all or none, and returns which; a session that lives is
// ended first.
func (l Local) Forget(ctx context.Context, f Forget) ([]string, error) {
	if l.Forgetter == nil {
		return nil, errors.New("nothing can be forgotten in a ledger that is open for reading")
	}
	return l.Forgetter(ctx, f)
}

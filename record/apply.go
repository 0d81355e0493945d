package record

import (
	"errors"
	"fmt"
)

// ErrIllegal is returned when a change is no legal step of the record as it
// stands. It is a fault of this program, never of its input.
var ErrIllegal = errors.New("illegal change")

// ErrChanged is returned by a ledger when the record's revision is not the one
// that a commit was decided on: read and decide again (F7).
var ErrChanged = errors.New("the record changed meanwhile")

// ErrUnknown is returned by a ledger when a commit failed in a way that leaves
// it unknown whether it took effect. No effect may follow before the record was
// read again (B9).
var ErrUnknown = errors.New("the outcome of the commit is unknown")

// MaxResolved is how many resolved comment rows an item keeps. Beyond it the
// oldest go and the item remembers the newest time removed.
const MaxResolved = 5000

// Apply returns the record after the changes, and those of them that changed
// something. All of them apply or none: on an error the record comes back as it
// was. It is pure: rec is not written to.
func Apply(rec Record, changes []Change) (Record, []Change, error) {
	draft := NewDraft(rec)
	for _, c := range changes {
		if err := draft.Do(c); err != nil {
			return rec, nil, err
		}
	}
	after, applied := draft.Done()
	return after, applied, nil
}

// Draft is a record with changes on it that are not committed yet. A decision
// is made on a draft, so that what it decides next sees what it decided before.
// It is for one goroutine. What no change touches is not copied: a decision that
// finds nothing to do costs the same however long the thread is.
type Draft struct {
	after   Record
	applied []Change
	// shared is what the thread said of its rows before, ref and rev what the item
	// was: a record is large, and nothing else of the one before is needed.
	shared bool
	ref    string
	rev    uint64
}

// NewDraft returns a draft of rec; rec is never written to.
func NewDraft(rec Record) *Draft {
	d := &Draft{after: rec, shared: rec.Comments.shared, ref: rec.Item.Ref, rev: rec.Item.Rev}
	d.after.Comments.shared = true
	return d
}

// Record returns the record as the changes so far leave it. It must not be
// written to and is only good until the next Do.
func (d *Draft) Record() Record { return d.after }

// Comment is the row of a comment as the changes so far leave it: Record().Comments.Get
// without a copy of the rest, for whoever goes through a whole thread.
func (d *Draft) Comment(id string) (Comment, bool) { return d.after.Comments.Get(id) }

// Do applies one change. An illegal one is an ErrIllegal and the draft is of no
// further use.
func (d *Draft) Do(c Change) error {
	changed, err := c.apply(&d.after)
	if err != nil {
		return fmt.Errorf("%T on %s: %w", c, d.ref, err)
	}
	if changed {
		d.applied = append(d.applied, c)
	}
	return nil
}

// Done returns the record with its revision, bounds and counts brought up to
// date, and the changes that changed something. With none of them it is the
// record that the draft was made of.
func (d *Draft) Done() (Record, []Change) {
	after := d.after
	if len(d.applied) == 0 {
		after.Comments.shared = d.shared
		return after, nil
	}
	after.finish(d.rev)
	return after, d.applied
}

// finish is the last of what changes do to a record that was at a revision.
func (r *Record) finish(rev uint64) {
	r.Comments.shared = false // who changes it next makes a draft of it
	r.prune()
	r.Item.Counts = r.Comments.counts()
	r.Item.Rev = rev + 1
}

// prune removes the oldest resolved rows over MaxResolved. One whose notice is
// owed is not resolved yet.
func (r *Record) prune() {
	over := -MaxResolved
	for _, row := range r.Comments.rows {
		if row.removable() {
			over++
		}
	}
	if over <= 0 {
		return
	}
	kept := make([]Comment, 0, len(r.Comments.rows)-over)
	for _, row := range r.Comments.rows {
		if over > 0 && row.removable() {
			over--
			if row.At.After(r.Item.LateUntil) {
				r.Item.LateUntil = row.At
			}
			continue
		}
		kept = append(kept, row)
	}
	r.Comments.rows = kept
	r.Comments.index()
}

func (c Comment) removable() bool { return c.State != Pending && c.Notice != NoticeOwed }

func (t Thread) counts() Counts {
	var n Counts
	for _, row := range t.rows {
		switch row.State {
		case Baselined:
			n.Baselined++
		case Pending:
			n.Pending++
		case Delivered:
			n.Delivered++
		case Settled:
			n.Settled++
		case GaveUp:
			n.GaveUp++
		}
	}
	return n
}

package poller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"theloop/record"
	"theloop/workitem"
)

// spoiled is a ledger with an item whose row does not decode, and a row in its
// index whose key is nothing at all.
type spoiled struct {
	*world
	bad workitem.Ref
}

type rowFault struct{ bucket, key string }

func (f rowFault) Error() string             { return fmt.Sprintf("row %q of %s: torn", f.key, f.bucket) }
func (f rowFault) Row() (bucket, key string) { return f.bucket, f.key }

func (s spoiled) Record(ctx context.Context, ref workitem.Ref) (record.Record, error) {
	if ref.Key() == s.bad.Key() {
		return record.Record{}, rowFault{"comments", s.bad.Key() + "\x00IC_9"}
	}
	return s.world.Record(ctx, ref)
}

func (s spoiled) Known(ctx context.Context, source string) (refs []workitem.Ref, err error) {
	known, err := s.world.Known(ctx, source)
	for _, ref := range known {
		if ref.Key() == s.bad.Key() {
			err = errors.Join(err, rowFault{"items", s.bad.Key()})
			continue
		}
		refs = append(refs, ref)
	}
	return refs, err
}

func (s spoiled) Unfinished(ctx context.Context) ([]workitem.Ref, error) {
	refs, err := s.world.Unfinished(ctx)
	return refs, errors.Join(err, rowFault{"items", "no ref"})
}

// R2: an item with a row that does not decode is told of and skipped; all others
// go on, closures too. The cycle has the error each time, the event is told once
// a run.
func TestRowThatDoesNotDecode(t *testing.T) {
	w := newWorld(t)
	bad := w.started()
	good, ending := w.open(2, "octocat"), w.open(3, "octocat")
	w.cycle()
	w.poller.Ledger = spoiled{w, bad}
	w.say(good, "octocat", "the-loop start")
	w.end(ending)
	for round := range 2 {
		r := w.cycle()
		if len(r.Errors) != 3 || !strings.Contains(strings.Join(r.Errors, "\n"), bad.Key()) {
			t.Errorf("round %d: errors %q", round, r.Errors)
		}
		if n := w.told("ledger.row_invalid"); n != 3 {
			t.Errorf("round %d: told %d times of 3 rows", round, n)
		}
	}
	if n := w.told("poll.item_error"); n != 0 {
		t.Errorf("%d more errors of the same", n)
	}
	if c := w.records[good.Key()].Item.Control; c == nil || c.Command != "start" {
		t.Error("the next item was not dealt with")
	}
	if n := w.told("poll.closure_detected"); n != 1 {
		t.Errorf("%d closures", n)
	}
	preview := Foresee(t.Context(), w.poller.Options)
	if len(preview.Errors) != 3 {
		t.Errorf("foreseen: %q", preview.Errors)
	}
	for _, e := range w.events {
		if e.Name == "ledger.row_invalid" && e.Fields["bucket"] == "comments" &&
			(e.Fields["key"] != bad.Key()+" IC_9" || e.Fields["work_item"] != bad.Key() || e.Fields["error"] == "") {
			t.Errorf("told %v", e.Fields)
		}
	}
}

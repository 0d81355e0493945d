package localapi

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"theloop/record"
	"theloop/workitem"
)

// torn is a ledger in which some rows do not decode.
type torn struct {
	Ledger
	bad int
}

func (l torn) Items(ctx context.Context) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		for n := range l.bad {
			if !yield(record.Record{}, fmt.Errorf("row %d cannot be read", n)) {
				return
			}
		}
		for rec, err := range l.Ledger.Items(ctx) {
			if !yield(rec, err) {
				return
			}
		}
	}
}

// A row that does not decode is named, and the others are listed all the same (no
// row is dropped silently).
func TestItemsGoOnBehindABadRow(t *testing.T) {
	local := ledger(t)
	local.Ledger = torn{local.Ledger, 7}
	for name, r := range map[string]interface {
		Items(context.Context, func(Summary) error) error
		Item(context.Context, workitem.Ref) (Item, error)
	}{"file": local, "socket": serve(t, t.TempDir(), local)} {
		var refs []string
		err := r.Items(t.Context(), func(s Summary) error { refs = append(refs, s.Ref); return nil })
		if len(refs) != 2 {
			t.Errorf("%s: listed %q", name, refs)
		}
		if err == nil || !strings.Contains(err.Error(), "row 4 cannot be read") || strings.Contains(err.Error(), "row 5") ||
			!strings.Contains(err.Error(), "and 2 more; 'the-loop ledger check' lists them") {
			t.Errorf("%s: %v", name, err)
		}
		_, err = r.Item(t.Context(), ref(51))
		var unknown *UnknownError
		if !errors.As(err, &unknown) || len(unknown.Near) == 0 {
			t.Errorf("%s: beside a bad row an unknown item is %v", name, err)
		}
	}
}

// Who stops listening ends the walk.
func TestItemsStopWithTheirReader(t *testing.T) {
	enough := errors.New("enough")
	local := ledger(t)
	for name, r := range map[string]interface {
		Items(context.Context, func(Summary) error) error
	}{"file": local, "socket": serve(t, t.TempDir(), local)} {
		n := 0
		if err := r.Items(t.Context(), func(Summary) error { n++; return enough }); !errors.Is(err, enough) || n != 1 {
			t.Errorf("%s: %d items, %v", name, n, err)
		}
	}
}

// A pull request's line says whose session its comments go to (P3).
func TestTheTargetOfAPullRequest(t *testing.T) {
	rec := record.Record{Item: record.Item{Ref: ref(2).String()}, Link: &record.Link{Target: ref(1).String()}}
	if s := Summarize(rec, ""); s.Target == nil || *s.Target != ref(1).String() {
		t.Errorf("bound: %v", s.Target)
	}
	rec.Link.Ended = true
	if s := Summarize(rec, ""); s.Target != nil {
		t.Errorf("no longer bound: %s", *s.Target)
	}
}

// A document says of its item what the line in the list says.
func TestADocumentHasTheLineOfTheList(t *testing.T) {
	local := ledger(t)
	for _, n := range []int{15, 150} {
		rec, err := local.Ledger.Record(t.Context(), ref(n))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(Summarize(rec, local.Host), Describe(rec, at, local.Host).Summary()); diff != "" {
			t.Errorf("%s: %s", rec.Item.Ref, diff)
		}
	}
}

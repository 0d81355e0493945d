package localapi

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"

	"theloop/record"
	"theloop/store"
)

// spoiled is a ledger whose first row does not decode.
type spoiled struct{ Ledger }

func (s spoiled) Items(ctx context.Context) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		if !yield(record.Record{}, &store.RowError{Bucket: "items", Key: ref(1).Key(), Err: errors.New("torn")}) {
			return
		}
		s.Ledger.Items(ctx)(yield)
	}
}

// A row that does not decode costs its item alone: the others are listed, here
// and over the socket, and then it is named.
func TestItemsBesideARowThatDoesNotDecode(t *testing.T) {
	local := ledger(t)
	local.Ledger = spoiled{local.Ledger}
	client := serve(t, t.TempDir(), local)
	for name, list := range map[string]func(context.Context, func(Summary) error) error{"here": local.Items, "over the socket": client.Items} {
		var got []string
		err := list(t.Context(), func(s Summary) error { got = append(got, s.Ref); return nil })
		if want := []string{ref(15).String(), ref(150).String()}; !slices.Equal(got, want) {
			t.Errorf("%s: listed %v, not %v", name, got, want)
		}
		if err == nil || err.Error() != "row \"github:octo/repo#1\" of items: torn: run `the-loop ledger check`" {
			t.Errorf("%s: %v", name, err)
		}
	}
	var unknown *UnknownError
	if _, err := local.Item(t.Context(), ref(1500)); !errors.As(err, &unknown) || len(unknown.Near) == 0 {
		t.Errorf("an unknown item: %v", err)
	}
}

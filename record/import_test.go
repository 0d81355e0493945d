package record

import (
	"reflect"
	"strconv"
	"testing"
)

// An import of an item that is not known is the same by itself as it is applied, the
// bound of rows included.
func TestImportRecord(t *testing.T) {
	rows := make([]Comment, MaxResolved+2)
	for i := range rows {
		rows[i] = Comment{ID: strconv.Itoa(i), State: Baselined, At: at, Seq: uint64(i) + 1}
	}
	for name, c := range map[string]Import{
		"nothing":        {},
		"an item":        {Item: Item{Ref: "x", Rev: 7, FirstSeenAt: at}, Session: &Session{Status: Shut}, Link: &Link{Target: "y"}},
		"its comments":   {Item: Item{Ref: "x"}, Comments: rows[:3]},
		"many of these":  {Item: Item{Ref: "x"}, Comments: rows},
		"with overwrite": {Item: Item{Ref: "x"}, Overwrite: true},
	} {
		if want := must(t, Record{}, c); !reflect.DeepEqual(c.Record(), want) {
			t.Errorf("%s: %+v, not %+v", name, c.Record().Item, want.Item)
		}
	}
}

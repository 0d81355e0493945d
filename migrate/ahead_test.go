package migrate

import (
	"slices"
	"sync/atomic"
	"testing"
)

// Items are made ahead and come in their order, each once; a loop that ends early
// leaves nothing running, and not much was made in vain.
func TestAhead(t *testing.T) {
	for _, n := range []int{0, 1, aheadItems, aheadItems + 1, 10_000} {
		var got []int
		for i, v := range ahead(n, func(i int) int { return i * i }) {
			if i != len(got) || v != i*i {
				t.Fatalf("of %d: %d is %d", n, i, v)
			}
			got = append(got, v)
		}
		if len(got) != n {
			t.Errorf("%d of %d came", len(got), n)
		}
	}

	var made atomic.Int64
	ended := slices.Collect(func(yield func(int) bool) {
		for i := range ahead(1_000_000, func(i int) int { made.Add(1); return i }) {
			if i == 100 || !yield(i) {
				return
			}
		}
	})
	if before := made.Load(); len(ended) != 100 || before > 100_000 {
		t.Errorf("%d came and %d were made", len(ended), before)
	}
}

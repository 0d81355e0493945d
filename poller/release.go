package poller

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"theloop/record"
	"theloop/workitem"
)

// ReleaseAbandoned gives each delivery that a stopping queue had accepted and
// not started its attempt back, in one transaction (B4). It returns how many
// came back; what this process never spent, what has started and what is
// resolved is left as it is.
func ReleaseAbandoned(ctx context.Context, ledger Ledger, held []record.Held, emit Emit) (int, error) {
	if len(held) == 0 {
		return 0, nil
	}
	released, err := ledger.Release(ctx, held)
	byItem := map[string]int{}
	for _, h := range released {
		byItem[h.Ref]++
	}
	for _, ref := range slices.Sorted(maps.Keys(byItem)) {
		emit("poll.attempts_released", map[string]any{"work_item": ref, "released": byItem[ref]})
	}
	if err != nil { // a row that cannot be read keeps its own item's attempts alone
		return len(released), fmt.Errorf("give abandoned attempts back: %w", err)
	}
	return len(released), nil
}

func sorted(open unfinished) []workitem.Ref {
	names := make([]string, 0, len(open))
	for key := range open {
		names = append(names, key)
	}
	slices.Sort(names)
	refs := make([]workitem.Ref, len(names))
	for i, key := range names {
		refs[i] = open[key]
	}
	return refs
}

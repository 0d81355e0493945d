package workitem

import (
	"cmp"
	"slices"
	"time"
)

// Position is where a comment stands in its thread: by time, then surface,
// then database id, then id, so that the order is total (P2).
type Position struct {
	At         time.Time
	Surface    Surface
	DatabaseID int64
	ID         string
}

// Position returns where c stands in its thread.
func (c Comment) Position() Position {
	return Position{At: c.CreatedAt, Surface: c.Surface, DatabaseID: c.DatabaseID, ID: c.ID}
}

// Compare orders two positions: negative when p comes first.
func (p Position) Compare(q Position) int {
	return cmp.Or(
		p.At.Compare(q.At),
		cmp.Compare(p.Surface, q.Surface),
		cmp.Compare(p.DatabaseID, q.DatabaseID),
		cmp.Compare(p.ID, q.ID),
	)
}

// SortThread puts comments into thread order, in place (P2).
func SortThread(comments []Comment) {
	slices.SortStableFunc(comments, func(a, b Comment) int {
		return a.Position().Compare(b.Position())
	})
}

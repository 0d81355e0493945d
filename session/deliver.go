package session

import (
	"context"

	"theloop/workitem"
)

// Delivery is one comment to be put into a session.
type Delivery struct {
	// Ref is the item that the comment stands on, and whose row pays for it.
	Ref workitem.Ref
	// Session is the item whose session takes it; zero for Ref's own (P3).
	Session    workitem.Ref
	DeliveryID string
	// Comment is what is sent; its ID is the row's.
	Comment workitem.Comment
	// Story is told when the delivery has to begin a conversation (D10).
	Story Story
}

// Spawn is a session that is owed without a comment (B6).
type Spawn struct {
	Ref        workitem.Ref
	DeliveryID string
	Story      Story
}

// Deliver puts a comment into its session, which it brings up again when it has
// ended (D3, D5), and commits the outcome. Done: delivered. Failed: the attempt
// is spent. Dropped: given back or settled, nothing was sent. Unknown: the row
// says how far it came.
func (h *Host) Deliver(ctx context.Context, d Delivery) Result {
	j := h.job(d.Ref, d.Session, d.DeliveryID, d.Story)
	j.row, j.comment = d.Comment.ID, &d.Comment
	return j.run(ctx)
}

// Spawn brings up a session that no comment asks for, and commits the outcome.
// Where one lives already there is nothing to do (D2). The results are those of
// Deliver.
func (h *Host) Spawn(ctx context.Context, s Spawn) Result {
	return h.job(s.Ref, s.Ref, s.DeliveryID, s.Story).run(ctx)
}

func (h *Host) job(ref, session workitem.Ref, deliveryID string, story Story) *job {
	if session.Zero() {
		session = ref
	}
	return &job{
		Host: h, settings: h.Settings(),
		ask: ask{ref: ref, session: session, deliveryID: deliveryID, story: story},
	}
}

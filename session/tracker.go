package session

import (
	"context"

	"theloop/workitem"
)

// Tracker is where the people of a work item are; the sources are it. What is
// posted there is for them: it never decides anything.
type Tracker interface {
	Comments(context.Context, workitem.Item) ([]workitem.Comment, error)
	Post(ctx context.Context, ref workitem.Ref, body string) (id string, err error)
	// React leaves a reaction on a comment. Where there are none it does nothing.
	React(ctx context.Context, ref workitem.Ref, comment workitem.Comment, reaction string) error
	// Self is the account that Post writes as.
	Self(context.Context) (workitem.Author, error)
}

// Reactions are what comments are answered with (D12); an empty one is not left.
type Reactions struct{ Started, Completed, Error string }

// tracker is the one of an item; ok is false when nothing can be posted.
func (h *Host) tracker(ref workitem.Ref) (t Tracker, ok bool) {
	if h.Tracker == nil || h.Later == nil {
		return nil, false
	}
	return h.Tracker(ref)
}

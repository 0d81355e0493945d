package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"theloop/dispatch"
	"theloop/poller"
	"theloop/record"
	"theloop/session"
	"theloop/workitem"
)

// work turns the effects of decisions into jobs of the sessions' queues.
type work struct {
	queue *dispatch.Queue
	host  *session.Host
	log   *slog.Logger
	emit  func(string, map[string]any)
}

// Held returns the ids of what is queued or running for an item's session.
func (w work) Held(ref workitem.Ref) []string { return w.queue.Held(ref) }

// Put queues an effect.
func (w work) Put(e poller.Effect) bool {
	if e.Kind == poller.DoNotice { // posts have a queue of their own (C6)
		return w.host.Notify(e.Ref, e.Comment.ID)
	}
	lane := e.Session
	if lane.Zero() {
		lane = e.Ref
	}
	taken := w.queue.Put(dispatch.Job{Ref: lane, Item: e.Ref, ID: e.ID, Run: func(ctx context.Context) error {
		if w.do(ctx, e) == session.Failed {
			return errFailed
		}
		return nil
	}})
	if spawn := e.Kind == poller.DoSpawn; taken && (spawn || e.Kind == poller.DoDeliver) {
		w.emit("dispatch.queued", map[string]any{"work_item": e.Ref.String(), "delivery_id": e.ID, "spawn": spawn})
	}
	return taken
}

// errFailed only counts: the job has told of its failure itself.
var errFailed = errors.New("the dispatch failed")

func (w work) do(ctx context.Context, e poller.Effect) session.Result {
	story := session.Story{Item: e.Item, Thread: e.Thread}
	switch e.Kind {
	case poller.DoDeliver:
		return w.host.Deliver(ctx, session.Delivery{Ref: e.Ref, Session: e.Session, DeliveryID: e.ID, Comment: e.Comment, Story: story})
	case poller.DoSpawn:
		return w.host.Spawn(ctx, session.Spawn{Ref: e.Ref, DeliveryID: e.ID, Story: story})
	case poller.DoClose:
		return w.host.Close(ctx, session.Close{Ref: e.Ref, Reason: e.Reason})
	case poller.DoAdopt:
		result, err := w.host.Adopt(ctx, session.Adoption{Ref: e.Ref})
		if err != nil {
			w.log.Warn("a session could not be taken over; the next cycle tries again", "work_item", e.Ref.String(), "error", err)
		}
		return result
	}
	panic(fmt.Sprintf("no job does %q", e.Kind)) // a kind without a job is a fault of ours
}

// admit is the decision of B8 in the words of the session package.
func (s *service) admit(a session.Admission) ([]record.Change, bool) {
	return poller.Admit(a.Item, a.Session, a.Others, a.Start, s.current().poller.Policy)
}

// story reads what a conversation is told of its item when it begins with a
// comment on a pull request (D10).
func (s *service) story(ctx context.Context, ref workitem.Ref, rec record.Record) (session.Story, error) {
	item, thread, err := poller.Tell(ctx, s.trackers.Load().sources, ref, rec)
	return session.Story{Item: item, Thread: thread}, err
}

package daemon

import (
	"context"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"theloop/dispatch"
	"theloop/poller"
	"theloop/session"
	"theloop/workitem"
)

// The bounds of what is posted on trackers. It stands behind everything else: a
// tracker that hangs keeps no session waiting, and a stop does not wait for it.
const (
	// postsAtOnce is few, since trackers ask for writes one after the other.
	postsAtOnce = 2
	// postTime is how long one post may take, with the reading before it.
	postTime = 30 * time.Second
	// postsHeld is how many one item may have waiting.
	postsHeld = 100
	// postsOnce is how long a --once waits for them, postsStop how long a stop does.
	postsOnce = time.Minute
	postsStop = 2 * time.Second
)

// sparePlaces is what a session's queue takes beside the deliveries that the
// poller allows it (D1): its close, an adoption, a forget.
const sparePlaces = 8

// posts does what is said on trackers: announcements, reactions, notices (D12).
type posts struct {
	queue    *dispatch.Queue
	trackers atomic.Pointer[map[string]session.Tracker]
}

func newPosts(log *slog.Logger) *posts {
	p := &posts{queue: dispatch.New(dispatch.Options{
		Concurrency: postsAtOnce, Timeout: func() time.Duration { return postTime }, Bound: postsHeld,
		OnError: func(j dispatch.Job, err error) { // an event tells of it as well
			log.Debug("a post was not made", "work_item", j.Ref.String(), "job", j.ID, "error", err)
		},
	})}
	p.use(nil)
	return p
}

// use makes the sources of a configuration the trackers that are posted on.
func (p *posts) use(sources []poller.Source) {
	byID := make(map[string]session.Tracker, len(sources))
	for _, src := range sources {
		if t, ok := src.(session.Tracker); ok {
			byID[src.ID()] = t
		}
	}
	p.trackers.Store(&byID)
}

// tracker is the one that an item is of.
func (p *posts) tracker(ref workitem.Ref) (session.Tracker, bool) {
	source, _, _ := strings.Cut(ref.Key(), "#")
	t, ok := (*p.trackers.Load())[source]
	return t, ok
}

func (p *posts) later(ref workitem.Ref, id string, post func(context.Context) error) bool {
	return p.queue.Put(dispatch.Job{Ref: ref, ID: id, Run: post})
}

// finish waits until everything is posted, for a while.
func (p *posts) finish(ctx context.Context, limit time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	_ = p.queue.Wait(ctx)
}

func (p *posts) close() error {
	p.finish(context.Background(), postsStop)
	p.queue.Stop(0)
	return nil
}

// announceOwed posts the announcements that an earlier process did not come to.
func (s *service) announceOwed(ctx context.Context) {
	refs, err := s.ledger.Unfinished(ctx)
	if err == nil {
		err = s.host.Announce(ctx, refs)
	}
	if err != nil {
		s.o.Log.Warn("it is not known which sessions are still to be announced", "error", err)
	}
}

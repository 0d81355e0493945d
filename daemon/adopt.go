package daemon

import (
	"context"
	"errors"

	"theloop/dispatch"
	"theloop/session"
	"theloop/workitem"
)

// adoptJob names the job of an adoption that a person asked for.
const adoptJob = "sessions adopt"

// adopter takes over, on a person's word, the tmux session that has the name of
// an item's, through the session's queue. It returns the name.
func (s *service) adopter(ctx context.Context, ref workitem.Ref) (string, error) {
	done := make(chan error, 1)
	queued := s.queue.Put(dispatch.Job{Ref: ref, ID: adoptJob, Run: func(ctx context.Context) error {
		_, err := s.host.Adopt(ctx, session.Adoption{Ref: ref, Force: true})
		done <- err
		return nil
	}})
	if !queued {
		return "", errors.New("it is being taken over already, or the poller is stopping")
	}
	select {
	case err := <-done:
		if err != nil {
			return "", err
		}
	case <-ctx.Done():
		return "", ctx.Err()
	}
	rec, err := s.ledger.Record(ctx, ref)
	if err != nil || rec.Session == nil {
		return "", err
	}
	return rec.Session.TmuxTarget, nil
}

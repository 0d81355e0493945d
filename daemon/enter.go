package daemon

import (
	"context"
	"fmt"
	"os"
	"strings"

	"theloop/localapi"
	"theloop/poller"
	"theloop/workitem"
)

// link records, on a person's word, whose session a pull request belongs to.
func (s *service) link(ctx context.Context, l localapi.Link) (localapi.Linked, error) {
	if s.untracked != nil {
		return localapi.Linked{}, fmt.Errorf("ask for %s: %w", l.Pull, s.untracked)
	}
	already, err := poller.LinkPull(ctx, s.parts(), l.Ref, l.Pull)
	return localapi.Linked{Ref: l.Ref.String(), Pull: l.Pull.String(), Already: already}, err
}

// register makes a conversation, on a person's word, the session of an item. What
// could not be started, or is another item's, is refused.
func (s *service) register(ctx context.Context, r localapi.Registration) (localapi.Registered, error) {
	if err := s.current().session.Knows(r.Harness); err != nil {
		return localapi.Registered{}, err
	}
	if info, err := os.Stat(r.Cwd); r.Cwd != "" && (err != nil || !info.IsDir()) {
		return localapi.Registered{}, fmt.Errorf("%s is no folder that is there; give the one that the conversation runs in", r.Cwd)
	}
	if err := s.unclaimed(ctx, r); err != nil {
		return localapi.Registered{}, err
	}
	live, err := poller.RegisterSession(ctx, s.parts(), r.Ref, poller.Registration{
		Harness: r.Harness, HarnessSessionID: r.HarnessSessionID, Cwd: r.Cwd, TmuxTarget: r.TmuxTarget,
	})
	return localapi.Registered{Ref: r.Ref.String(), Live: live}, err
}

// unclaimed errs when another item has the conversation, or the tmux session, already.
func (s *service) unclaimed(ctx context.Context, r localapi.Registration) error {
	for rec, err := range s.ledger.Items(ctx) {
		if err != nil {
			continue // a row that does not decode is told of elsewhere
		}
		has := rec.Session
		of, err := workitem.ParseRef(rec.Item.Ref)
		switch {
		case err != nil, !has.Open(), !has.Here(HostID()), of.Key() == r.Ref.Key():
		case strings.EqualFold(has.HarnessSessionID, r.HarnessSessionID):
			return fmt.Errorf("the conversation %s is the session of %s", r.HarnessSessionID, of)
		case r.TmuxTarget != "" && has.TmuxTarget == r.TmuxTarget:
			return fmt.Errorf("the tmux session %s is that of %s", r.TmuxTarget, of)
		}
	}
	return nil
}

package poller

import (
	"context"
	"fmt"
	"slices"

	"theloop/record"
	"theloop/workitem"
)

// linkPR is the command that links a pull request by hand.
const linkPR = "sessions link-pr"

// Link decides, on the operator's word, that what is said on a pull request goes
// into the session of f.Target from now on (P3): f.Link is recorded, and whatever
// the pull request holds is decided on at once, as at its turn in a cycle. before
// are the ids that the queue of its session so far holds. A *RefusedError comes
// back when it may not be linked; then nothing is done. It is pure.
func Link(item workitem.Item, comments []workitem.Comment, rec record.Record, before []string, f Facts) (Decision, error) {
	if reason, words := unlinkable(item, rec, before, f); reason != "" {
		return Decision{}, &RefusedError{Command: linkPR, Reason: reason, Words: words}
	}
	return Decide(item, comments, rec, f)
}

// unlinkable says why a pull request cannot be linked to f.Target. A target that
// belongs to another item itself would make a chain, or a circle, that nobody
// follows to its end.
func unlinkable(item workitem.Item, rec record.Record, before []string, f Facts) (reason, words string) {
	pull, to := item.Ref.String(), f.Target.Ref.String()
	switch target := f.Target.Record; {
	case item.Ref.Key() == f.Target.Ref.Key():
		return "itself", "what is said on " + pull + " goes into its own session already, unless it is linked elsewhere"
	case item.Kind != workitem.PullRequest:
		return "no-pull-request", pull + " is no pull request; the work item comes first, then the pull request"
	case item.State != workitem.Open:
		return "ended", pull + " has ended"
	case rec.Item.Ended():
		return "ended", pull + " was closed and is open again; wait for the next cycle, which begins it anew"
	case !target.Item.EndedAt.IsZero():
		return "ended", to + " has ended"
	case !target.Item.Known():
		return "unseen", to + " was not seen yet; wait for the next cycle"
	case linkedAway(target, workitem.Item{Ref: f.Target.Ref, State: workitem.Open}):
		return "linked", "what is said on " + to + " goes into the session of " + target.Link.Target + "; link it to that"
	case conversation(rec, f.Host).Open():
		return "session", pull + " has a session of its own; end that first: the-loop sessions stop " + pull
	case busy(rec, before):
		return "busy", "something that was said on " + pull + " is on its way; try again in a moment"
	}
	return "", ""
}

// busy says that something is in a queue, or may still reach a session.
func busy(rec record.Record, held []string) bool {
	open := func(row record.Delivery) bool {
		return row.Started() || row.InHand() && slices.Contains(held, row.DeliveryID)
	}
	return open(rec.Item.Spawn.Delivery) || slices.ContainsFunc(rec.Comments.Pending(), func(row record.Comment) bool { return open(row.Delivery) })
}

// LinkPull records, on the operator's word, whose session takes what is said on a
// pull request: read, decide, commit, act (P3). Both must be of one of o.Sources.
// already says that it is recorded so. It may run beside a Poller on the same
// parts.
func LinkPull(ctx context.Context, o Options, to, pull workitem.Ref) (already bool, err error) {
	p := New(o)
	p.makeRoom(ctx)
	return repeat(ctx, breath, pull.String(), func() (bool, error) { return p.linkPull(ctx, to, pull) })
}

func (p *Poller) linkPull(ctx context.Context, ref, pull workitem.Ref) (already bool, err error) {
	for _, of := range []workitem.Ref{ref, pull} {
		if !p.watches(of) {
			return false, &RefusedError{Command: linkPR, Reason: "no-source", Words: "no configured source has " + of.String()}
		}
	}
	item, comments, err := p.readOne(ctx, pull)
	if err != nil {
		return false, fmt.Errorf("read %s: %w", pull, err)
	}
	rec, err := p.Ledger.Record(ctx, pull)
	if err != nil {
		return false, fmt.Errorf("read the ledger: %w", err)
	}
	owner, err := p.Ledger.Record(ctx, ref)
	if err != nil {
		return false, fmt.Errorf("read the ledger: %w", err)
	}
	to := target(ref, owner)
	link := record.Link{Target: to.Ref.String(), Since: p.Now(), Source: linkByHand}
	if was := rec.Link; item.State == workitem.Open && was != nil && !was.Ended && was.Source == link.Source && was.Target == link.Target {
		return true, nil
	}
	at := visit{item: item, listed: item.UpdatedAt, unlisted: !item.Labelled}
	before, err := p.heldBefore(ctx, at, rec)
	if err != nil {
		return false, err
	}
	decision, err := Link(item, comments, rec, before, p.factsOf(ctx, at, rec, to, &link))
	if err != nil {
		return false, err
	}
	if err := p.commit(ctx, pull, rec, to, decision, &Report{}); err != nil {
		return false, err
	}
	p.act(decision, &Report{})
	return false, nil
}

// heldBefore returns what the queue of the session holds that a pull request has
// gone into so far.
func (p *Poller) heldBefore(ctx context.Context, v visit, rec record.Record) ([]string, error) {
	to, _, err := p.route(ctx, v, rec)
	if err != nil {
		return nil, err
	}
	lane := v.item.Ref
	if to.Elsewhere() {
		lane = to.Ref
	}
	return p.Queue.Held(lane), nil
}

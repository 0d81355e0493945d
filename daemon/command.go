package daemon

import (
	"context"
	"fmt"

	"theloop/config"
	"theloop/localapi"
	"theloop/policy"
	"theloop/poller"
	"theloop/store"
	"theloop/workitem"
)

// command carries out a command of the operator, as a comment would (X4).
func (s *service) command(ctx context.Context, o localapi.Order) (localapi.Ordered, error) {
	word, ok := policy.ParseCommand(o.Command)
	if !ok {
		return localapi.Ordered{}, fmt.Errorf("%q is no command", o.Command)
	}
	done, err := poller.Obey(ctx, s.parts(), o.Ref, word)
	if err != nil {
		return localapi.Ordered{}, err
	}
	answer := localapi.Ordered{Ref: o.Ref.String(), Effect: done.Effect}
	if done.Later != nil {
		answer.Later = done.Later.Error()
	}
	if o.Post {
		if err := s.say(ctx, o.Ref, word); err != nil {
			answer.PostError = err.Error()
		}
	}
	return answer, nil
}

// say posts on the item what the operator ordered, marked so that it is nobody's
// order.
func (s *service) say(ctx context.Context, ref workitem.Ref, word policy.Command) error {
	tracker, ok := s.posts.tracker(ref)
	if !ok {
		return fmt.Errorf("no configured source has %s", ref)
	}
	_, err := tracker.Post(ctx, ref, "The operator gave this item's session the command `"+string(word)+"` on the machine that runs it.\n\n"+
		"_the-loop wrote this by itself; no person did._\n\n"+policy.Marker+"\n")
	return err
}

// plan says what the next cycle would do.
func (s *service) plan(ctx context.Context) (localapi.Plan, error) {
	watched := s.trackers.Load() // an edit of the configuration may bring others meanwhile
	before := watched.requests()
	preview := poller.Foresee(ctx, s.parts())
	doc := localapi.Plan{
		Items: []localapi.PlanItem{}, Quiet: preview.Quiet, Commits: preview.Commits,
		Requests: watched.requests() - before, Errors: append([]string{}, preview.Errors...),
	}
	for _, item := range preview.Items {
		planned := localapi.PlanItem{Ref: item.Ref.String(), Title: item.Title}
		for _, step := range item.Steps {
			planned.Steps = append(planned.Steps, localapi.PlanStep{
				Kind: string(step.Kind), Comment: step.Comment, Actor: step.Actor, Reason: step.Reason, Attempt: step.Attempt,
			})
		}
		doc.Items = append(doc.Items, planned)
	}
	return doc, nil
}

// PlanOffline says what the first cycle of a start would do. It holds no lock and
// writes nothing; a poller that starts meanwhile waits for it.
func PlanOffline(ctx context.Context, o Options, l *store.Ledger, root string) (_ localapi.Plan, err error) {
	cfg, _, err := config.Load(o.Config)
	if err != nil {
		return localapi.Plan{}, err
	}
	s, err := newService(o.withDefaults(), cfg)
	if err != nil {
		return localapi.Plan{}, err
	}
	s.root, s.ledger = root, l
	if err := s.findTools(ctx); err != nil {
		return localapi.Plan{}, err
	}
	defer func() { _ = s.close() }()
	s.chores = newChores(nil, s.started)
	if err := s.assemble(); err != nil {
		return localapi.Plan{}, err
	}
	return s.plan(ctx)
}

package tmux

import "context"

// Prove takes the "_" from a first prompt's mark: the pane has lived long enough to call it delivered (D5). ErrRefused
// when the pane has died or changed since the look, or its ring has no such mark. Proving twice is fine.
func (s *Server) Prove(ctx context.Context, l Look, owner, mark string) error {
	m, err := markWord(mark)
	if err != nil {
		return err
	}
	outcome, err := s.guarded(ctx, l, owner, all(alive, inRing(m)), func(target arg) arg {
		return "set-option -p -F -t " + target + " @the_loop_ring '#{s/_" + m + "/" + m + "/:@the_loop_ring}' ; "
	})
	return settled(outcome, err, "prove the first prompt of", l)
}

// Adopt stamps owner, harness session id and marks (16 hex digits each) on a pane that has no owner mark, or ours (D5),
// or one of ours that was let go.
// Marks are added to a ring that is there. ErrRefused when somebody else's mark is on it, or it is not the pane that was
// looked at. Whether the pane may be adopted is for the caller to judge.
func (s *Server) Adopt(ctx context.Context, l Look, owner, harnessSession string, marks []string) error {
	outcome, err := s.adopt(ctx, l, owner, harnessSession, marks)
	return settled(outcome, err, "adopt", l)
}

func (s *Server) adopt(ctx context.Context, l Look, owner, harnessSession string, marks []string) (Outcome, error) {
	w := s.span(Span{})
	target, who, mark, err := l.names(owner)
	if err != nil {
		return Skip, err
	}
	script, err := adoption(target, mark, harnessSession, marks)
	if err != nil {
		return Skip, err
	}
	claimable := either(equal(ours, ""), either(equal(ours, mark), equal(ours, letGo+mark)))
	guard := all(isAt(target), claimable, equal(isPane, who), within(w.Start, w.Until))
	return s.choose(ctx, target, guard, script, w)
}

func adoption(target, owner arg, harnessSession string, marks []string) (arg, error) {
	session, err := rememberSession(target, harnessSession)
	if err != nil {
		return "", err
	}
	script := "set-option -p -t " + target + " @the_loop_owner " + owner + " ; " + session
	for _, m := range marks {
		entry, err := markWord(m)
		if err != nil {
			return "", err
		}
		script += remember(target, entry)
	}
	return script, nil
}

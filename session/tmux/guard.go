package tmux

import (
	"context"
	"fmt"
)

// names are what a guard compares, let into arguments: where the pane is, who it was, and the owner mark.
func (l Look) names(owner string) (target, who, mark arg, err error) {
	if target, err = l.place(); err != nil {
		return "", "", "", err
	}
	if who, err = identity(l.Identity); err != nil {
		return "", "", "", err
	}
	mark, err = word("owner mark", owner)
	return target, who, mark, err
}

// guard is the target of a pane, and what has to hold for any effect on it: it is there, with our owner mark and the
// identity that was looked at, before the deadline (D3).
func (l Look) guard(owner string, w Span) (target, guard arg, err error) {
	target, who, mark, err := l.names(owner)
	return target, all(isAt(target), equal(ours, mark), equal(isPane, who), within(w.Start, w.Until)), err
}

// inRing is true when the ring has the mark, proved or not.
func inRing(mark arg) arg { return either(holds(ring, mark), holds(ring, "_"+mark)) }

// remember appends an entry to the ring and trims it, in one step of the server.
func remember(target, entry arg) arg {
	return "set-option -p -F -t " + target + " @the_loop_ring '#{=-" + ringKeep + ":@the_loop_ring}|" + entry + "|' ; "
}

// rememberSession sets, or unsets, the harness session id.
func rememberSession(target arg, harnessSession string) (arg, error) {
	if harnessSession == "" {
		return "set-option -p -u -t " + target + " @the_loop_session ; ", nil
	}
	session, err := sessionWord(harnessSession)
	return "set-option -p -t " + target + " @the_loop_session " + session + " ; ", err
}

// choice runs one of two scripts, each ending in "; " or empty, as the guard says, and prints which.
func choice(target, guard, then, otherwise, id arg) arg {
	return "if-shell -F -t " + target + " '" + guard + "' { " + then + "display-message -p 'OK " + id + "' } { " +
		otherwise + "display-message -p 'SKIP " + id + "' }"
}

// guarded runs a script on a pane when it carries owner, is who it was, and cond holds; now, or never. The script may
// end the pane.
func (s *Server) guarded(ctx context.Context, l Look, owner string, cond arg, script func(target arg) arg) (Outcome, error) {
	w := s.span(Span{})
	target, guard, err := l.guard(owner, w)
	if err != nil {
		return Skip, err
	}
	return s.choose(ctx, target, all(guard, cond), script(target), w)
}

func (s *Server) choose(ctx context.Context, target, guard, script arg, w Span) (Outcome, error) {
	id, err := s.newID()
	if err != nil {
		return Skip, err
	}
	outcome, _, err := s.apply(ctx, sequence{id: id, body: choice(target, guard, script, "", id), until: w.Until})
	return outcome, err
}

// settled makes an error of a refusal, for those to whom it is one.
func settled(outcome Outcome, err error, what string, l Look) error {
	if err == nil && outcome != OK {
		err = ErrRefused
	}
	if err != nil {
		return fmt.Errorf("%s %s of tmux session %q: %w", what, l.PaneID, l.Name, err)
	}
	return nil
}

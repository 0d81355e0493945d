package tmux

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	// pollEvery is how often a pane that is ending is looked at: one tmux process each.
	pollEvery = 50 * time.Millisecond
	// killWait is how long a killed program may take to be gone from its terminal before the pane itself is taken away.
	killWait = 3 * time.Second
)

// CloseOptions say how a session ends (D9).
type CloseOptions struct {
	Owner string        // the owner mark that the pane must carry
	Kill  bool          // end the harness: TERM, Grace, KILL
	Keep  bool          // leave the pane to be read; else it is taken away, and the session with its last pane
	Grace time.Duration // between TERM and KILL
}

// Close ends the harness of a pane of ours and returns when the pane is dead (Keep) or gone (D9). Panes that a user made
// in the same session are left alone. With Keep and without Kill the harness goes on and is let go: the pane is made to
// stay, and its owner mark becomes LeftMark, so that it counts as nobody's session.
// ErrRefused: the pane is not ours, or not the one looked at; nothing was done to it. A pane that is gone is no error.
// It takes at most Grace, six seconds and a few calls.
func (s *Server) Close(ctx context.Context, l Look, o CloseOptions) error {
	if err := s.close(ctx, l, o); err != nil {
		return fmt.Errorf("close %s of tmux session %q: %w", l.PaneID, l.Name, err)
	}
	return nil
}

func (s *Server) close(ctx context.Context, l Look, o CloseOptions) error {
	retain := arg("off")
	if o.Keep {
		retain = "on"
	}
	owner, err := word("owner mark", o.Owner)
	if err != nil {
		return err
	}
	outcome, err := s.guarded(ctx, l, o.Owner, isThere, func(target arg) arg {
		script := "set-option -p -t " + target + " remain-on-exit " + retain + " ; "
		if o.Keep && !o.Kill {
			script += "set-option -p -t " + target + " @the_loop_owner " + letGo + owner + " ; "
		}
		return script
	})
	if outcome != OK {
		return s.whyNot(ctx, l, err)
	}
	if o.Kill {
		if err := s.end(ctx, l, o.Grace); err != nil {
			return err
		}
	}
	if o.Keep && (!o.Kill || s.await(ctx, l, 0, ended).State != Live) {
		return nil
	}
	return s.remove(ctx, l, o.Owner)
}

// whyNot is nil when nothing was done because the pane is gone. A server that is on its way out answers with an error
// first; one that did not answer at all is not asked again.
func (s *Server) whyNot(ctx context.Context, l Look, err error) error {
	if errors.Is(err, ErrNoAnswer) {
		return err
	}
	switch now := s.await(ctx, l, time.Second, func(state State) bool { return state != Silent }); now.State {
	case Absent:
		return nil
	case Silent:
		return errors.Join(err, now.Err)
	}
	if err != nil {
		return err
	}
	return ErrRefused
}

// end stops the harness: TERM to all processes of its terminal session and to what they have started; after the grace
// KILL to what is left of them.
func (s *Server) end(ctx context.Context, l Look, grace time.Duration) error {
	now := s.again(ctx, l)
	if now.State != Live {
		return now.Err
	}
	h, err := openHarness(now)
	if err != nil {
		return err
	}
	over := func(state State) bool { return ended(state) && h.gone() }
	h.terminate()
	if now = s.await(ctx, l, grace, over); over(now.State) {
		return nil
	}
	h.kill()
	if now = s.await(ctx, l, killWait, over); now.State == Silent {
		return now.Err
	}
	return ctx.Err()
}

// remove takes the pane away, not the session: a user's own panes in it stay.
func (s *Server) remove(ctx context.Context, l Look, owner string) error {
	if s.again(ctx, l).State == Absent {
		return nil
	}
	outcome, err := s.guarded(ctx, l, owner, isThere, func(target arg) arg {
		return "kill-pane -t " + target + " ; "
	})
	if outcome == Skip {
		return s.whyNot(ctx, l, err)
	}
	if now := s.await(ctx, l, killWait, absent); now.State != Absent {
		return fmt.Errorf("it is still there: %w", errors.Join(err, now.Err, ctx.Err()))
	}
	return nil
}

func ended(s State) bool { return s == Dead || s == Absent }

func absent(s State) bool { return s == Absent }

// await looks at the very same pane until its state is one of those wanted, or the wait is over. A server that is on its
// way out because its last session has gone may fail to answer for a moment; one that hangs takes the wait up.
func (s *Server) await(ctx context.Context, l Look, wait time.Duration, wanted func(State) bool) Look {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for {
		now := s.again(ctx, l)
		if wanted(now.State) {
			return now
		}
		select {
		case <-ctx.Done():
			return now
		case <-timer.C:
			return now
		case <-tick.C:
		}
	}
}

// again looks at the very same pane: Absent when there is another one by now.
func (s *Server) again(ctx context.Context, l Look) Look {
	now := s.Look(ctx, Target{Name: l.Name, PaneID: l.PaneID, Identity: l.Identity})
	if now.State != Silent && now.Identity != l.Identity {
		now.State = Absent
	}
	return now
}

package tmux

import (
	"context"
	"fmt"
)

// A new session's size until somebody attaches: wide enough for a harness to lay its screen out, and for Capture.
const paneSize arg = "-x 200 -y 50"

// Spawn is one harness to start (D5).
type Spawn struct {
	Name           string // session name; not used by Respawn
	Owner          string // owner mark
	HarnessSession string // the harness's own session id; may be empty
	Mark           string // of the delivery that the first prompt carries; empty when it carries none
	Retain         bool   // keep the pane readable when the program has exited
	EmptyRing      bool   // Respawn only: forget what reached the pane before (D5, after a Forget)
	Order          Order
	Span
}

// Spawn makes a session with one pane that runs the order, and with all its marks, in one step of the server (D5, D8);
// it starts the server when none runs. The mark is in the ring as "_<mark>" until Prove. Skip: a session of that name
// or a pane with that owner mark is there already (D2), or the deadline had passed. A Look comes with OK only.
func (s *Server) Spawn(ctx context.Context, sp Spawn) (Look, Outcome, error) {
	sp.Span = s.span(sp.Span)
	look, outcome, err := s.start(ctx, sp, func(id arg) (arg, error) {
		name, err := word("tmux session name", sp.Name)
		if err != nil {
			return "", err
		}
		return sp.creation(name, id)
	})
	if err != nil {
		err = fmt.Errorf("start tmux session %q: %w", sp.Name, err)
	}
	return look, outcome, err
}

// Respawn starts the order in a dead pane of ours, in place: the pane keeps its id, its text and, unless EmptyRing, its
// ring (D5). Skip: the pane is not dead, not ours, not the one looked at, already has the mark proved, or the deadline
// had passed.
func (s *Server) Respawn(ctx context.Context, l Look, sp Spawn) (Look, Outcome, error) {
	sp.Span = s.span(sp.Span)
	look, outcome, err := s.start(ctx, sp, func(id arg) (arg, error) { return sp.revival(l, id) })
	if err != nil {
		err = fmt.Errorf("start %s of tmux session %q again: %w", l.PaneID, l.Name, err)
	}
	return look, outcome, err
}

// start loads the order and runs the script that body makes for it, in one tmux process: a server without sessions ends
// with its last client, and the buffer with it.
func (s *Server) start(ctx context.Context, sp Spawn, body func(id arg) (arg, error)) (Look, Outcome, error) {
	id, err := s.newID()
	if err != nil {
		return Look{}, Skip, err
	}
	script, err := body(id)
	if err != nil {
		return Look{}, Skip, err
	}
	letter, err := s.letter(sp.Order)
	if err != nil {
		return Look{}, Skip, err
	}
	if !s.now().Before(sp.Until) {
		return Look{}, Skip, context.DeadlineExceeded
	}
	outcome, row, err := s.apply(ctx, sequence{
		id: id, start: true, stdin: letter, dir: dirOr(sp.Order.Dir), until: sp.Until, body: script,
	})
	if outcome != OK {
		return Look{}, outcome, err
	}
	look, ok := parseRow(row)
	if !ok {
		return Look{}, Unknown, fmt.Errorf("%w: it printed %q", ErrNoAnswer, row)
	}
	look.Panes = max(look.Panes, 1)
	return look, OK, nil
}

// creation is the script of Spawn. No session of that name, and no pane anywhere with that owner, may be there.
func (sp Spawn) creation(name, id arg) (arg, error) {
	owner, err := word("owner mark", sp.Owner)
	if err != nil {
		return "", err
	}
	target := "=" + name + ":"
	marks, err := sp.marks(target)
	if err != nil {
		return "", err
	}
	guard := all(within(sp.Start, sp.Until),
		not(holds("#{S:|#{session_name}|}", name)),
		not(holds("#{S:#{W:#{P:|#{@the_loop_owner}|}}}", owner)))
	script := "new-session -d -s " + name + " " + paneSize + " -- " + bootstrap(id) + " ; " +
		"set-option -t " + target + " destroy-unattached off ; " + marks + started(target, id)
	return branch("", guard, script, id), nil
}

// revival is the script of Respawn. The marks come first, so that a program never runs without them; on a pane that
// stays dead the new one proves nothing.
func (sp Spawn) revival(l Look, id arg) (arg, error) {
	target, guard, err := l.guard(sp.Owner, sp.Span)
	if err != nil {
		return "", err
	}
	guard = all(guard, dead)
	if mark, err := markWord(sp.Mark); err == nil && !sp.EmptyRing {
		guard = all(guard, not(holds(ring, mark)))
	}
	marks, err := sp.marks(target)
	if err != nil {
		return "", err
	}
	if sp.EmptyRing {
		marks = "set-option -p -u -t " + target + " @the_loop_ring ; " + marks
	}
	script := marks + "respawn-pane -k -t " + target + " -- " + bootstrap(id) + " ; " + started(target, id)
	return branch("-t "+target+" ", guard, script, id), nil
}

// marks are the options that say whose pane it is.
func (sp Spawn) marks(target arg) (arg, error) {
	owner, err := word("owner mark", sp.Owner)
	if err != nil {
		return "", err
	}
	script := "set-option -p -t " + target + " @the_loop_owner " + owner + " ; set-option -p -t " + target + " remain-on-exit "
	if sp.Retain {
		script += "on ; "
	} else {
		script += "off ; "
	}
	session, err := rememberSession(target, sp.HarnessSession)
	if err != nil {
		return "", err
	}
	script += session
	if sp.Mark == "" {
		return script, nil
	}
	mark, err := markWord(sp.Mark)
	return script + remember(target, "_"+mark), err
}

// started prints the new pane as a row.
func started(target, id arg) arg {
	return "display-message -p -t " + target + " 'OK " + id + rowFormat + "'"
}

// branch runs a script that prints its own OK, or deletes the order.
func branch(target, guard, script, id arg) arg {
	return "if-shell -F " + target + "'" + guard + "' { " + script + " } { delete-buffer -b " + bufferPrefix + id +
		" ; display-message -p 'SKIP " + id + "' }"
}

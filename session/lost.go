package session

import (
	"context"
	"fmt"

	"theloop/record"
	"theloop/session/tmux"
)

// looker looks at one tmux session; *tmux.Server is one.
type looker interface {
	Look(context.Context, tmux.Target) tmux.Look
}

// Find says how a session fares that its row says is there: live, dead, absent or
// foreign (D4, D5). all is every pane that carries a mark, as tmux.Server.LookAll
// returns them, owner that of the item in this ledger (D6). A second look, by the name
// in the row, is taken where no mark is found, and errs when tmux does not answer.
func Find(ctx context.Context, t looker, all []tmux.Look, owner, tmuxTarget, harnessSessionID string) (record.PaneState, error) {
	state := byMark(all, owner)
	if state != record.PaneAbsent || tmuxTarget == "" {
		return state, nil
	}
	l := t.Look(ctx, tmux.Target{Name: tmuxWord(tmuxTarget)})
	ours := l.Owner == "" && imported(l, &record.Session{TmuxTarget: tmuxTarget, HarnessSessionID: harnessSessionID})
	switch {
	case l.State == tmux.Silent:
		return record.PaneUnknown, fmt.Errorf("look at tmux session %s: %w", tmuxTarget, l.Err)
	case l.State == tmux.Absent:
		return record.PaneAbsent, nil
	case !ours:
		return record.PaneForeign, nil
	case l.State == tmux.Dead:
		return record.PaneDead, nil
	}
	return record.PaneLive, nil
}

// byMark goes by the panes that carry the item's mark. One that a close has let go is
// nobody's session any more.
func byMark(all []tmux.Look, owner string) record.PaneState {
	state := record.PaneAbsent
	for _, l := range all {
		switch {
		case l.Owner != owner:
		case l.State == tmux.Live:
			return record.PaneLive
		default:
			state = record.PaneDead
		}
	}
	return state
}

package session

import (
	"context"
	"fmt"
	"time"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/workitem"
)

// The reasons of a Close that is not done any more when they have ceased to hold
// by its turn in the queue: the last command wins (X4).
const (
	// Stopped is a recorded stop or cleanup.
	Stopped = "stopped"
	// Ended is a work item that its tracker says has ended.
	Ended = "ended"
)

// Close is a session to be ended.
type Close struct {
	Ref workitem.Ref
	// Reason is Stopped, Ended or any other word for the event.
	Reason string
	// forget says that the close is a cleanup's.
	forget bool
}

// closeCalls is how long the tmux calls of one close may take effect beside the
// grace of its harness: the guard, the wait after KILL, taking the pane away.
const closeCalls = 2*deadlineAfter + 3*time.Second

// Close ends an item's session (D9): the harness is ended, the pane kept readable
// or not, and the row closed once the session is proved gone or dead. It does so
// also when tmux alone knows the session. What is not ours is left alone. Done:
// it is gone. Dropped: it is not to be closed any more. Unknown: tmux did not
// answer; the row holds the session still until its deadline.
func (h *Host) Close(ctx context.Context, c Close) Result {
	result, err := h.close(ctx, c)
	if err != nil {
		h.Log.Warn("a session could not be closed; the next cycle tries again", "work_item", c.Ref.String(), "error", err)
	}
	return result
}

func (h *Host) close(ctx context.Context, c Close) (Result, error) {
	rec, err := h.Ledger.Record(ctx, c.Ref)
	if err != nil {
		return Unknown, fmt.Errorf("read the ledger: %w", err)
	}
	if c.lapsed(rec) {
		return Dropped, nil
	}
	switch until, err := h.quietUntil(ctx, c.Ref, rec); {
	case err != nil:
		return Unknown, err
	case !until.IsZero():
		return Unknown, nil // a late call may still bring it back (D3)
	}
	c.forget = rec.Item.Control.CleansUp()
	p := h.find(ctx, c.Ref, rec, "")
	switch p.pane.State {
	case record.PaneUnknown:
		return Unknown, p.look.Err
	case record.PaneNone, record.PaneAbsent, record.PaneForeign:
		if p.pane.Remedy != "" {
			h.Log.Warn("a session is closed whose agent goes on", "work_item", c.Ref.String(), "agent", p.pane.Holder, "remedy", p.pane.Remedy)
		}
		return h.shut(ctx, c, p, false)
	}
	return h.endLife(ctx, c, p)
}

// lapsed reports whether the reason no longer holds.
func (c Close) lapsed(rec record.Record) bool {
	switch c.Reason {
	case Stopped:
		return rec.Item.Control == nil || rec.Item.Control.Arming()
	case Ended:
		return rec.Item.EndedAt.IsZero()
	}
	return false
}

// endLife closes a session of ours, live or dead. The deadline is committed
// first: a call that is still on its way when the process dies must not meet a
// session that was made after it.
func (h *Host) endLife(ctx context.Context, c Close, p place) (Result, error) {
	s := h.Settings()
	if s.KeepSessionOnClose && (p.pane.State == record.PaneDead || !s.KillHarnessOnClose && p.leftBehind()) {
		return h.shut(ctx, c, p, true) // there is nothing to be done to it
	}
	if ctx.Err() != nil {
		return Unknown, ctx.Err()
	}
	if p.look.Owner != p.owner {
		if err := h.claimToClose(ctx, c, &p); err != nil {
			return Unknown, err
		}
	}
	going, err := h.commitClosing(ctx, c, p, s)
	if err != nil {
		return Unknown, fmt.Errorf("commit that the close starts: %w", err)
	}
	if !going {
		return Dropped, nil
	}
	h.Failpoint("started")
	err = h.Tmux.Close(context.WithoutCancel(ctx), p.look, tmux.CloseOptions{
		Owner: p.owner, Kill: s.KillHarnessOnClose, Keep: s.KeepSessionOnClose, Grace: s.KillGrace,
	})
	h.Failpoint("pasted")
	if err != nil {
		return Unknown, err
	}
	return h.shut(ctx, c, p, s.KeepSessionOnClose)
}

func (h *Host) claimToClose(ctx context.Context, c Close, p *place) error {
	rec, err := h.Ledger.Record(ctx, c.Ref)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	return h.stamp(ctx, p, h.local(rec), rec)
}

// commitClosing writes until when the close may take effect. going is false when
// the reason has lapsed by then. A session without a row gets one that is closed:
// an open one would count as started.
func (h *Host) commitClosing(ctx context.Context, c Close, p place, s Settings) (going bool, err error) {
	until := h.Now().Add(s.KillGrace + closeCalls).Truncate(time.Second).UTC()
	err = h.update(ctx, c.Ref, func(rec record.Record) []record.Change {
		if going = !c.lapsed(rec); !going {
			return nil
		}
		old := h.local(rec)
		row := h.sessionRow(old, life{look: p.look, harness: s.Harness})
		row.Status, row.Until = record.Shut, until
		if old != nil {
			row.Status, row.EndedAt = old.Status, old.EndedAt
		}
		return []record.Change{record.PutSession{Session: row}}
	})
	return going, err
}

// shut closes the row of a session that is proved gone or dead, or that was never
// ours.
func (h *Host) shut(ctx context.Context, c Close, p place, kept bool) (Result, error) {
	var closed record.Session
	err := h.update(ctx, c.Ref, func(rec record.Record) []record.Change {
		row := h.local(rec)
		if row == nil || row.Status == record.Shut && row.Until.IsZero() {
			closed = record.Session{}
			return nil
		}
		closed = *row
		closed.Until = time.Time{}
		at := h.Now().UTC()
		if row.Status == record.Shut && row.EndedAt.IsZero() {
			closed.EndedAt = at
		}
		changes := []record.Change{record.PutSession{Session: closed}, record.SetStatus{Status: record.Shut, At: at}}
		if c.forget { // whatever was commanded since: the next start begins afresh (X4)
			changes = append(changes, record.DropSession{})
		}
		return changes
	})
	h.Failpoint("outcome")
	if err != nil {
		return Unknown, fmt.Errorf("commit that the session is closed: %w", err)
	}
	if closed.TmuxTarget == "" && closed.Status == "" {
		return Done, nil // it was closed before
	}
	fields := map[string]any{
		"harness": closed.Harness, "harness_session_id": closed.HarnessSessionID, "tmux_target": closed.TmuxTarget,
		"reason": c.Reason, "kept": kept,
	}
	if !kept && p.look.Owner == p.owner && p.pane.State != record.PaneForeign {
		fields["removed"] = []string{"pane"}
	}
	h.emit(c.Ref, "session.closed", fields)
	return Done, nil
}

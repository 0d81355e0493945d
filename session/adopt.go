package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/workitem"
)

// Adoption is a tmux session to be taken over for an item.
type Adoption struct {
	Ref workitem.Ref
	// Force takes over a session of the item's name whatever it runs, on the word
	// of the operator. One that carries another's mark is refused all the same.
	Force bool
}

// Adopt takes over the tmux session of an item that carries our mark and no row,
// or no mark and a row that names it (D5): marks are stamped, the row is
// committed. The error says why when there is nothing to adopt (Dropped), or
// when nothing can be said yet (Unknown).
func (h *Host) Adopt(ctx context.Context, a Adoption) (Result, error) {
	rec, err := h.Ledger.Record(ctx, a.Ref)
	if err != nil {
		return Unknown, fmt.Errorf("read the ledger: %w", err)
	}
	switch until, err := h.quietUntil(ctx, a.Ref, rec); {
	case err != nil:
		return Unknown, err
	case !until.IsZero():
		return Unknown, fmt.Errorf("adopt %s: tmux has not answered an earlier call; try again after %s", a.Ref, stamp(until))
	}
	row := h.local(rec)
	p := h.find(ctx, a.Ref, rec, "")
	switch p.pane.State {
	case record.PaneUnknown:
		return Unknown, fmt.Errorf("adopt %s: %w", a.Ref, p.look.Err)
	case record.PaneNone, record.PaneAbsent:
		return Dropped, fmt.Errorf("adopt %s: there is no tmux session %s to take over; 'the-loop sessions start %s' brings one up", a.Ref, p.name, a.Ref)
	case record.PaneDead:
		if !row.Open() { // an open row would count as started, and nothing runs
			return Dropped, fmt.Errorf("adopt %s: what ran in tmux session %s has ended; a start brings it up again", a.Ref, p.name)
		}
		if id := p.look.HarnessSession; id != "" && row.HarnessSessionID != "" && id != row.HarnessSessionID { // what was registered since would be lost
			return Dropped, fmt.Errorf("adopt %s: what ran in tmux session %s has ended, and the item has another conversation by now; "+
				"what is said next goes on with that", a.Ref, p.name)
		}
	case record.PaneForeign:
		if p.pane.Remedy != "" {
			return Dropped, fmt.Errorf("adopt %s: there is no tmux session %s; %s: %s", a.Ref, p.name, p.pane.Holder, p.pane.Remedy)
		}
		if anothers := p.look.Owner != "" && p.look.Owner != p.owner && !p.leftBehind(); !a.Force || anothers {
			return Dropped, fmt.Errorf("adopt %s: %s has the name of its session", a.Ref, p.pane.Holder)
		}
	}
	if p.look.Owner != p.owner {
		if err := h.stamp(ctx, &p, row, rec); err != nil {
			return Unknown, err
		}
	} else if current(row, p.look) {
		return Done, nil
	}
	now, err := h.commitAdopted(ctx, a.Ref, p.look)
	if err != nil {
		return Unknown, fmt.Errorf("adopt %s: %w", a.Ref, err)
	}
	h.adopted(a.Ref, p.look)
	h.announce(a.Ref, &now)
	return Done, nil
}

func (h *Host) adopted(ref workitem.Ref, l tmux.Look) {
	h.emit(ref, "session.adopted", map[string]any{
		"harness_session_id": safeText(l.HarnessSession, maxName), "tmux_target": safeText(l.Name, maxName),
	})
}

func (h *Host) commitAdopted(ctx context.Context, ref workitem.Ref, l tmux.Look) (row record.Session, err error) {
	err = h.update(ctx, ref, func(rec record.Record) (changes []record.Change) {
		row, changes = h.alive(rec, life{look: l, harness: h.Settings().Harness})
		return changes
	})
	return row, err
}

// current reports whether the row says of the pane what is so.
func current(row *record.Session, l tmux.Look) bool {
	return row.Open() && row.Pane == l.PaneID && row.Identity == l.Identity && row.TmuxTarget == l.Name
}

// stamp puts our marks on a pane, and those of what was delivered to it: its ring
// refuses them from now on (D5). tmux.ErrRefused: it is another pane by now, or
// somebody else's.
func (h *Host) stamp(ctx context.Context, p *place, row *record.Session, rec record.Record) error {
	id := p.look.HarnessSession
	if row != nil && row.HarnessSessionID != "" {
		id = row.HarnessSessionID
	}
	err := h.Tmux.Adopt(context.WithoutCancel(ctx), p.look, p.owner, id, deliveredMarks(rec))
	if err != nil {
		return fmt.Errorf("adopt tmux session %s: %w", safeText(p.look.Name, maxName), err)
	}
	p.look.Owner, p.look.HarnessSession = p.owner, id
	return nil
}

// deliveredMarks are the marks of the last deliveries that the ledger knows.
func deliveredMarks(rec record.Record) []string {
	var marks []string
	for _, row := range rec.Comments.All() {
		if row.State != record.Delivered {
			continue
		}
		id := row.DeliveryID
		if id == "" {
			id = record.CommentDeliveryID(row.ID)
		}
		marks = append(marks, record.Mark(id))
	}
	return marks[max(0, len(marks)-tmux.RingSize):]
}

// life is a session that is alive, as a job found or made it.
type life struct {
	look    tmux.Look
	harness string
	// cwd is where a session that was made here runs.
	cwd string
	// fresh says that it began a conversation.
	fresh bool
	// by is the delivery that found or made it.
	by string
}

// alive is what the ledger is told of a living session: its row, and that the
// recorded start had its session (X7).
func (h *Host) alive(rec record.Record, l life) (record.Session, []record.Change) {
	row := h.sessionRow(h.local(rec), l)
	if id := h.spawnedBy(rec, l); id != "" {
		row.Announced = owed + id
	}
	return row, []record.Change{record.PutSession{Session: row}, record.Serve{}}
}

// spawnedBy is the delivery that made a session which is to be announced: no row
// names it or its conversation yet, because it was made just now, or because the
// process was killed between the spawn and its commit (D12). Its mark is the last
// one in the ring.
func (h *Host) spawnedBy(rec record.Record, l life) string {
	old := h.local(rec)
	known := old.Open() || old != nil && !rec.Bygone() && old.HarnessSessionID == l.look.HarnessSession
	if known || !h.Settings().Announce || !l.look.Ours() || len(l.look.Ring) == 0 {
		return ""
	}
	mark := strings.TrimPrefix(l.look.Ring[len(l.look.Ring)-1], "_")
	ids := []string{l.by, rec.Item.Spawn.DeliveryID}
	for _, row := range rec.Comments.All() {
		ids = append(ids, row.DeliveryID)
	}
	for _, id := range ids {
		if id != "" && record.Mark(id) == mark {
			return id
		}
	}
	return ""
}

func (h *Host) sessionRow(old *record.Session, l life) record.Session {
	now := h.Now().UTC()
	s := record.Session{}
	if old != nil {
		s = *old
	}
	id := l.look.HarnessSession
	if l.fresh || id != "" && id != s.HarnessSessionID {
		s.HarnessSessionID, s.CreatedAt = id, now
	}
	if l.fresh || s.Harness == "" {
		s.Harness = l.harness
	}
	if l.cwd != "" {
		s.Cwd = l.cwd
	}
	if s.CreatedAt.IsZero() {
		s.CreatedAt = now
	}
	if s.Status != record.Paused { // a pause that was committed meanwhile stays
		s.Status = record.Active
	}
	s.TmuxTarget, s.Pane, s.Identity = l.look.Name, l.look.PaneID, l.look.Identity
	s.Host, s.LastEventAt, s.EndedAt, s.Until = h.Host, now, time.Time{}, time.Time{}
	return s
}

package poller

import (
	"time"

	"theloop/record"
)

// level compares what is recorded with what is: a stop whose session still runs
// is closed, a session nobody's row names is taken over (X7). A pause is held
// in the head of the cycle.
func (d *decider) level() {
	if d.routed() {
		d.orders()
		return
	}
	halt := halted(d.rec())
	switch {
	case halt == record.SessionStopped:
		d.close("stopped")
		d.tidy()
	case d.ownerless() && (d.started() || halt == record.SessionPaused):
		d.stuck = true // what is pending waits for its session's row
		d.once(DoAdopt, "adopted")
	case d.ownerless():
		d.once(DoClose, "not started")
	case d.lives() && !d.closing():
		d.do(record.Serve{})
		d.spareSpawn()
	}
}

// spareSpawn gives the attempt of a spawn back that never started and is in nobody's
// hands, when the session came up another way (B8).
func (d *decider) spareSpawn() {
	if spawn := d.rec().Item.Spawn.Delivery; spawn.InHand() && !spawn.Started() && !d.f.Held[spawn.DeliveryID] {
		d.takenUp(spawn)
		d.do(record.Release{DeliveryID: spawn.DeliveryID})
	}
}

// quieten pauses the session, or sets it going again, and tells why.
func (d *decider) quieten(status record.Status, reason string) {
	name, fields := "session.resumed", map[string]any{"reason": reason}
	if status == record.Paused {
		name = "session.paused"
	}
	if s := d.session(); s != nil {
		fields["harness"], fields["harness_session_id"], fields["tmux_target"] = s.Harness, s.HarnessSessionID, s.TmuxTarget
	}
	if d.routed() {
		fields["work_item"] = d.f.Target.Ref.String()
	}
	d.doOwner(record.SetStatus{Status: status, At: d.f.Now})
	d.event(name, fields)
}

// closing says that the end of the item's session has begun: a close is queued
// or running, or tmux has not answered one yet. What lives now need not live
// when it is through.
func (d *decider) closing() bool { return d.f.Held[string(DoClose)] || d.cutClose() }

// cutClose says that a close is in nobody's queue and may still reach the session: the
// process was killed in it, or tmux has not answered it. Until its deadline nothing of
// the session moves (D3).
func (d *decider) cutClose() bool {
	s := d.owner().Session
	return !d.f.Held[string(DoClose)] && s != nil && !d.f.Now.After(s.Until)
}

// tidy removes the row of a session that a cleanup has closed, before anything
// that is said later can go on with it (X4). That of a pull request's target is seen
// to at its own turn.
func (d *decider) tidy() {
	if !d.routed() {
		d.sweep()
	}
}

// sweep removes the row of whose session it is, behind a cleanup.
func (d *decider) sweep() {
	rec := d.owner()
	if rec.Item.Sealed() || !rec.Item.Control.CleansUp() {
		return // the command of an item that was forgotten is history (P8)
	}
	closed := rec.Session.Here(d.f.Host) && !rec.Session.Open() && !d.ownerless() && d.f.Pane.State != record.PaneUnknown
	if closed && !d.cutClose() {
		d.doOwner(record.DropSession{})
	}
}

// close ends a session that is not meant to run: its row is open, or its pane
// lives without one and gets one, so that a kill before the close leaves nothing
// behind that nobody knows of. A deadline that has not passed holds it back (D3).
func (d *decider) close(reason string) {
	if d.f.Pane.State == record.PaneUnknown || d.undecided() {
		return
	}
	if d.ownerless() {
		d.doOwner(record.PutSession{Session: d.found()})
	}
	if d.session().Open() {
		d.once(DoClose, reason)
	}
}

// found is the row of a session that lives and has none, or one that is closed.
func (d *decider) found() record.Session {
	s, p := record.Session{HarnessSessionID: d.f.Pane.HarnessSessionID, CreatedAt: d.f.Now}, d.f.Pane
	if was := d.session(); was != nil {
		s = *was
	}
	s.Status, s.EndedAt, s.LastEventAt = record.Active, time.Time{}, d.f.Now
	s.Host, s.Pane, s.Identity = d.f.Host, p.ID, p.Identity
	return s
}

// once queues an effect that an item has one of at a time.
func (d *decider) once(kind EffectKind, reason string) {
	if !d.f.Held[string(kind)] {
		d.effect(Effect{Kind: kind, ID: string(kind), Reason: reason})
	}
}

// undecided says that something which is in nobody's queue may still reach the
// session: an attempt, or a close (B2, D3).
func (d *decider) undecided() bool {
	if d.cutClose() {
		return true
	}
	rec := d.owner()
	rows := rec.Comments.Pending()
	if d.routed() {
		rows = append(rows, d.rec().Comments.Pending()...)
	}
	for _, row := range rows {
		if d.underway(row.Delivery) {
			return true
		}
	}
	return d.underway(rec.Item.Spawn.Delivery)
}

func (d *decider) underway(row record.Delivery) bool {
	return row.Started() && !d.f.Held[row.DeliveryID] && record.Judge(row, d.f.Pane, d.f.Now) == record.Undecided
}

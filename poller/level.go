package poller

import (
	"theloop/policy"
	"theloop/record"
)

// level compares what is recorded with what is: a stop whose session still runs
// is closed, a pause holds, a session nobody's row names is taken over (X7).
func (d *decider) level() {
	rec := d.rec()
	switch halted(rec) {
	case record.SessionStopped:
		d.close("stopped")
		if rec.Item.Control.Command == string(policy.Cleanup) && !d.session().Open() && !d.ownerless() {
			d.do(record.DropSession{})
		}
		return
	case record.SessionPaused:
		if d.column() == active {
			d.do(record.SetStatus{Status: record.Paused, At: d.f.Now})
		}
	}
	switch {
	case d.ownerless() && d.started():
		d.stuck = true // what is pending waits for its session's row
		d.once(DoAdopt, "adopted")
	case d.ownerless():
		d.once(DoClose, "not started")
	case d.f.Pane.State == record.PaneLive && d.column() == active:
		d.do(record.Serve{})
	}
}

// close ends a session that is not meant to run: its row is open, or its pane
// lives without one. A deadline that has not passed holds it back (D3).
func (d *decider) close(reason string) {
	if d.f.Pane.State == record.PaneUnknown || d.undecided() {
		return
	}
	if d.session().Open() || d.ownerless() {
		d.once(DoClose, reason)
	}
}

// once queues an effect that an item has one of at a time.
func (d *decider) once(kind EffectKind, reason string) {
	if !d.f.Held[string(kind)] {
		d.effect(Effect{Kind: kind, ID: string(kind), Reason: reason})
	}
}

// undecided says that an attempt which may have reached tmux has no verdict yet
// and is in nobody's queue.
func (d *decider) undecided() bool {
	rec := d.rec()
	for _, row := range rec.Comments.Pending() {
		if row.Started() && !d.f.Held[row.DeliveryID] {
			return true
		}
	}
	return rec.Item.Spawn.Started() && !d.f.Held[rec.Item.Spawn.DeliveryID]
}

package poller

import (
	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// column is the state of an item's session as the table of commands has it
// (X4).
type column string

const (
	none   column = "none"
	active column = "active"
	paused column = "paused"
	closed column = "closed"
)

// conversation returns the item's session row, or nil when it counts as none:
// it is another machine's, or it was closed before the item was first seen
// again (P8: a reopened item begins afresh).
func conversation(rec record.Record, host string) *record.Session {
	if !rec.Session.Here(host) || rec.Bygone() {
		return nil
	}
	return rec.Session
}

func (d *decider) session() *record.Session { return conversation(d.owner(), d.f.Host) }

func (d *decider) column() column {
	s := d.session()
	switch {
	case s == nil:
		return none
	case s.Status == record.Shut:
		return closed
	case s.Status == record.Paused:
		return paused
	case d.f.Pane.State == record.PaneDead || d.f.Pane.State == record.PaneAbsent:
		return closed
	}
	return active // unknown counts as active
}

// ownerless says that a session of ours lives which no open row names: the
// process was killed between the spawn and its commit.
func (d *decider) ownerless() bool {
	return d.f.Pane.State == record.PaneLive && d.f.Pane.Adoptable && !d.session().Open()
}

// started says whether the item's session may run (Started in the words of the
// behaviours): its last command is an arming one whose author still counts or
// has its session already (A7), or, without a record, the poller may start it by
// itself (A4).
func (d *decider) started() bool {
	control := d.owner().Item.Control
	if control != nil {
		return control.Arming() && (d.column() == active || d.ownerless() || authority(control, d.f.Policy))
	}
	return d.session().Open() || d.startsAlone()
}

// authority says whether the one who gave a command still counts (A7); what was
// given on this machine is the operator's.
func authority(c *record.Control, p policy.Policy) bool {
	return c.Source == cli || p.Authorized(workitem.Author{Login: c.Actor, ID: c.ActorID})
}

// startsAlone says whether the poller may start an item without being told to
// (A4).
func startsAlone(item workitem.Item, p policy.Policy) bool {
	return !p.RequireStart() && p.Authorized(item.Author) && p.MaySpawn(item.Labelled)
}

// mayBegin says, on the ledger alone, whether a session may be brought up for an
// item: its recorded start still counts (A7), or its conversation goes on, or the
// poller starts it by itself (A4).
func mayBegin(rec record.Record, p policy.Policy) bool {
	if c := rec.Item.Control; c != nil {
		return c.Arming() && authority(c, p)
	}
	author := workitem.Author{Login: rec.Item.Author, ID: rec.Item.AuthorID}
	return rec.Session.Open() || !p.RequireStart() && p.Authorized(author)
}

// policyAllows says whether the spawn policy lets an item without a session
// have one. What the operator started here needs no label.
func (d *decider) policyAllows() bool {
	c := d.owner().Item.Control
	here := c.Arming() && c.Source == cli
	return d.f.Policy.MaySpawn(d.ownerItem().Labelled || here)
}

// fate says what becomes of words that are to be obeyed: empty when they are to
// be delivered, else the outcome they are settled with (X5).
func (d *decider) fate() string {
	if stopped := halted(d.owner()); stopped != "" {
		return stopped
	}
	switch {
	case d.column() == paused:
		return record.SessionPaused
	case !d.started():
		return record.AwaitingStart
	case d.column() == none && !d.policyAllows():
		return record.SpawnPolicy
	}
	return ""
}

// halted returns the outcome that a recorded stop, cleanup or pause settles
// everything with, or empty.
func halted(rec record.Record) string {
	if rec.Item.Control == nil {
		return ""
	}
	switch rec.Item.Control.Command {
	case "stop", "cleanup":
		return record.SessionStopped
	case "pause":
		return record.SessionPaused
	}
	return ""
}

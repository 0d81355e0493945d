package poller

import (
	"theloop/record"
	"theloop/workitem"
)

// routed reports whether the session is another item's (P3): rows, budget and
// notices are the pull request's, session, queue and commands its target's.
func (d *decider) routed() bool { return d.target != nil }

// owner is the record of whose session it is, as it was decided so far.
func (d *decider) owner() record.Record {
	if d.routed() {
		return d.target.Record()
	}
	return d.rec()
}

// doOwner changes the record of whose session it is.
func (d *decider) doOwner(c record.Change) {
	if !d.routed() {
		d.do(c)
	} else if d.err == nil {
		d.err = d.target.Do(c)
	}
}

// ownerItem is what the ledger has of the target as an item: it is labelled as
// long as its source lists it.
func (d *decider) ownerItem() workitem.Item {
	if !d.routed() {
		return d.item
	}
	i := d.owner().Item
	return workitem.Item{
		Ref: d.f.Target.Ref, Kind: i.Kind, URL: i.URL, Title: i.Title, Source: i.Source, State: workitem.Open,
		Author: workitem.Author{Login: i.Author, ID: i.AuthorID}, Labelled: i.OffListAt.IsZero(),
	}
}

// startsAlone says whether the poller may start the item whose session it is by
// itself. A pull request that belongs to another one never is.
func (d *decider) startsAlone() bool {
	if !d.routed() && linkedAway(d.rec(), d.item) {
		return false
	}
	return startsAlone(d.ownerItem(), d.f.Policy)
}

// link records where a pull request was routed to (P3).
func (d *decider) link() {
	if d.f.Link == nil {
		return
	}
	d.do(record.PutLink{Link: *d.f.Link})
	if d.f.Link.Source == linkByHand { // what it was owed for itself it is owed no more
		d.do(record.Serve{})
		d.do(record.Release{DeliveryID: d.rec().Item.Spawn.DeliveryID})
	}
	if d.routed() {
		d.event("session.pr_linked", map[string]any{"reason": "what is said on it goes into the session of " + d.f.Target.Ref.String()})
	}
}

// unlink ends the link of a pull request that has ended.
func (d *decider) unlink() {
	if at := d.rec().Link; at != nil && !at.Ended {
		ended := *at
		ended.Ended = true
		d.do(record.PutLink{Link: ended})
	}
}

// orders closes the target's session when a command on the pull request stopped
// it, or drops the row of one that is closed and was to be cleaned up. What else
// the record of a target asks for is seen to at its own turn.
func (d *decider) orders() {
	if d.commanded && halted(d.owner()) == record.SessionStopped {
		d.close("stopped")
		d.sweep()
	}
}

// aim tells an effect whose item and whose session it is for.
func (d *decider) aim(e Effect) Effect {
	e.Ref, e.Item = d.ref(), d.item
	switch {
	case !d.routed():
	case e.Kind == DoDeliver:
		e.Session = d.f.Target.Ref
	case e.Kind == DoClose, e.Kind == DoAdopt:
		e.Ref, e.Item = d.f.Target.Ref, d.ownerItem()
	}
	return e
}

package poller

import (
	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// Decide says what is done about one item: pure, without clock, network or
// randomness. comments is the item's whole thread. An error is a fault of this
// program (an illegal change), never of its input; nothing is done then.
func Decide(item workitem.Item, comments []workitem.Comment, rec record.Record, f Facts) (Decision, error) {
	d := newDecider(item, comments, rec, f)
	d.judge()
	d.reopen()
	d.observe()
	switch {
	case item.State == workitem.Closed:
		d.end()
	case d.rec().Item.Ended():
		d.awaitForget()
	case d.unseen(): // it is open and not listed: left alone (P8)
	default:
		d.link()
		d.tidy()
		d.see()
		d.level()
		d.send()
		d.owe()
		d.notices()
	}
	return d.done()
}

// decider is one decision in the making. Its draft always holds what was
// decided so far.
type decider struct {
	item   workitem.Item
	thread []workitem.Comment
	f      Facts
	draft  *record.Draft
	// target is the record of whose session it is; nil for the item's own.
	target *record.Draft
	// commanded says that a command was obeyed.
	commanded bool
	out       Decision
	// stuck says that nothing of the session may move until tmux answered or a
	// deadline passed (B2, D3).
	stuck bool
	err   error
}

func newDecider(item workitem.Item, comments []workitem.Comment, rec record.Record, f Facts) *decider {
	d := &decider{item: item, thread: comments, f: f, draft: record.NewDraft(rec)}
	if f.Target.Elsewhere() {
		d.target = record.NewDraft(f.Target.Record)
	}
	return d
}

func (d *decider) rec() record.Record { return d.draft.Record() }

func (d *decider) do(c record.Change) {
	if d.err == nil {
		d.err = d.draft.Do(c)
	}
}

func (d *decider) effect(e Effect) {
	d.out.Effects = append(d.out.Effects, d.aim(e))
}

// ref is the item's ref as it was first spelled: names made of it stay (D6).
func (d *decider) ref() workitem.Ref {
	if ref, err := workitem.ParseRef(d.rec().Item.Ref); err == nil {
		return ref
	}
	return d.item.Ref
}

// event tells of what was decided: about the item, unless fields say about which.
func (d *decider) event(name string, fields map[string]any) {
	if fields == nil {
		fields = map[string]any{}
	}
	if fields["work_item"] == nil {
		fields["work_item"] = d.ref().String()
	}
	d.out.Events = append(d.out.Events, Event{Name: name, Fields: fields})
}

func (d *decider) done() (Decision, error) {
	if d.err != nil {
		return Decision{}, d.err
	}
	thread := d.told()
	for i := range d.out.Effects {
		switch d.out.Effects[i].Kind {
		case DoDeliver, DoSpawn:
			d.out.Effects[i].Thread = thread
		}
	}
	waits := d.owed() || d.rec().Item.Known() && len(d.rec().Comments.Pending()) > 0
	if waits && d.f.Pane.State == record.PaneForeign {
		d.out.Occupied, d.out.Remedy = d.f.Pane.Holder, d.f.Pane.Remedy
	}
	_, d.out.Changes = d.draft.Done()
	if d.routed() {
		_, d.out.OfTarget = d.target.Done()
	}
	return d.out, nil
}

// told returns what a first prompt may tell of the thread: the comments whose
// rows are resolved (D10). What agents wrote is not told.
func (d *decider) told() (thread []workitem.Comment) {
	if len(d.out.Effects) == 0 {
		return nil
	}
	return resolved(d.thread, d.rec())
}

// resolved returns the comments whose rows are, but for what agents wrote (D10).
func resolved(comments []workitem.Comment, rec record.Record) (thread []workitem.Comment) {
	for _, c := range comments {
		row, ok := rec.Comments.Get(c.ID)
		if ok && row.State != record.Pending && !policy.SelfAuthored(c.Body) {
			thread = append(thread, c)
		}
	}
	return thread
}

// observe keeps what the tracker says. UpdatedAt is remembered only when it is
// older than the listing's own clock: what comes in the same second must not be
// missed (P1).
func (d *decider) observe() {
	if d.rec().Item.Sealed() && d.item.State == workitem.Closed {
		return
	}
	o := record.Observe{Item: d.item, ReadAt: d.f.Now, Resync: d.f.Resync}
	if d.f.Listed.IsZero() || d.item.UpdatedAt.Before(d.f.Listed) {
		o.UpdatedAt = d.item.UpdatedAt
	}
	if d.f.Unlisted {
		o.OffListAt = d.rec().Item.OffListAt
		if o.OffListAt.IsZero() || d.f.Resync {
			o.OffListAt = d.f.Now
		}
	}
	d.do(o)
}

// judge holds what is in hand and in nobody's queue against the pane (B2, B8).
func (d *decider) judge() {
	switch d.f.Pane.State {
	case record.PaneUnknown, record.PaneForeign:
		d.stuck = true
	}
	d.stuck = d.stuck || d.cutClose()
	for _, row := range d.rec().Comments.Pending() {
		d.verdict(row.ID, row.Delivery)
	}
	if !d.routed() {
		d.verdict("", d.rec().Item.Spawn.Delivery)
	}
}

func (d *decider) verdict(comment string, row record.Delivery) {
	if !row.InHand() {
		return
	}
	if d.f.Held[row.DeliveryID] {
		return // in flight is not failed (B1)
	}
	proof := record.Judge(row, d.f.Pane, d.f.Now)
	switch proof {
	case record.NeverStarted:
		return // used again, not counted again (B1)
	case record.Undecided:
		d.stuck = true
		return
	case record.ProvedSent:
		d.do(record.Deliver{Comment: comment})
	case record.ProvedUnsent:
		d.do(record.Fail{Comment: comment})
	case record.Unproved:
		d.do(record.Fail{Comment: comment, MayRepeat: true})
	}
	d.recovered(row, proof)
}

// recovered tells what became of an attempt that an earlier process, or an
// unanswered call, left behind. That the pane shows it unsent is no proof that
// anything arrived, either.
func (d *decider) recovered(row record.Delivery, proof record.Proof) {
	if proof == record.ProvedUnsent {
		proof = record.Unproved
	}
	d.event("poll.recovered", map[string]any{"delivery_id": row.DeliveryID, "proof": string(proof)})
}

// takenUp tells of an attempt that is used again: another process had queued it
// and never started it (B8).
func (d *decider) takenUp(row record.Delivery) {
	if row.InHand() && row.Run != d.f.Run {
		d.recovered(row, record.NeverStarted)
	}
}

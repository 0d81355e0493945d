package poller

import (
	"context"
	"errors"
	"fmt"

	"theloop/record"
	"theloop/workitem"
)

// head does what needs no tracker, before one is asked: what is proved
// delivered is committed, what was stopped is closed, a session that no row
// names is taken over. Retries and what is given back fall at the item's own
// turn.
func (p *Poller) head(ctx context.Context, r *Report) error {
	open, err := p.unfinished(ctx, r)
	if err != nil {
		return fmt.Errorf("read what is unfinished: %w", err)
	}
	p.makeRoom(ctx)
	counted := map[string]bool{}
	for _, ref := range sorted(open) {
		if ctx.Err() != nil {
			return nil
		}
		err := p.guard(func() error { return p.recover(context.WithoutCancel(ctx), ref, counted, r) })
		if err != nil && !errors.Is(err, record.ErrChanged) {
			p.itemFailed(ref, err, r)
		}
	}
	return nil
}

// makeRoom counts the places that are left for sessions (D1). When tmux does
// not answer none is: nothing is spawned on an unknown (D4).
func (p *Poller) makeRoom(ctx context.Context) {
	live, err := p.Sessions.Live(ctx)
	p.room = p.Settings().MaxSessions - live
	if err != nil {
		p.room = 0
	}
	p.crowded = p.crowded && p.room <= 0
}

// recover deals with one item. counted holds the sessions on their way up whose
// place is taken already: several items may wait for one.
func (p *Poller) recover(ctx context.Context, ref workitem.Ref, counted map[string]bool, r *Report) error {
	rec, err := p.Ledger.Record(ctx, ref)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	facts, err := p.facts(ctx, visit{item: workitem.Item{Ref: ref, Kind: rec.Item.Kind}}, rec)
	if err != nil {
		return err
	}
	at := ref
	if facts.Target.Elsewhere() {
		at = facts.Target.Ref
	}
	if facts.Pane.State != record.PaneLive && len(facts.Held) > 0 && !counted[at.Key()] {
		counted[at.Key()] = true
		p.room-- // its session is on its way up
	}
	decision, err := Recover(ref, rec, facts)
	if err != nil {
		return fmt.Errorf("recover: %w", err)
	}
	if err := p.commit(ctx, ref, rec, facts.Target, decision, r); err != nil {
		return err
	}
	p.act(decision, r)
	return nil
}

// Recover decides what needs no tracker: the rows in hand that the pane's ring
// proves delivered, the close of what was stopped, the quiet of what was paused,
// the adoption of a session that no row names. It is pure.
func Recover(ref workitem.Ref, rec record.Record, f Facts) (Decision, error) {
	d := newDecider(workitem.Item{Ref: ref, URL: rec.Item.URL, Title: rec.Item.Title}, nil, rec, f)
	if rec.Item.Ref == "" || rec.Item.Sealed() {
		return Decision{}, nil
	}
	for _, row := range rec.Comments.Pending() {
		d.proved(row.ID, row.Delivery)
	}
	if f.Target.Elsewhere() {
		return d.done() // what becomes of its session is its target's
	}
	d.proved("", rec.Item.Spawn.Delivery)
	switch {
	case rec.Item.Ended():
		if len(d.rec().Comments.Pending()) == 0 {
			d.close("ended")
		}
	case halted(d.rec()) == record.SessionStopped:
		d.close("stopped")
	case halted(d.rec()) == record.SessionPaused:
		if d.column() == active { // it came up while the pause was on its way
			d.quieten(record.Paused, "pause")
		}
	case d.ownerless() && d.rec().Item.Control.Arming():
		d.once(DoAdopt, "adopted")
	}
	return d.done()
}

// proved commits a delivery that the ring shows; every other verdict waits for
// the item's turn.
func (d *decider) proved(comment string, row record.Delivery) {
	if !row.InHand() || d.f.Held[row.DeliveryID] || record.Judge(row, d.f.Pane, d.f.Now) != record.ProvedSent {
		return
	}
	d.do(record.Deliver{Comment: comment})
	d.recovered(row, record.ProvedSent)
}

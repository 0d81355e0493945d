package store

import (
	"context"
	"errors"

	"theloop/record"
	"theloop/workitem"
)

// Release gives back the attempts of deliveries that were accepted and never
// started: an atomic decrement of each, all in one transaction (B4). It returns
// the ones that came back, in their order. What is resolved, has started, is
// released already or is not known is left alone and is no error. An item whose
// rows do not decode is left out; its *RowError comes back beside what was
// released of the others.
func (l *Ledger) Release(ctx context.Context, held []record.Held) ([]record.Held, error) {
	if err := l.mayWrite(); err != nil {
		return nil, err
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	var rows []row
	var skipped error
	released := make(map[int]bool)
	for _, group := range groups(held) {
		changed, err := l.planRelease(ctx, group, released)
		var bad *RowError
		if errors.As(err, &bad) {
			skipped = errors.Join(skipped, err)
		} else if err != nil {
			return nil, err
		}
		rows = append(rows, changed...)
	}
	if err := l.write(ctx, rows); err != nil {
		return nil, err
	}
	var back []record.Held
	for i, h := range held {
		if released[i] {
			back = append(back, h)
		}
	}
	return back, skipped
}

// heldGroup is the deliveries of one item, by their place in the call.
type heldGroup struct {
	ref     workitem.Ref
	places  []int
	changes []record.Change
}

// groups sorts deliveries by item; those of no item are left out.
func groups(held []record.Held) []*heldGroup {
	var all []*heldGroup
	byKey := make(map[string]*heldGroup)
	for i, h := range held {
		ref, err := workitem.ParseRef(h.Ref)
		if err != nil {
			continue
		}
		g := byKey[ref.Key()]
		if g == nil {
			g = &heldGroup{ref: ref}
			byKey[ref.Key()] = g
			all = append(all, g)
		}
		comment, ok := record.DeliveryComment(h.DeliveryID)
		if !ok { // a spawn's
			comment = ""
		}
		g.places = append(g.places, i)
		g.changes = append(g.changes, record.Release{Comment: comment, DeliveryID: h.DeliveryID})
	}
	return all
}

// planRelease decides what releasing a group changes and notes in released
// which places come back.
func (l *Ledger) planRelease(ctx context.Context, g *heldGroup, released map[int]bool) ([]row, error) {
	key := g.ref.Key()
	before, err := l.records(ctx, key)
	if err != nil {
		return nil, err
	}
	applied, rows, err := Write{g.ref, before[0].Item.Rev, g.changes}.plan(key, before[0])
	if err != nil {
		return nil, err
	}
	for i, place := range g.places { // Apply keeps the order: take them off one by one
		if len(applied) > 0 && applied[0] == g.changes[i] {
			released[place], applied = true, applied[1:]
		}
	}
	return rows, nil
}

package poller

import (
	"context"
	"errors"
	"fmt"

	"theloop/record"
	"theloop/workitem"
)

// unlisted deals with the items of a source that its complete listing does not
// hold: each is asked for by number, since absence alone proves nothing (P8). It
// returns an error when the source asks to be left alone.
func (p *Poller) unlisted(ctx context.Context, v visit, listed map[string]bool, r *Report) error {
	refs, err := p.Ledger.Known(ctx, v.src.ID())
	if err != nil && !p.rowsFailed(err, r) {
		r.fail(fmt.Errorf("read the known items of %s: %w", v.src.ID(), err))
		return nil
	}
	for _, ref := range refs {
		if ctx.Err() != nil {
			return nil
		}
		if listed[ref.Key()] {
			continue
		}
		err := p.guard(func() error { return p.ask(ctx, v, ref, r) })
		if limited(err) {
			return err
		}
		if err != nil && !cut(ctx, err) {
			p.itemFailed(ref, err, r)
		}
	}
	return nil
}

// follows says that a pull request belongs to an item with a session, or with
// something else unfinished: its words are to go there, whatever its label (P1).
func follows(rec record.Record, open unfinished) bool {
	if rec.Link == nil || rec.Link.Ended {
		return false
	}
	to, err := workitem.ParseRef(rec.Link.Target)
	_, busy := open[to.Key()]
	return err == nil && busy
}

// leftAlone says of an unlisted item that it is not asked for in this cycle.
func (p *Poller) leftAlone(v visit, ref workitem.Ref, rec record.Record) bool {
	_, busy := v.open[ref.Key()]
	busy = busy || follows(rec, v.open)
	return !rec.Item.OffListAt.IsZero() && !busy && p.Now().Sub(rec.Item.OffListAt) < p.Settings().FullResync
}

// ask reads one unlisted item by number and decides it like any other. Those
// that were found open before wait for the full resync, unless something of
// theirs is unfinished.
func (p *Poller) ask(ctx context.Context, v visit, ref workitem.Ref, r *Report) error {
	rec, err := p.Ledger.Record(ctx, ref)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	if p.leftAlone(v, ref, rec) {
		return nil
	}
	item, err := v.src.State(ctx, ref)
	switch {
	case errors.Is(err, workitem.ErrGone):
		v.gone = true
		v.item = workitem.Item{
			Ref: ref, Kind: rec.Item.Kind, URL: rec.Item.URL, Title: rec.Item.Title, Source: rec.Item.Source,
			Author:       workitem.Author{Login: rec.Item.Author, ID: rec.Item.AuthorID},
			CommentCount: rec.Item.CommentCount, State: workitem.Closed,
		}
		return p.settle(context.WithoutCancel(ctx), v, nil, r)
	case err != nil:
		return fmt.Errorf("ask for its state: %w", err)
	}
	v.item, v.item.Source = item, v.src.ID()
	return p.step(ctx, v, r)
}

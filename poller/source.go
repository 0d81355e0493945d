package poller

import (
	"context"
	"fmt"
	"time"

	"theloop/record"
)

// longestWait is how long a source may be left alone at its own wish. A time that
// is further off was noted by a clock that has been moved since.
const longestWait = 24 * time.Hour

// sources deals with each source at its turn and returns the rows of those that
// were asked. One that was told to wait is left alone, whoever wants a cycle, and
// keeps its row; the others go on (P7).
func (p *Poller) sources(ctx context.Context, r *Report) []record.SourceRow {
	last, err := p.Ledger.Sources(ctx)
	if err != nil && !cut(ctx, err) { // a row that cannot be read is made anew
		r.fail(fmt.Errorf("read when the sources were listed: %w", err))
	}
	var rows []record.SourceRow
	for _, src := range p.Sources {
		if ctx.Err() != nil {
			break
		}
		before := last[src.ID()]
		if p.resting(before) {
			r.waits(before.Until)
			r.Waiting = append(r.Waiting, before.Error)
			continue
		}
		row := record.SourceRow{ID: src.ID(), ListedAt: p.Now(), CompleteAt: before.CompleteAt}
		var failed error
		if err := p.guard(func() error { failed = p.source(ctx, src, &row, r); return nil }); err != nil {
			r.fail(fmt.Errorf("deal with %s: %w", src.ID(), err))
			continue
		}
		if failed != nil && (ctx.Err() == nil || limited(failed)) {
			p.sourceFailed(&row, failed, r)
		}
		rows = append(rows, row)
	}
	return rows
}

// resting reports whether a source was told to wait and its time has not come.
func (p *Poller) resting(row record.SourceRow) bool {
	wait := row.Until.Sub(p.Now())
	return wait > 0 && wait <= longestWait
}

// source deals with one source: what it lists, in its order, then what the
// ledger knows of it that it does not list. An error ends it early: it could not
// be listed, or asks to be left alone, when every further request would be
// refused as well (P7).
func (p *Poller) source(ctx context.Context, src Source, row *record.SourceRow, r *Report) error {
	listing, err := src.List(ctx)
	if err != nil {
		return err
	}
	open, err := p.unfinished(ctx, r)
	if err != nil {
		if !cut(ctx, err) {
			r.fail(fmt.Errorf("read what is unfinished: %w", err))
		}
		return nil
	}
	listed := make(map[string]bool, len(listing.Items))
	for _, bad := range listing.Bad {
		listed[bad.Ref.Key()] = true
		p.itemFailed(bad.Ref, bad.Err, r)
	}
	for _, item := range listing.Items {
		listed[item.Ref.Key()] = true
		if ctx.Err() != nil {
			return nil
		}
		err := p.item(ctx, visit{src: src, item: item, listed: listing.Date, open: open}, r)
		if limited(err) {
			return err
		}
	}
	if err := p.pulls(ctx, src, listing.Date, open, listed, r); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return nil // an interrupted listing closes nothing (C2)
	}
	row.CompleteAt = p.Now()
	return p.unlisted(ctx, visit{src: src, listed: listing.Date, open: open, unlisted: true}, listed, r)
}

package poller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// links asks what a pull request points at, when its target is still to be
// chosen; nothing else is asked for it.
func (p *Poller) links(ctx context.Context, v visit, rec record.Record) (*workitem.Links, error) {
	linker, ok := v.src.(Linker)
	switch {
	case v.links != nil, !ok, v.unlisted, v.item.Kind != workitem.PullRequest, v.item.State != workitem.Open:
		return v.links, nil
	case linked(rec, v.item.State), independent(rec, p.Host):
		return nil, nil
	}
	links, err := linker.Links(ctx, v.item)
	if err != nil {
		return nil, fmt.Errorf("read what it closes: %w", err)
	}
	p.tellFork(v.item, links)
	return &links, nil
}

// tellFork says once in a run that a pull request from another repository points
// at something, and that its author is not obeyed (P3).
func (p *Poller) tellFork(pull workitem.Item, links workitem.Links) {
	ignored := links.ForeignHead && len(links.Refs()) > 0 && !p.Settings().Policy.Authorized(pull.Author)
	if !ignored || p.forks[pull.Ref.Key()] {
		return
	}
	p.forks[pull.Ref.Key()] = true
	p.Emit("routing.linkage_dropped", map[string]any{
		"work_item": pull.Ref.String(), "actor": pull.Author.Login,
		"reason": "it comes from another repository, and its author is not in routing.authorizedUsers: what it closes is not looked at",
	})
}

// route decides whose session takes what is said on an item, on the ledger as it
// is now.
func (p *Poller) route(ctx context.Context, v visit, rec record.Record) (Target, *record.Link, error) {
	if v.item.Kind == workitem.Issue || rec.Link == nil && v.item.Kind != workitem.PullRequest {
		return Target{}, nil, nil
	}
	r := Routing{
		Item: v.item, Record: rec, Items: map[string]record.Record{},
		Policy: p.Settings().Policy, Host: p.Host, Now: p.Now(),
	}
	var refs []workitem.Ref
	if v.links != nil {
		r.Links = *v.links
		for _, ref := range r.Links.Refs() {
			if p.watches(ref) {
				refs = append(refs, ref)
			}
		}
	}
	if rec.Link != nil {
		if ref, err := workitem.ParseRef(rec.Link.Target); err == nil {
			refs = append(refs, ref)
		}
	}
	for _, ref := range refs {
		of, err := p.Ledger.Record(ctx, ref)
		if err != nil {
			return Target{}, nil, fmt.Errorf("read the ledger of %s: %w", ref, err)
		}
		r.Items[ref.Key()] = of
	}
	to, link := Route(r)
	return to, link, nil
}

// watches reports whether an item is of a configured source.
func (p *Poller) watches(ref workitem.Ref) bool {
	return slices.ContainsFunc(p.Sources, func(src Source) bool { return holds(src.ID(), ref) })
}

// pulls deals with what closes an item with a session and is not listed. An error
// is the source's: without them its listing is not complete.
func (p *Poller) pulls(ctx context.Context, src Source, date time.Time, open unfinished, listed map[string]bool, r *Report) error {
	visits, err := p.unlabelled(ctx, src, date, open, listed)
	if err != nil && ctx.Err() == nil {
		return err
	}
	for _, v := range visits {
		if ctx.Err() != nil {
			return nil
		}
		if err := p.item(ctx, v, r); limited(err) {
			return err
		}
	}
	return nil
}

// unlabelled returns the open pull requests of a source that close an item with a
// session and are not listed, and counts them as listed (P1). One that nobody
// knows and that belongs to no item is nobody's business: without a label, its
// words alone bring it here.
func (p *Poller) unlabelled(ctx context.Context, src Source, date time.Time, open unfinished, listed map[string]bool) ([]visit, error) {
	found, err := p.closing(ctx, src, open)
	if err != nil {
		return nil, err
	}
	var visits []visit
	for _, pull := range found {
		if listed[pull.Item.Ref.Key()] {
			continue
		}
		listed[pull.Item.Ref.Key()] = true
		v := visit{src: src, item: pull.Item, listed: date, open: open, links: &pull.Links}
		rec, err := p.Ledger.Record(ctx, v.item.Ref)
		if err == nil && !rec.Item.Known() {
			if to, _, err := p.route(ctx, v, rec); err == nil && !to.Elsewhere() {
				continue
			}
		}
		visits = append(visits, v) // what cannot be read is told of at its turn
	}
	return visits, nil
}

// closing asks which pull requests of a source close an item that has a session
// now.
func (p *Poller) closing(ctx context.Context, src Source, open unfinished) ([]workitem.Linked, error) {
	closer, ok := src.(Closer)
	if !ok {
		return nil, nil
	}
	var refs []workitem.Ref
	for _, ref := range sorted(open) {
		rec, err := p.Ledger.Record(ctx, ref)
		if err == nil && conversation(rec, p.Host).Open() && !rec.Item.Ended() {
			refs = append(refs, ref) // a row that does not decode is told of at its own turn
		}
	}
	if len(refs) == 0 {
		return nil, nil
	}
	found, err := closer.Closing(ctx, refs)
	if err != nil {
		return nil, fmt.Errorf("find the pull requests that close an item with a session: %w", err)
	}
	return found, nil
}

package poller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// Cycle looks at every source once. ctx is the stop request: it cuts reading at
// once, an item that is being decided finishes, nothing below it starts (C1). A
// panic while an item is dealt with is an error of the cycle, not its end (C5).
func (p *Poller) Cycle(ctx context.Context) Report {
	r, asked := &Report{At: p.Now()}, p.Requests()
	rows := p.cycle(ctx, r)
	r.Requests = p.Requests() - asked
	r.Interrupted = ctx.Err() != nil
	r.Duration = p.Now().Sub(r.At)
	if err := p.Ledger.EndCycle(context.WithoutCancel(ctx), r.row(), rows); err != nil {
		r.fail(fmt.Errorf("record the cycle: %w", err))
	}
	p.Emit("poll.cycle", r.fields())
	return *r
}

func (p *Poller) cycle(ctx context.Context, r *Report) []record.SourceRow {
	if err := p.guard(func() error { return p.head(ctx, r) }); err != nil {
		if !cut(ctx, err) { // a stop is no error (C3)
			r.fail(err)
		}
		return nil
	}
	return p.sources(ctx, r)
}

// visit is one item at its turn in a cycle.
type visit struct {
	src  Source
	item workitem.Item
	// listed is the tracker's clock at the listing (P1).
	listed time.Time
	open   unfinished
	// unlisted says that the source's listing does not hold the item.
	unlisted bool
	// gone says that the item is proved to exist no more.
	gone bool
	// links is what a pull request points at, when that was asked.
	links *workitem.Links
}

// item deals with one item: read, decide, commit, act.
func (p *Poller) item(ctx context.Context, v visit, r *Report) error {
	err := p.guard(func() error { return p.step(ctx, v, r) })
	if err != nil && !limited(err) && !cut(ctx, err) {
		p.itemFailed(v.item.Ref, err, r)
	}
	return err
}

// cut says that the stop request ended what was going on: the item counts as
// not reached (C1).
func cut(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// limited says that a tracker asks to be left alone.
func limited(err error) bool {
	var limit *workitem.RateLimitError
	return errors.As(err, &limit)
}

// guard turns a panic into an error, so that one item cannot end the loop (C5).
func (p *Poller) guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("internal fault: %v\n%s", v, debug.Stack())
		}
	}()
	return f()
}

// maxConflicts bounds how often a decision is made again because the record
// changed under it; each round something else made progress.
const maxConflicts = 8

// breath is how long a command of the operator waits before it is decided again;
// each further time twice as long. Unlike a cycle's decision, nobody makes it again.
const breath = 5 * time.Millisecond

// repeat reads, decides and commits until the record did not change meanwhile (F7),
// and leaves whoever changes it the time to rest in between.
func repeat[T any](ctx context.Context, rest time.Duration, what string, once func() (T, error)) (none T, err error) {
	for try := range maxConflicts {
		if try > 0 && rest > 0 {
			resting, end := context.WithTimeout(ctx, rest<<try)
			<-resting.Done()
			end()
			if ctx.Err() != nil {
				return none, fmt.Errorf("%s: %w", what, ctx.Err())
			}
		}
		done, err := once()
		if !errors.Is(err, record.ErrChanged) {
			return done, err
		}
	}
	return none, fmt.Errorf("%s: %w %d times in a row", what, record.ErrChanged, maxConflicts)
}

func (p *Poller) step(ctx context.Context, v visit, r *Report) error {
	rec, err := p.Ledger.Record(ctx, v.item.Ref)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	if p.quiet(v, rec) {
		r.ItemsSeen++
		return nil
	}
	comments, err := p.comments(ctx, v)
	if err == nil {
		v.links, err = p.links(ctx, v, rec)
	}
	if err == nil {
		err = ctx.Err() // it was still being read when the stop came (C1)
	}
	if cut(ctx, err) {
		return err
	}
	r.ItemsSeen++
	if err != nil {
		return err
	}
	return p.settle(context.WithoutCancel(ctx), v, comments, r)
}

func (p *Poller) comments(ctx context.Context, v visit) ([]workitem.Comment, error) {
	comments, err := v.src.Comments(ctx, v.item)
	if err != nil {
		return nil, fmt.Errorf("read the comments: %w", err)
	}
	return comments, nil
}

// settle decides, commits and acts, again when the record changed meanwhile
// (F7). No stop ends it (C1).
func (p *Poller) settle(ctx context.Context, v visit, comments []workitem.Comment, r *Report) error {
	_, err := repeat(ctx, 0, "decide", func() (struct{}, error) { return struct{}{}, p.settleOnce(ctx, v, comments, r) })
	return err
}

// settleOnce decides on what is true now. The record is read first, then what is
// in flight, then tmux (B9).
func (p *Poller) settleOnce(ctx context.Context, v visit, comments []workitem.Comment, r *Report) error {
	rec, err := p.Ledger.Record(ctx, v.item.Ref)
	if err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	facts, err := p.facts(ctx, v, rec)
	if err != nil {
		return err
	}
	decision, err := Decide(v.item, comments, rec, facts)
	if err != nil {
		return fmt.Errorf("decide: %w", err)
	}
	p.Failpoint("decided")
	if err := p.commit(ctx, v.item.Ref, rec, facts.Target, decision, r); err != nil {
		return err
	}
	p.Failpoint("committed")
	p.tellOccupied(v.item.Ref, decision)
	p.act(decision, r)
	return nil
}

// commit writes the changes of a decision. When not all of them were applied the
// decision is not acted on and made again; one on a pull request rests on the
// record of its target as well (F7).
func (p *Poller) commit(ctx context.Context, ref workitem.Ref, rec record.Record, to Target, d Decision, r *Report) error {
	if len(d.Changes)+len(d.OfTarget) == 0 {
		return nil
	}
	var applied, ofTarget []record.Change
	var err error
	if to.Elsewhere() {
		applied, ofTarget, err = p.Ledger.CommitBoth(ctx, ref, rec.Item.Rev, d.Changes, to.Ref, to.Record.Item.Rev, d.OfTarget)
	} else {
		applied, err = p.Ledger.Commit(ctx, ref, rec.Item.Rev, d.Changes)
	}
	if err == nil && (len(applied) < len(d.Changes) || len(ofTarget) < len(d.OfTarget)) {
		err = record.ErrChanged
	}
	if err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	r.Commits++
	return nil
}

// facts reads whose session it is, what is in flight and then tmux.
func (p *Poller) facts(ctx context.Context, v visit, rec record.Record) (Facts, error) {
	to, link, err := p.route(ctx, v, rec)
	if err != nil {
		return Facts{}, err
	}
	return p.factsOf(ctx, v, rec, to, link), nil
}

// factsOf reads what is in flight for a session and then tmux. Now is from before
// the look: a verdict needs a look that was taken after the deadline had passed
// (B2).
func (p *Poller) factsOf(ctx context.Context, v visit, rec record.Record, to Target, link *record.Link) Facts {
	at, owner := v.item.Ref, rec
	if to.Elsewhere() {
		at, owner = to.Ref, to.Record
	}
	s := p.Settings()
	f := Facts{
		Target: to, Link: link,
		Now: p.Now(), Run: p.Run, Version: p.Version, Policy: s.Policy, TooLong: s.TooLong, Host: p.Host,
		Room: p.room, Listed: v.listed, Unlisted: v.unlisted, Resync: p.resyncDue(rec),
		Held: map[string]bool{}, Noticed: p.noticed[v.item.Ref.Key()], Gone: v.gone,
	}
	for _, id := range p.Queue.Held(at) {
		f.Held[id] = true
	}
	f.Pane = record.Pane{State: record.PaneNone}
	if asksTmux(owner) || len(rec.Comments.Pending()) > 0 {
		f.Pane = p.Sessions.Look(ctx, at, owner)
	}
	return f
}

// asksTmux says whether there can be a session to look at. An item without a
// row, a command or an attempt has none of ours.
func asksTmux(rec record.Record) bool {
	if rec.Session != nil || rec.Item.Spawn.N > 0 || rec.Item.Control != nil {
		return true
	}
	return len(rec.Comments.Pending()) > 0 || underWay(rec)
}

// act puts the effects of a committed decision into their queues and tells of
// it.
func (p *Poller) act(d Decision, r *Report) {
	for _, e := range d.Events {
		p.Emit(e.Name, e.Fields)
		r.count(e)
	}
	for _, e := range d.Effects {
		if p.Queue.Put(e) {
			p.counted(e, r)
		}
	}
	if d.Waits && !p.crowded {
		p.crowded = true // said once until there is room again (D1)
		p.Emit("dispatch.dropped", map[string]any{"reason": "max-sessions"})
	}
}

// tellOccupied says once that something which is not ours holds the name of an
// item's session (D5).
func (p *Poller) tellOccupied(ref workitem.Ref, d Decision) {
	if d.Occupied != "" && !p.occupied[ref.Key()] {
		why := d.Occupied + " has the name of this item's session and is not ours: rename it, end it, or take it over with 'the-loop sessions adopt " + ref.String() + "'"
		if d.Remedy != "" {
			why = d.Occupied + ": " + d.Remedy
		}
		p.Emit("dispatch.dropped", map[string]any{
			"work_item": ref.String(), "reason": "session-occupied", "error": why + "; what was said waits meanwhile",
		})
	}
	p.occupied[ref.Key()] = d.Occupied != ""
}

func (p *Poller) counted(e Effect, r *Report) {
	if e.NewSession {
		p.room--
	}
	switch e.Kind {
	case DoSpawn:
		r.Spawns++
	case DoDeliver:
		r.CommentsForwarded++
	case DoNotice:
		p.triedNotice(e)
	}
}

package poller

import (
	"context"
	"errors"
	"fmt"

	"theloop/record"
	"theloop/workitem"
)

// Preview is what the next cycle would do.
type Preview struct {
	// Items are those that something would be done about, in listing order.
	Items []Prospect
	// Quiet counts the items that would cost neither a request nor a transaction.
	Quiet int
	// Commits is the transactions it would take, the cycle's own included.
	Commits int
	// Errors holds one line for each source or item that could not be looked at.
	Errors []string
}

// Prospect is what would be done about one item.
type Prospect struct {
	Ref   workitem.Ref
	Title string
	Steps []Step
}

// StepKind says what a step of a Prospect is.
type StepKind string

// The steps that a cycle may take on an item.
const (
	StepSpawn   StepKind = "spawn"
	StepDeliver StepKind = "deliver"
	StepClose   StepKind = "close"
	StepAdopt   StepKind = "adopt"
	StepCommand StepKind = "command"
	StepSettle  StepKind = "settle"
	StepGiveUp  StepKind = "give-up"
	StepWait    StepKind = "wait"
	StepNote    StepKind = "note"
)

// Step is one thing that would be done, and why.
type Step struct {
	Kind    StepKind
	Comment string
	Actor   string
	// Reason is an outcome, a command or a word of the record; for people it is
	// put into a sentence.
	Reason string
	// Attempt is which attempt a delivery or a spawn would be.
	Attempt int
}

// Foresee looks at every source once and decides, as a cycle would, and does
// none of it: nothing is committed, queued, sent or told. It costs the requests
// of a cycle. It may run beside a Poller on the same parts.
func Foresee(ctx context.Context, o Options) Preview {
	o.Emit = func(string, map[string]any) {}
	o.Failpoint = nil
	p := New(o)
	v := &Preview{Commits: 1}
	p.makeRoom(ctx)
	r := &Report{}
	open, err := p.unfinished(ctx, r)
	v.Errors = append(v.Errors, r.Errors...)
	if err != nil {
		v.fail(fmt.Errorf("read what is unfinished: %w", err))
		return *v
	}
	last, err := p.Ledger.Sources(ctx)
	if err != nil {
		v.fail(fmt.Errorf("read when the sources were listed: %w", err))
	}
	for _, src := range p.Sources {
		if ctx.Err() != nil {
			v.fail(ctx.Err())
			break
		}
		if row := last[src.ID()]; p.resting(row) {
			v.Errors = append(v.Errors, row.Error)
			continue
		}
		p.foreseeSource(ctx, src, open, v)
	}
	return *v
}

func (v *Preview) fail(err error) { v.Errors = append(v.Errors, err.Error()) }

func (p *Poller) foreseeSource(ctx context.Context, src Source, open unfinished, v *Preview) {
	listing, err := src.List(ctx)
	if err != nil {
		v.fail(fmt.Errorf("list %s: %w", src.ID(), err))
		return
	}
	listed := make(map[string]bool, len(listing.Items))
	for _, bad := range listing.Bad {
		listed[bad.Ref.Key()] = true
		v.fail(fmt.Errorf("%s: %w", bad.Ref, bad.Err))
	}
	for _, item := range listing.Items {
		listed[item.Ref.Key()] = true
		p.foresee(ctx, visit{src: src, item: item, listed: listing.Date, open: open}, v)
	}
	pulls, err := p.unlabelled(ctx, src, listing.Date, open, listed)
	if err != nil {
		v.fail(fmt.Errorf("list %s: %w", src.ID(), err))
		return
	}
	for _, at := range pulls {
		p.foresee(ctx, at, v)
	}
	known, err := p.Ledger.Known(ctx, src.ID())
	if err != nil && !p.rowsUnread(err, v) {
		v.fail(fmt.Errorf("read the known items of %s: %w", src.ID(), err))
		return
	}
	for _, ref := range known {
		if !listed[ref.Key()] {
			p.foreseeUnlisted(ctx, visit{src: src, listed: listing.Date, open: open, unlisted: true}, ref, v)
		}
	}
}

func (p *Poller) foreseeUnlisted(ctx context.Context, at visit, ref workitem.Ref, v *Preview) {
	rec, err := p.Ledger.Record(ctx, ref)
	if err == nil && p.leftAlone(at, ref, rec) {
		v.Quiet++
		return
	}
	item, err := at.src.State(ctx, ref) // a record that cannot be read is told of at its turn
	if errors.Is(err, workitem.ErrGone) {
		item, err = workitem.Item{Ref: ref, State: workitem.Closed}, nil
	}
	if err != nil {
		v.fail(fmt.Errorf("%s: ask for its state: %w", ref, err))
		return
	}
	at.item, at.item.Source = item, at.src.ID()
	p.foresee(ctx, at, v)
}

func (p *Poller) foresee(ctx context.Context, at visit, v *Preview) {
	err := p.guard(func() error {
		rec, err := p.Ledger.Record(ctx, at.item.Ref)
		if err != nil {
			return fmt.Errorf("read the ledger: %w", err)
		}
		if p.quiet(at, rec) {
			v.Quiet++
			return nil
		}
		comments, err := p.comments(ctx, at)
		if err != nil {
			return err
		}
		if at.links, err = p.links(ctx, at, rec); err != nil {
			return err
		}
		facts, err := p.facts(ctx, at, rec)
		if err != nil {
			return err
		}
		decision, err := Decide(at.item, comments, rec, facts)
		if err != nil {
			return fmt.Errorf("decide: %w", err)
		}
		p.foreseen(at, rec, decision, v)
		return nil
	})
	if err != nil && !p.rowsUnread(err, v) {
		v.fail(fmt.Errorf("%s: %w", at.item.Ref, err))
	}
}

// rowsUnread is rowsFailed for a preview.
func (p *Poller) rowsUnread(err error, v *Preview) bool {
	r := Report{Errors: v.Errors}
	alone := p.rowsFailed(err, &r)
	v.Errors = r.Errors
	return alone
}

// foreseen notes a decision, and what it leaves of the room for sessions.
func (p *Poller) foreseen(at visit, rec record.Record, d Decision, v *Preview) {
	if len(d.Changes)+len(d.OfTarget) > 0 {
		v.Commits++
	}
	for _, e := range d.Effects {
		if e.NewSession {
			p.room--
		}
	}
	steps := stepsOf(rec, d)
	if len(steps) == 0 {
		v.Quiet++
		return
	}
	v.Items = append(v.Items, Prospect{Ref: at.item.Ref, Title: at.item.Title, Steps: steps})
}

// stepsOf tells a decision as steps: what is started and sent first, then what
// is settled.
func stepsOf(rec record.Record, d Decision) []Step {
	after, _, err := record.Apply(rec, d.Changes)
	if err != nil {
		after = rec // cannot be: Decide applied them
	}
	var steps []Step
	for _, e := range d.Effects {
		steps = append(steps, stepOf(e, after))
	}
	if d.Waits {
		steps = append(steps, Step{Kind: StepWait, Reason: "max-sessions"})
	}
	if d.Occupied != "" {
		steps = append(steps, Step{Kind: StepWait, Reason: "session-occupied", Actor: d.Occupied})
	}
	for _, e := range d.Events {
		if s, ok := told(e); ok {
			steps = append(steps, s)
		}
	}
	return steps
}

func stepOf(e Effect, after record.Record) Step {
	switch e.Kind {
	case DoDeliver:
		row, _ := after.Comments.Get(e.Comment.ID)
		return Step{Kind: StepDeliver, Comment: e.Comment.ID, Actor: row.Author, Attempt: row.Attempts}
	case DoSpawn:
		s := Step{Kind: StepSpawn, Attempt: after.Item.Spawn.Attempts}
		if c := after.Item.Control; c != nil {
			s.Reason, s.Actor = c.Command, c.Actor
		}
		return s
	case DoClose:
		return Step{Kind: StepClose, Reason: e.Reason}
	}
	return Step{Kind: StepKind(e.Kind), Reason: e.Reason}
}

// told turns an event of a decision into a step, where it says more than the
// effects do.
func told(e Event) (Step, bool) {
	text := func(key string) string { s, _ := e.Fields[key].(string); return s }
	s := Step{Comment: text("comment_id"), Actor: text("actor")}
	switch e.Name {
	case "control.command":
		s.Kind, s.Reason = StepCommand, text("command")
	case "control.rejected", "poll.comment_dropped":
		s.Kind, s.Reason = StepSettle, text("reason")
	case "control.ambiguous":
		s.Kind, s.Reason = StepSettle, record.ControlAmbiguous
	case "poll.comment_settled":
		s.Kind, s.Reason = StepSettle, text("outcome")
	case "poll.comment_failed", "poll.spawn_failed":
		s.Kind = StepGiveUp
		s.Attempt, _ = e.Fields["attempts"].(int)
	case "poll.first_seen":
		s.Kind, s.Reason = StepNote, "first-seen"
	case "poll.closure_detected":
		s.Kind, s.Reason = StepNote, "ended"
	case "poll.unauthorized":
		s.Kind, s.Reason = StepNote, text("reason")
	default:
		return s, false
	}
	return s, true
}

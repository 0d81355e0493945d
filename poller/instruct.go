package poller

import (
	"context"
	"errors"
	"fmt"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// cli is the source of a command that the operator gives on this machine.
const cli = "cli"

// Instruct decides on a command that the operator gives on this machine, as a
// comment would (X4); only that a start needs no label. comments is the whole
// thread; known says that it could be read: without it nothing is started or
// sent, which the next cycle does. refused is the reason when the table refuses
// the command; then nothing is done. It is pure.
func Instruct(word policy.Command, item workitem.Item, comments []workitem.Comment, known bool, rec record.Record, f Facts) (_ Decision, refused string, err error) {
	d := newDecider(item, comments, rec, f)
	d.judge()
	if known {
		d.reopen()
		if d.rec().Item.Ended() {
			return Decision{}, "ended", nil // its old session is not proved gone yet
		}
		d.observe()
		d.link()
		d.tidy()
		d.see()
	}
	_, refused = d.order(record.Control{Command: string(word), Source: cli, RequestedAt: f.Now})
	if refused != "" {
		return Decision{}, refused, nil
	}
	if !word.Arming() {
		d.dropPending()
	}
	d.level()
	if known {
		d.send()
		d.owe()
	}
	decision, err := d.done()
	return decision, "", err
}

// Obeyed is what became of a command that the operator gave.
type Obeyed struct {
	// Effect is what it did, a word of X4's table.
	Effect string
	// Later says that the tracker did not answer: what it brings up comes with the
	// next cycle.
	Later error
}

// RefusedError is returned for a command that the table refuses (X4), or for what
// the operator may not write into the ledger.
type RefusedError struct {
	Command, Reason string
	// Words say why; empty where the reason has words of its own.
	Words string
}

// Error says why, in words.
func (e *RefusedError) Error() string {
	words := e.Words
	if words == "" {
		words = refusals[e.Reason]
	}
	return fmt.Sprintf("the-loop %s is refused: %s", e.Command, words)
}

// refusals are the words for a reason.
var refusals = map[string]string{
	"nothing-to-resume": "there is no paused session to resume",
	"spawn-policy":      "routing.spawnOnUnmatched lets no session start",
	"ended":             "the work item has ended",
	"unknown":           "the work item was never seen, and its tracker does not tell of it",
}

// Obey carries out a command of the operator: read, decide, commit, act (X4).
// It may run beside a Poller on the same parts. The source of the item is one of
// o.Sources; without it, or when it does not answer, the command is recorded and
// what is owed for it is left to the next cycle.
func Obey(ctx context.Context, o Options, ref workitem.Ref, word policy.Command) (Obeyed, error) {
	p := New(o)
	p.makeRoom(ctx)
	return repeat(ctx, breath, ref.String(), func() (Obeyed, error) { return p.obey(ctx, ref, word) })
}

func (p *Poller) obey(ctx context.Context, ref workitem.Ref, word policy.Command) (Obeyed, error) {
	item, comments, unread := p.readOne(ctx, ref)
	rec, err := p.Ledger.Record(ctx, ref)
	if err != nil {
		return Obeyed{}, fmt.Errorf("read the ledger: %w", err)
	}
	switch {
	case unread != nil && rec.Item.Ref == "":
		return Obeyed{}, fmt.Errorf("%w: %w", &RefusedError{Command: string(word), Reason: "unknown"}, unread)
	case unread != nil:
		item = workitem.Item{Ref: ref, URL: rec.Item.URL, Kind: rec.Item.Kind, Title: rec.Item.Title, Source: rec.Item.Source, State: workitem.Open}
	}
	if item.State == workitem.Closed || unread != nil && !rec.Item.EndedAt.IsZero() {
		return Obeyed{}, &RefusedError{Command: string(word), Reason: "ended"}
	}
	// No listing says how far its updatedAt may be trusted (P1): it is not kept.
	at := visit{item: item, listed: item.UpdatedAt, unlisted: !rec.Item.OffListAt.IsZero()}
	if unread == nil {
		if at.src, at.links, err = p.pointsAt(ctx, at, rec); err != nil {
			return Obeyed{}, err
		}
	}
	facts, err := p.facts(ctx, at, rec)
	if err != nil {
		return Obeyed{}, err
	}
	decision, refused, err := Instruct(word, item, comments, unread == nil, rec, facts)
	switch {
	case err != nil:
		return Obeyed{}, fmt.Errorf("decide: %w", err)
	case refused != "":
		return Obeyed{}, &RefusedError{Command: string(word), Reason: refused}
	}
	if err := p.commit(ctx, ref, rec, facts.Target, decision, &Report{}); err != nil {
		return Obeyed{}, err
	}
	p.act(decision, &Report{})
	done := Obeyed{Later: unread}
	for _, e := range decision.Events {
		if e.Name == "control.command" {
			done.Effect, _ = e.Fields["effect"].(string)
		}
	}
	return done, nil
}

// pointsAt asks the item's own source what it points at, when that is to be asked
// (P3).
func (p *Poller) pointsAt(ctx context.Context, v visit, rec record.Record) (Source, *workitem.Links, error) {
	for _, src := range p.Sources {
		if holds(src.ID(), v.item.Ref) {
			v.src = src
		}
	}
	links, err := p.links(ctx, v, rec)
	return v.src, links, err
}

// errNoSource is why an item of no configured source cannot be read.
var errNoSource = errors.New("no configured source has it; name its repository (or folder) under polling.sources")

// readOne reads an item and its thread by number.
func (p *Poller) readOne(ctx context.Context, ref workitem.Ref) (workitem.Item, []workitem.Comment, error) {
	src, item, err := p.stateOf(ctx, ref)
	if err != nil {
		return item, nil, err
	}
	comments, err := src.Comments(ctx, item)
	if err != nil {
		return item, nil, fmt.Errorf("read the comments: %w", err)
	}
	return item, comments, nil
}

// stateOf asks the source of an item for it by number.
func (p *Poller) stateOf(ctx context.Context, ref workitem.Ref) (Source, workitem.Item, error) {
	for _, src := range p.Sources {
		if !holds(src.ID(), ref) {
			continue
		}
		item, err := src.State(ctx, ref)
		if err != nil {
			return src, item, fmt.Errorf("ask for its state: %w", err)
		}
		item.Source = src.ID()
		return src, item, nil
	}
	return nil, workitem.Item{}, errNoSource
}

// Tell reads what a first prompt may tell of an item that was not read for the
// decision to send it: one whose session begins with a comment on its pull request
// (D10). rec is what the ledger has of it.
func Tell(ctx context.Context, sources []Source, ref workitem.Ref, rec record.Record) (workitem.Item, []workitem.Comment, error) {
	p := Poller{Options: Options{Sources: sources}}
	item, comments, err := p.readOne(ctx, ref)
	return item, resolved(comments, rec), err
}

// holds reports whether a source is the one that an item is of: its id is the
// item's key without the number.
func holds(source string, ref workitem.Ref) bool {
	key := ref.Key()
	return len(key) > len(source) && key[:len(source)] == source && key[len(source)] == '#'
}

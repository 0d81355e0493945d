package session

import (
	"context"
	"errors"
	"fmt"

	"theloop/record"
	"theloop/session/tmux"
)

// occupied gives the attempt back: what has the session's name is not ours, is
// never typed into and never killed (D5).
func (j *job) occupied(ctx context.Context, p place) verdict {
	v := j.giveBack(ctx)
	if v.Result == Dropped {
		why := fmt.Sprintf("%s has the name of this session; rename it, or take it over with: the-loop sessions adopt %s", p.pane.Holder, j.session)
		if p.pane.Remedy != "" {
			why = p.pane.Holder + ": " + p.pane.Remedy
		}
		j.emit("dispatch.dropped", map[string]any{"reason": "session-occupied", "error": why})
	}
	return *v
}

// claim stamps a session as ours, so that the guard lets us in: one of an earlier
// release that the row names (D5), or one that a close has let go.
func (j *job) claim(ctx context.Context, v view, p *place) *verdict {
	if !p.pane.Adoptable || p.look.Owner == p.owner {
		return nil
	}
	err := j.stamp(ctx, p, v.session, v.owner)
	if errors.Is(err, tmux.ErrRefused) {
		return &verdict{again: true, err: err}
	}
	if err != nil {
		return unknown(err)
	}
	j.adopted(j.session, p.look)
	return nil
}

// needless ends a spawn whose session lives already: it came up by another way,
// and the attempt comes back (B6, D2).
func (j *job) needless(ctx context.Context, l life) verdict {
	var row record.Session
	err := j.update(ctx, j.ref, func(rec record.Record) (changes []record.Change) {
		row, changes = j.alive(rec, l)
		return append(changes, record.Release{DeliveryID: j.deliveryID})
	})
	j.Failpoint("outcome")
	if err != nil {
		return *unknown(err)
	}
	j.announce(j.ref, &row)
	j.emit("dispatch.dropped", map[string]any{"reason": "already-processed"})
	return verdict{Result: Done}
}

// awaitReady waits, once for each life of a pane, until its terminal is ready for
// a paste: a harness that has not switched it loses text without an error; one
// that never does is a program of lines, which takes it (D4).
func (j *job) awaitReady(ctx context.Context, l tmux.Look) {
	if _, was := j.ready.Load(l.Identity); was {
		return
	}
	if err := j.Tmux.Ready(ctx, l, j.settings.ReadyWait); err == nil {
		j.ready.Store(l.Identity, true)
	}
}

// paste puts the event into the live conversation (D3).
func (j *job) paste(ctx context.Context, v view, p *place, last bool) verdict {
	text := p.text
	if text == "" {
		var err error
		if text, err = j.prompts.news(j.ask, j.settings); err != nil {
			return j.fail(ctx, err, false)
		}
	}
	j.awaitReady(ctx, p.look)
	span, stop := j.begin(ctx, p.look.Identity, false)
	if stop != nil {
		return *stop
	}
	loaded := p.loaded
	p.loaded = tmux.Loaded{} // the paste uses it up
	outcome, err := j.Tmux.Paste(context.WithoutCancel(ctx), tmux.Paste{
		Look: p.look, Owner: p.owner, Mark: record.Mark(j.deliveryID), Text: []byte(text), Loaded: loaded, Span: span,
	})
	j.Failpoint("pasted")
	switch outcome {
	case tmux.OK:
		return j.delivered(ctx, v.life(p.look, j.settings), "paste")
	case tmux.Skip:
		return j.skipped(ctx, v, err, last)
	}
	return *unknown(err)
}

// skipped deals with a refusal, which proves that nothing was sent: the mark is
// in the ring already, or the attempt un-starts and is made once more (D3).
func (j *job) skipped(ctx context.Context, v view, cause error, last bool) verdict {
	p := j.seek(context.WithoutCancel(ctx), j.session, v.owner, "")
	if p.look.Proves(record.Mark(j.deliveryID)) {
		return j.delivered(ctx, v.life(p.look, j.settings), "mark")
	}
	if cause == nil {
		cause = refusal(p.look)
	}
	if last || j.tainted {
		return j.fail(ctx, cause, j.tainted)
	}
	err := j.update(ctx, j.ref, func(rec record.Record) []record.Change {
		if !j.delivery(rec).Started() {
			return nil
		}
		return []record.Change{record.Unstart{Comment: j.row}}
	})
	if err != nil {
		return *unknown(err)
	}
	if p.pane.State == record.PaneUnknown {
		return *unknown(p.look.Err) // it would not answer again, either
	}
	return verdict{again: true, err: cause}
}

// refusal says what may have kept a guard from holding, for people.
func refusal(l tmux.Look) error {
	if l.InputOff {
		return fmt.Errorf("the input of pane %s is switched off: tmux select-pane -e -t %s", l.PaneID, l.PaneID)
	}
	return fmt.Errorf("tmux refused it: the session is %s and not what it was a moment ago", l.State)
}

package session

import (
	"context"
	"errors"
	"slices"
	"time"

	"theloop/record"
	"theloop/session/tmux"
)

// begin commits that the attempt starts, on the record as it stands then: the
// last thing before tmux (B8). A stop that comes between the two takes the start
// and the attempt back (B4). newLife says that it starts a harness; before is what
// has to go ahead of the start.
func (j *job) begin(ctx context.Context, on string, newLife bool, before ...record.Change) (tmux.Span, *verdict) {
	span, stop := j.commitStart(ctx, on, newLife, before)
	if stop != nil {
		return span, stop
	}
	j.Failpoint("started")
	if ctx.Err() == nil {
		j.react(stageStarted)
		return span, nil
	}
	if len(before) > 0 {
		return span, unknown(ctx.Err()) // an earlier call of this attempt may have arrived
	}
	if timeUp(ctx) {
		late := j.fail(ctx, errTimeUp, false)
		return span, &late
	}
	err := j.update(ctx, j.ref, func(rec record.Record) []record.Change {
		if !j.delivery(rec).Started() {
			return nil
		}
		return []record.Change{record.Unstart{Comment: j.row, GiveBack: true}}
	})
	if err != nil {
		return span, unknown(err)
	}
	return span, &verdict{Result: Dropped}
}

func (j *job) commitStart(ctx context.Context, on string, newLife bool, before []record.Change) (tmux.Span, *verdict) {
	steady, cancel := unstoppable(ctx)
	defer cancel()
	for range maxConflicts {
		v, err := j.read(steady)
		if err != nil {
			return tmux.Span{}, unknown(err)
		}
		after, _, err := record.Apply(v.rec, before)
		if err != nil {
			return tmux.Span{}, &verdict{Result: Dropped, err: err}
		}
		if v.rec, v.row = after, j.delivery(after); !j.elsewhere() {
			v.owner = after
		}
		if stop := j.held(ctx, v); stop != nil {
			return tmux.Span{}, stop
		}
		now := j.Now()
		span := tmux.Span{Start: now, Until: now.Truncate(time.Second).Add(deadlineAfter)}
		others, err := j.others(steady, v)
		if err != nil {
			return span, unknown(err)
		}
		changes, admitted := j.admit(v, others, record.Start{Comment: j.row, On: on, Until: span.Until.UTC()}, newLife)
		if len(changes) == 0 {
			return span, &verdict{Result: Dropped}
		}
		applied, err := j.commit(steady, v, slices.Concat(before, changes), nil)
		switch {
		case errors.Is(err, record.ErrChanged):
			continue
		case err != nil:
			return span, unknown(err)
		case !admitted:
			j.refused(applied)
			return span, &verdict{Result: Dropped}
		case !slices.ContainsFunc(applied, isStart):
			return span, unknown(errors.New("the ledger did not apply the start")) // F7
		}
		return span, nil
	}
	return tmux.Span{}, unknown(record.ErrChanged)
}

// admit asks whether the attempt may start. Who decides need not know that a
// harness is started in the place of a dead one: that is a new pane to them.
func (j *job) admit(v view, others []record.Record, start record.Start, newLife bool) (changes []record.Change, ok bool) {
	asked := start
	if newLife {
		asked.On = record.OnNewPane
	}
	changes, ok = j.Admit(Admission{Item: v.rec, Session: v.owner, Others: others, Start: asked})
	for i, c := range changes {
		if c == record.Change(asked) {
			changes = slices.Clone(changes)
			changes[i] = start
		}
	}
	return changes, ok
}

func isStart(c record.Change) bool {
	_, ok := c.(record.Start)
	return ok
}

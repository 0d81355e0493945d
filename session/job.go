package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"theloop/record"
	"theloop/session/tmux"
)

// job is one attempt on its way: a comment's delivery, or a spawn that no
// comment asks for.
type job struct {
	*Host
	ask
	settings Settings
	// row is the comment's id in the ledger; empty for the spawn row.
	row string
	// pulls are the item's pull requests, once they are read, and told once they are
	// in the story.
	pulls []pullStory
	// owner is the item whose session it is, once it is read beside a pull request.
	owner                *pullStory
	pullsRead, pullsTold bool
	// tainted says that an earlier call of this attempt may have arrived.
	tainted bool
}

// verdict is how far an attempt came.
type verdict struct {
	Result
	// again means that tmux refused it and nothing was sent: look and start once
	// more (D3).
	again bool
	err   error
}

func unknown(err error) *verdict { return &verdict{Result: Unknown, err: err} }

// run brings the attempt to its outcome, or leaves it as it stands.
func (j *job) run(ctx context.Context) Result {
	for range maxSkips - 1 {
		if v := j.try(ctx, false); !v.again {
			return j.end(v)
		}
	}
	return j.end(j.try(ctx, true))
}

// end notes why there is no outcome: no event tells of it.
func (j *job) end(v verdict) Result {
	if v.err != nil && v.Result == Unknown {
		j.Log.Warn("an attempt has no outcome; the next cycle looks again", "work_item", j.ref.String(), "delivery_id", j.deliveryID, "error", v.err)
	}
	return v.Result
}

// try is one round: read, look, start, act, commit. last says that tmux must not
// refuse again.
func (j *job) try(ctx context.Context, last bool) verdict {
	v, err := j.read(ctx)
	if err != nil {
		return *unknown(err)
	}
	if stop := j.held(ctx, v); stop != nil {
		return *stop
	}
	j.mayRepeat = j.mayRepeat || v.row.MayRepeat
	p := j.seek(ctx, j.session, v.owner, j.ahead(v))
	if p.pane.Remedy != "" { // it may be ending
		j.Tmux.Survivor(ctx, v.session.Identity, v.session.LastEventAt, endWait)
		text, loaded := p.text, p.loaded
		p = j.seek(ctx, j.session, v.owner, "")
		p.text, p.loaded = text, loaded
	}
	if p.loaded != (tmux.Loaded{}) {
		j.Failpoint("loaded")
	}
	came := j.proceed(ctx, v, &p, last)
	j.Tmux.Drop(context.WithoutCancel(ctx), p.loaded)
	return came
}

// ahead is the text to load beside the look: what a session that is likely to
// live will be sent. Empty when none is, or when the text is refused later.
func (j *job) ahead(v view) string {
	if j.row == "" || !v.session.Open() || v.session.Identity == "" {
		return ""
	}
	text, _ := j.prompts.news(j.ask, j.settings)
	return text
}

// proceed does what the look asks for.
func (j *job) proceed(ctx context.Context, v view, p *place, last bool) verdict {
	mark := record.Mark(j.deliveryID)
	switch p.pane.State {
	case record.PaneUnknown:
		return *unknown(p.look.Err)
	case record.PaneForeign:
		return j.occupied(ctx, *p)
	}
	if stop := j.claim(ctx, v, p); stop != nil {
		return *stop
	}
	if p.look.Proves(mark) && !p.pane.Stale(v.row) { // read before anything is typed or started (D5, D7)
		return j.delivered(ctx, v.life(p.look, j.settings), "mark")
	}
	if slices.Contains(p.pane.Ring, "_"+mark) {
		j.mayRepeat = true // it died with this as its first prompt
	}
	if p.pane.State != record.PaneLive {
		return j.bringUp(ctx, v, *p, last)
	}
	if j.row == "" {
		return j.needless(ctx, v.life(p.look, j.settings))
	}
	return j.paste(ctx, v, p, last)
}

// view is the records as they stood at one moment.
type view struct {
	rec     record.Record   // the one the attempt is counted on
	owner   record.Record   // the one the session belongs to; often the same
	rev     uint64          // of rec in the ledger
	row     record.Delivery // zero when there is no pending row
	session *record.Session // nil: none on this machine
}

func (j *job) read(ctx context.Context) (view, error) {
	rec, err := j.Ledger.Record(ctx, j.ref)
	if err != nil {
		return view{}, fmt.Errorf("read the ledger: %w", err)
	}
	v := view{rec: rec, rev: rec.Item.Rev, owner: rec, row: j.delivery(rec)}
	if j.elsewhere() {
		if v.owner, err = j.Ledger.Record(ctx, j.session); err != nil {
			return view{}, fmt.Errorf("read the ledger: %w", err)
		}
	}
	v.session = j.local(v.owner)
	return v, nil
}

// elsewhere reports whether the session is another item's than the row (P3).
func (j *job) elsewhere() bool { return j.session.Key() != j.ref.Key() }

// commit writes changes to the attempt's record and to the session's, in one
// transaction, on the revisions of both (F7).
func (j *job) commit(ctx context.Context, v view, changes, ofSession []record.Change) (applied []record.Change, err error) {
	if !j.elsewhere() {
		return j.Ledger.Commit(ctx, j.ref, v.rev, slices.Concat(ofSession, changes))
	}
	applied, _, err = j.Ledger.CommitBoth(ctx, j.ref, v.rev, changes, j.session, v.owner.Item.Rev, ofSession)
	return applied, err
}

// delivery is the attempt's row in the record, zero when it is resolved or not
// there.
func (j *job) delivery(rec record.Record) record.Delivery {
	if j.row == "" {
		return rec.Item.Spawn.Delivery
	}
	if row, ok := rec.Comments.Get(j.row); ok && row.State == record.Pending {
		return row.Delivery
	}
	return record.Delivery{}
}

// harnessName is the harness of the conversation that the row names.
func (v view) harnessName(s Settings) string {
	if v.session != nil && v.session.Harness != "" {
		return v.session.Harness
	}
	return s.Harness
}

// life is what is known of the row's session when it is found alive.
func (v view) life(l tmux.Look, s Settings) life {
	return life{look: l, harness: v.harnessName(s)}
}

// held says why the attempt must not go on: it is not this one's turn, its text
// is not the one that was judged, or the session waits for a deadline. Nothing
// is spent by any of them.
func (j *job) held(ctx context.Context, v view) *verdict {
	switch until, err := j.quietUntil(ctx, j.session, v.rec, v.owner); {
	case ctx.Err() != nil && !timeUp(ctx):
		return unknown(ctx.Err())
	case !v.row.InHand() || v.row.Started() || v.row.DeliveryID != j.deliveryID || v.row.Run != j.Run:
		return &verdict{Result: Dropped} // resolved, released or in other hands by now
	case timeUp(ctx):
		late := j.fail(ctx, errTimeUp, j.tainted)
		return &late
	case err != nil:
		return unknown(err)
	case !until.IsZero():
		return unknown(fmt.Errorf("tmux has not answered an earlier call for the session; it waits until %s", stamp(until)))
	case j.edited(v.rec):
		return j.giveBack(ctx)
	}
	return nil
}

// errTimeUp fails an attempt whose time has run out while nothing of it was on
// its way. One that is on its way gets its answer first.
var errTimeUp = errors.New("its time was up before anything was sent (routing.dispatchTimeoutSeconds)")

// timeUp reports whether the job's time has run out (D12); a stop is something
// else, and costs nothing (B4).
func timeUp(ctx context.Context) bool { return errors.Is(ctx.Err(), context.DeadlineExceeded) }

// edited reports whether the comment's text was changed after the decision to
// send it: the next decision judges the new text and sends that (A6).
func (j *job) edited(rec record.Record) bool {
	row, ok := rec.Comments.Get(j.row)
	return ok && j.comment != nil && row.SHA256 != "" && row.SHA256 != record.TextHash(j.comment.Body)
}

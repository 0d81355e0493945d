package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"theloop/record"
	"theloop/session/tmux"
)

// launch is one harness about to be started.
type launch struct {
	harness   Harness
	sessionID string
	resumed   bool
	emptyRing bool
	order     tmux.Order
}

// bringUp starts a session with the event in its first prompt: the recorded
// conversation when the harness can resume it, a fresh one when it cannot or
// dies at once (D5).
func (j *job) bringUp(ctx context.Context, v view, p place, last bool) verdict {
	l, err := j.plan(ctx, v, p, true)
	if errors.Is(err, errUntold) {
		return *unknown(err) // nothing was spent on a tracker that does not answer
	}
	if err != nil {
		return j.fail(ctx, err, false)
	}
	look, stop := j.launch(ctx, v, p, l, last)
	if stop != nil {
		return *stop
	}
	stop, died := j.probe(ctx, look)
	if stop != nil {
		return *stop
	}
	if died != nil && l.resumed {
		j.emit("session.resume_failed", map[string]any{"harness": l.harness.Name, "error": safeError(died)})
		return j.startAfresh(ctx, v, last)
	}
	return j.settle(ctx, v, p, l, look, died)
}

// startAfresh goes on with an attempt whose resumed conversation died at once:
// a fresh one gets the first prompt. What the dead one may have read is not
// known, so the prompt says that it may be a repeat.
func (j *job) startAfresh(ctx context.Context, v view, last bool) verdict {
	p := j.seek(ctx, j.session, v.owner, "")
	if p.pane.State != record.PaneDead && p.pane.State != record.PaneAbsent && p.pane.State != record.PaneNone {
		return *unknown(p.look.Err)
	}
	j.mayRepeat, j.tainted = true, true
	l, err := j.plan(ctx, v, p, false)
	if err != nil {
		return j.fail(ctx, err, true)
	}
	look, stop := j.launch(ctx, v, p, l, last, record.Unstart{Comment: j.row})
	if stop != nil {
		return *stop
	}
	stop, died := j.probe(ctx, look)
	if stop != nil {
		return *stop
	}
	return j.settle(ctx, v, p, l, look, died)
}

// settle commits what became of a started harness.
func (j *job) settle(ctx context.Context, v view, p place, l launch, look tmux.Look, died error) verdict {
	if died == nil {
		err := j.Tmux.Prove(context.WithoutCancel(ctx), look, p.owner, record.Mark(j.deliveryID))
		if err != nil && !errors.Is(err, tmux.ErrRefused) {
			return *unknown(err)
		}
		died = err
	}
	if died != nil {
		j.emit("session.spawn_failed", map[string]any{"harness": l.harness.Name, "error": safeError(died)})
		return j.fail(ctx, died, true)
	}
	j.Failpoint("proved")
	event, via := "session.spawned", "spawn"
	if v.session.Open() || p.pane.State == record.PaneDead {
		event, via = "session.respawned", "respawn"
	}
	look.HarnessSession = l.sessionID
	done := j.delivered(ctx, life{look: look, harness: l.harness.Name, cwd: l.order.Dir, fresh: !l.resumed}, via)
	j.emit(event, map[string]any{
		"harness": l.harness.Name, "harness_session_id": l.sessionID, "tmux_target": look.Name, "resumed": l.resumed,
	})
	return done
}

// launch commits the start and asks tmux for it. The mark is in the ring of the
// new life from its first moment, not yet proved (D5).
func (j *job) launch(ctx context.Context, v view, p place, l launch, last bool, before ...record.Change) (tmux.Look, *verdict) {
	on := record.OnNewPane
	if p.pane.State == record.PaneDead {
		on = p.pane.Identity
	}
	span, stop := j.begin(ctx, on, true, before...)
	if stop != nil {
		return tmux.Look{}, stop
	}
	sp := tmux.Spawn{
		Name: p.name, Owner: p.owner, HarnessSession: l.sessionID, Mark: record.Mark(j.deliveryID),
		Retain: j.settings.RemainOnExit, EmptyRing: l.emptyRing, Order: l.order, Span: span,
	}
	var look tmux.Look
	var outcome tmux.Outcome
	var err error
	if p.pane.State == record.PaneDead {
		look, outcome, err = j.Tmux.Respawn(context.WithoutCancel(ctx), p.look, sp)
	} else {
		look, outcome, err = j.Tmux.Spawn(context.WithoutCancel(ctx), sp)
	}
	j.Failpoint("pasted")
	switch outcome {
	case tmux.OK:
		return look, nil
	case tmux.Skip:
		refused := j.skipped(ctx, v, err, last)
		return look, &refused
	}
	return look, unknown(err)
}

// probe waits until the harness has lived long enough to be called up (D5). died
// says how it ended; a stop or a silent tmux leaves the attempt started.
func (j *job) probe(ctx context.Context, started tmux.Look) (stop *verdict, died error) {
	if err := j.pause(ctx, j.settings.ResumeProbe); err != nil {
		return unknown(err), nil
	}
	now := j.Tmux.Look(ctx, tmux.Target{Name: started.Name, PaneID: started.PaneID, Identity: started.Identity})
	switch {
	case now.State == tmux.Silent:
		return unknown(now.Err), nil
	case now.State == tmux.Live && now.Identity == started.Identity:
		return nil, nil
	case now.State == tmux.Dead && now.ExitStatus != "":
		return nil, fmt.Errorf("the harness ended within %s: %s", j.settings.ResumeProbe, now.ExitStatus)
	}
	return nil, fmt.Errorf("the harness ended within %s and its pane is gone", j.settings.ResumeProbe)
}

// plan prepares everything that a start needs, so that nothing can go wrong
// between its commit and tmux (B8).
func (j *job) plan(ctx context.Context, v view, p place, mayResume bool) (launch, error) {
	name, id := v.conversation(p, j.settings)
	l := launch{emptyRing: v.owner.Bygone() || p.pane.Stale(v.row) && p.look.Proves(record.Mark(j.deliveryID))}
	var err error
	if mayResume && j.settings.ResumeOnRespawn && id != "" {
		if l.harness, err = j.settings.harness(name); err == nil && len(l.harness.Resume) > 0 {
			l.resumed, l.sessionID = true, id
			return j.order(ctx, l, v, l.harness.Resume)
		}
	}
	if l.harness, err = j.settings.harness(j.settings.Harness); err != nil {
		return l, err
	}
	if l.harness.namesSession() {
		if l.sessionID, err = newSessionID(j.Random); err != nil {
			return l, err
		}
	}
	return j.order(ctx, l, v, l.harness.Command)
}

func (j *job) order(ctx context.Context, l launch, v view, command []string) (launch, error) {
	prompt, err := j.prompts.first, error(nil)
	before := ""
	if err = j.findCause(ctx, v, l.resumed); err != nil {
		return l, err
	}
	if l.resumed {
		prompt = j.prompts.news
		if v.session != nil {
			before = v.session.Cwd // harnesses keep conversations by folder
		}
	} else if err = j.retell(ctx, v); err != nil {
		return l, err
	} else {
		j.tellPulls(ctx)
	}
	if l.order.Prompt, err = prompt(j.ask, j.settings); err != nil {
		return l, err
	}
	if l.order.Dir, err = j.settings.workdir(before); err != nil {
		return l, err
	}
	l.order.Argv = l.harness.argv(command, l.sessionID, l.order.Prompt, j.session)
	if err := j.Tmux.Runnable(l.order); err != nil {
		return l, err
	}
	j.trust(l)
	return l, nil
}

// conversation is the harness and id of the conversation to go on with, empty
// when there is none: the one that the row names, else the one that our pane was
// made for before anybody could write its row. A pane whose row a cleanup has
// removed looks the same, but for the start that is to begin afresh (X4), and so
// does one of a life of the item before, but for its ring (P8).
func (v view) conversation(p place, s Settings) (harness, id string) {
	row, bygone := v.session, v.owner.Bygone()
	if row != nil && !bygone && usableSessionID(row.HarnessSessionID) {
		return v.harnessName(s), row.HarnessSessionID
	}
	inPane := p.pane.HarnessSessionID
	c := v.owner.Item.Control
	switch {
	case !usableSessionID(inPane), row != nil && row.HarnessSessionID == inPane:
		return "", ""
	case row == nil && c.Arming() && !c.Served, (row == nil || bygone) && !v.sent(p.pane.Ring):
		return "", ""
	}
	return v.harnessName(s), inPane
}

// sent reports whether the last that a pane was sent, by its ring, was one of the
// deliveries that the records know. Those of a life of the item that was forgotten
// they do not.
func (v view) sent(ring []string) bool {
	if len(ring) == 0 {
		return false
	}
	last := strings.TrimPrefix(ring[len(ring)-1], "_")
	if spawn := v.owner.Item.Spawn.Delivery; (spawn.Started() || !spawn.InHand()) && spawn.DeliveryID != "" && record.Mark(spawn.DeliveryID) == last {
		return true
	}
	of := func(row record.Comment) bool { return row.DeliveryID != "" && record.Mark(row.DeliveryID) == last }
	return slices.ContainsFunc(v.owner.Comments.All(), of) || slices.ContainsFunc(v.rec.Comments.All(), of)
}

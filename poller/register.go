package poller

import (
	"context"
	"fmt"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// register is the command that makes a conversation an item's by hand.
const register = "sessions register"

// Registration is a conversation that a person says is a work item's session.
type Registration struct {
	Harness          string
	HarnessSessionID string
	// Cwd is where it runs; empty for the configured folder.
	Cwd string
	// TmuxTarget is the tmux session that it lives in; empty for one that is to be
	// resumed by what is said next.
	TmuxTarget string
}

// row is the session row that it becomes.
func (r Registration) row(f Facts) record.Session {
	return record.Session{
		Harness: r.Harness, HarnessSessionID: r.HarnessSessionID, Cwd: r.Cwd, TmuxTarget: r.TmuxTarget,
		Status: record.Active, CreatedAt: f.Now, LastEventAt: f.Now, Host: f.Host,
	}
}

// Register decides, on the operator's word, that a conversation is the item's
// session. f is about the session that the item has now, at is where the
// registered one is found; when it lives there, it is taken over (D5). Where the
// last command forbids a session to run, a start of the operator's is recorded:
// else the next cycle would close what was just registered (X7). A *RefusedError
// comes back when it may not be; then nothing is done. It is pure.
func Register(reg Registration, item workitem.Item, rec record.Record, at record.Pane, f Facts) (Decision, error) {
	d := newDecider(item, nil, rec, f)
	if reason, words := d.unregistrable(reg, at); reason != "" {
		return Decision{}, &RefusedError{Command: register, Reason: reason, Words: words}
	}
	if !rec.Item.Known() {
		d.do(record.Observe{Item: item})
	}
	d.do(record.PutSession{Session: reg.row(f)})
	d.do(record.ResetSpawn{}) // nothing is owed that it had in hand
	d.serve()
	d.event("session.adopted", map[string]any{
		"harness": reg.Harness, "harness_session_id": reg.HarnessSessionID, "tmux_target": reg.TmuxTarget, "reason": "registered",
	})
	if at.State == record.PaneLive {
		d.once(DoAdopt, "registered")
	}
	return d.done()
}

// serve records that the item may have a session, and has it.
func (d *decider) serve() {
	control := d.rec().Item.Control
	if control == nil || control.Arming() {
		d.do(record.Serve{})
		return
	}
	effect := "noop"
	if control.Command == string(policy.Pause) {
		effect = "resumed"
	}
	d.do(record.Command{Control: record.Control{Command: string(policy.Start), Source: cli, RequestedAt: d.f.Now, Served: true}})
	d.event("control.command", map[string]any{"command": string(policy.Start), "command_source": cli, "effect": effect})
}

// unregistrable says why a conversation cannot be made the item's session (D2,
// D5).
func (d *decider) unregistrable(reg Registration, at record.Pane) (reason, words string) {
	ref, rec := d.ref().String(), d.rec()
	switch {
	case d.item.State == workitem.Closed, rec.Item.Ended():
		return "ended", ref + " has ended"
	case linkedAway(rec, d.item):
		return "linked", "what is said on " + ref + " goes into the session of " + rec.Link.Target
	case d.f.Pane.State == record.PaneUnknown, at.State == record.PaneUnknown:
		return "silent", "tmux does not answer; try again in a moment"
	case len(d.f.Held) > 0, d.undecided():
		return "busy", "something for the session of " + ref + " is on its way; try again in a moment"
	case d.f.Pane.State == record.PaneLive:
		return "session", ref + " has a session that is alive; end that first: the-loop sessions stop " + ref
	case at.State == record.PaneForeign && reg.TmuxTarget == "":
		return "occupied", at.Holder + " has the name of its session; say --tmux-target if it is the one, rename it otherwise"
	case at.State == record.PaneForeign:
		return "occupied", at.Holder + " was not started for the conversation " + reg.HarnessSessionID + ", as far as its command line tells"
	case reg.TmuxTarget != "" && at.State == record.PaneDead && rec.Session != nil && rec.Session.TmuxTarget != "":
		return "kept", "the terminal of its last session is kept and goes before others; end it first: tmux kill-session -t =" + rec.Session.TmuxTarget
	case reg.TmuxTarget != "" && at.State != record.PaneLive:
		return "absent", "nothing is alive in a tmux session " + reg.TmuxTarget + "; leave --tmux-target out for a conversation that is to be resumed"
	}
	return "", ""
}

// RegisterSession makes a conversation the session of an item: read, decide,
// commit, act. One that the ledger has not seen is asked for by number. live says
// that it was found alive and is being taken over. It may run beside a Poller on
// the same parts.
func RegisterSession(ctx context.Context, o Options, ref workitem.Ref, reg Registration) (live bool, err error) {
	p := New(o)
	return repeat(ctx, breath, ref.String(), func() (bool, error) { return p.register(ctx, ref, reg) })
}

func (p *Poller) register(ctx context.Context, ref workitem.Ref, reg Registration) (live bool, err error) {
	rec, err := p.Ledger.Record(ctx, ref)
	if err != nil {
		return false, fmt.Errorf("read the ledger: %w", err)
	}
	item := workitem.Item{Ref: ref, Kind: rec.Item.Kind, State: workitem.Open}
	if !rec.Item.Known() {
		if _, item, err = p.stateOf(ctx, ref); err != nil {
			return false, fmt.Errorf("%w: %w", &RefusedError{Command: register, Reason: "unknown", Words: "the ledger does not have " + ref.String()}, err)
		}
	}
	f := p.factsOf(ctx, visit{item: item}, rec, Target{}, nil)
	row := reg.row(f)
	after := rec
	after.Session = &row
	at := p.Sessions.Look(ctx, ref, after)
	decision, err := Register(reg, item, rec, at, f)
	if err != nil {
		return false, err
	}
	if err := p.commit(ctx, ref, rec, Target{}, decision, &Report{}); err != nil {
		return false, err
	}
	p.act(decision, &Report{})
	return at.State == record.PaneLive, nil
}

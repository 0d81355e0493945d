package poller

import (
	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// action is what a command does to an item beside being recorded (X4).
type action struct {
	// refuse: nothing is recorded.
	refuse bool
	// unpause sets a paused session going again.
	unpause bool
	// pause keeps a session quiet.
	pause bool
	// served: a session is there, so none is owed.
	served bool
	// effect is what the event calls it.
	effect string
}

// commands is the table of X4. do and contribute act as start. Stop and cleanup
// close a session because of what is recorded (X7), not here.
var commands = map[policy.Command]map[column]action{
	policy.Start: {
		none:   {effect: "spawned"},
		active: {served: true, effect: "noop"},
		paused: {unpause: true, served: true, effect: "resumed"},
		closed: {effect: "spawned"},
	},
	policy.Resume: {
		none:   {refuse: true},
		active: {refuse: true},
		paused: {unpause: true, served: true, effect: "resumed"},
		closed: {refuse: true},
	},
	policy.Pause: {
		none:   {effect: "paused"},
		active: {pause: true, effect: "paused"},
		paused: {effect: "noop"},
		closed: {effect: "paused"},
	},
	policy.Stop: {
		none:   {effect: "stopped"},
		active: {effect: "stopped"},
		paused: {effect: "stopped"},
		closed: {effect: "stopped"},
	},
	policy.Cleanup: {
		none:   {effect: "nothing-to-clean"},
		active: {effect: "cleaned"},
		paused: {effect: "cleaned"},
		closed: {effect: "cleaned"},
	},
}

// command obeys one control word: the record and the row of its comment are one
// transaction (X6).
func (d *decider) command(c workitem.Comment, found policy.Found) {
	word, at := found.Command, d.column()
	act := commands[word.ActsAs()][at]
	served := act.served && !d.closing() // what is being closed serves nobody
	reason := ""
	switch {
	case act.refuse:
		reason = "nothing-to-resume"
	case word.Arming() && at == none && !d.policyAllows():
		reason = "spawn-policy"
	}
	if reason != "" {
		d.settle(c, record.ControlRejected, string(word))
		d.event("control.rejected", map[string]any{"command": string(word), "actor": c.Author.Login, "reason": reason})
		return
	}
	d.do(record.Command{Control: record.Control{
		Command: string(word), Source: "comment", Actor: record.Account(c.Author), ActorID: c.Author.ID,
		RequestedAt: c.CreatedAt, Note: c.URL, Served: served,
	}})
	d.event("control.command", map[string]any{
		"command": string(word), "actor": c.Author.Login, "command_source": "comment", "effect": act.effect,
	})
	d.carryOut(c, found, act)
}

// carryOut does what goes with a recorded command in the same transaction.
func (d *decider) carryOut(c workitem.Comment, found policy.Found, act action) {
	switch {
	case act.unpause:
		d.do(record.SetStatus{Status: record.Active, At: d.f.Now})
	case act.pause:
		d.do(record.SetStatus{Status: record.Paused, At: d.f.Now})
	}
	if found.Command.Arming() {
		d.do(record.ResetSpawn{})      // a start gives the budget back (B6)
		if found.Words && act.served { // its words reach the session that lives (X6)
			d.forward(c, string(found.Command))
			return
		}
	}
	d.settle(c, record.ControlExecuted, string(found.Command)) // an edited one is pending until now
	if !found.Command.Arming() {
		d.dropPending()
	}
}

// drops settles a pending row whose comment is not at hand, or not asked.
func (d *decider) drops(row record.Comment, outcome string) {
	d.do(record.Settle{Note: record.Note{ID: row.ID}, Outcome: outcome})
	d.event("poll.comment_settled", map[string]any{"comment_id": row.ID, "actor": row.Author, "outcome": outcome})
}

// dropPending settles what a stop or a pause drops, in the command's own
// transaction; unstarted attempts come back (X5).
func (d *decider) dropPending() {
	outcome := halted(d.rec())
	for _, row := range d.rec().Comments.Pending() {
		if row.Started() {
			continue // at most this one may still arrive, until its deadline
		}
		d.drops(row, outcome)
	}
	if spawn := d.rec().Item.Spawn.Delivery; spawn.InHand() && !spawn.Started() {
		d.do(record.Release{DeliveryID: spawn.DeliveryID})
	}
}

package poller

import (
	"net/url"

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

// command obeys one control word of a comment: the record and the row of its
// comment are one transaction (X6).
func (d *decider) command(c workitem.Comment, found policy.Found) {
	act, refused := d.order(record.Control{
		Command: string(found.Command), Source: "comment", Actor: record.Account(c.Author), ActorID: c.Author.ID,
		RequestedAt: c.CreatedAt, Note: c.URL,
	})
	if refused != "" {
		d.settle(c, record.ControlRejected, string(found.Command))
		return
	}
	if found.Command.Arming() && found.Words && (act.served || d.comesUp(c)) { // its words reach the session that lives (X6)
		d.forward(c, string(found.Command))
		return
	}
	d.settle(c, record.ControlExecuted, string(found.Command)) // an edited one is pending until now
	if !found.Command.Arming() {
		d.dropPending()
	}
}

// comesUp says that a session lives, or is on its way, that no row names yet: what
// brings it up was told what it says before this command was given.
func (d *decider) comesUp(c workitem.Comment) bool {
	return d.ownerless() || d.inHand(record.CommentDeliveryID(c.ID))
}

// overtaken reports whether the recorded command was said behind this comment, on
// another item of the session: of one conversation the last command wins, whichever
// item is read first (I6). Times are compared only where one tracker gave both: what
// the operator says here and what an import brought, neither of which has an account's
// number, carry the clock of a machine. An edit may have brought the command, and an inline
// comment the time of its draft: neither is known to be older. Somebody who is not
// listed any more overtakes nobody (A7).
func (d *decider) overtaken(c workitem.Comment) bool {
	last := d.owner().Item.Control
	if last == nil || last.ActorID == 0 || !authority(last, d.f.Policy) || c.Surface == workitem.Inline {
		return false
	}
	earlier := c.CreatedAt.Before(last.RequestedAt) && c.UpdatedAt.Before(last.RequestedAt)
	return earlier && oneTracker(c.URL, last.Note)
}

// oneTracker reports whether two comments stand on the same tracker.
func oneTracker(a, b string) bool {
	at, err := url.Parse(a)
	to, bad := url.Parse(b)
	return err == nil && bad == nil && at.Host != "" && at.Host == to.Host
}

// yield deals with a command that was overtaken: it is not recorded. Where it lets a
// session run and so does the later one, its words reach the session that is there
// (X6).
func (d *decider) yield(c workitem.Comment, found policy.Found) {
	word, actor := string(found.Command), record.Account(c.Author)
	if !found.Command.Arming() || !d.owner().Item.Control.Arming() {
		d.event("control.rejected", map[string]any{"command": word, "actor": actor, "reason": "superseded"})
		d.settle(c, record.ControlRejected, word)
		return
	}
	d.event("control.command", map[string]any{"command": word, "actor": actor, "command_source": "comment", "effect": "noop"})
	if found.Words && d.fate() == "" && (d.column() == active || d.comesUp(c)) {
		d.forward(c, word)
		return
	}
	d.settle(c, record.ControlExecuted, word)
}

// order records a command unless the table of X4 refuses it, and does what goes
// with it in the same transaction. From this machine a start needs no label.
func (d *decider) order(control record.Control) (act action, refused string) {
	word := policy.Command(control.Command)
	if word.Arming() {
		d.sweep() // a cleanup that was said just before, or whose turn is still to come
	}
	at := d.column()
	act = commands[word.ActsAs()][at]
	labelled := d.ownerItem().Labelled || control.Source == cli
	switch {
	case act.refuse:
		refused = "nothing-to-resume"
	case word.Arming() && at == none && !d.f.Policy.MaySpawn(labelled):
		refused = "spawn-policy"
	}
	if refused != "" {
		d.event("control.rejected", map[string]any{"command": string(word), "actor": control.Actor, "reason": refused})
		return act, refused
	}
	control.Served = act.served && !d.closing() // what is being closed serves nobody
	d.commanded = true
	d.doOwner(record.Command{Control: control})
	d.event("control.command", map[string]any{
		"command": string(word), "actor": control.Actor, "command_source": control.Source, "effect": act.effect,
	})
	switch {
	case act.unpause:
		d.quieten(record.Active, control.Command)
	case act.pause:
		d.quieten(record.Paused, control.Command)
	}
	if word.Arming() {
		d.doOwner(record.ResetSpawn{}) // a start gives the budget back (B6)
	}
	return act, ""
}

// drops settles a pending row whose comment is not at hand, or not asked.
func (d *decider) drops(row record.Comment, outcome string) {
	d.do(record.Settle{Note: record.Note{ID: row.ID}, Outcome: outcome})
	d.event("poll.comment_settled", map[string]any{"comment_id": row.ID, "actor": row.Author, "outcome": outcome})
}

// dropPending settles what a stop or a pause drops, in the command's own
// transaction; unstarted attempts come back (X5). What is queued on other items
// of the session is settled at their turn, or by its worker.
func (d *decider) dropPending() {
	outcome := halted(d.owner())
	for _, row := range d.rec().Comments.Pending() {
		if row.Started() {
			continue // at most this one may still arrive, until its deadline
		}
		d.drops(row, outcome)
	}
	if spawn := d.rec().Item.Spawn.Delivery; !d.routed() && spawn.InHand() && !spawn.Started() {
		d.do(record.Release{DeliveryID: spawn.DeliveryID})
	}
}

package poller

import (
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

func (d *decider) selfAuthored(c workitem.Comment) bool { return policy.SelfAuthored(c.Body) }

// see gives every comment of the thread its row and obeys the commands nobody
// has processed yet, in thread order.
func (d *decider) see() {
	first := !d.rec().Item.Known()
	limit := d.rec().Item.EndedAt
	hadControl := d.owner().Item.Control != nil && (limit.IsZero() || d.routed())
	if first {
		d.do(record.FirstSeen{At: d.f.Now})
	}
	baselined := 0
	for _, c := range d.thread {
		row, known := d.draft.Comment(c.ID)
		switch {
		case known:
			d.again(c, row)
		case !first, d.meant(c, limit):
			d.fresh(c)
		case hadControl || !c.CreatedAt.After(limit) || !d.atFirstSight(c):
			d.baseline(c, record.FirstSight)
			baselined++
		}
	}
	if first {
		d.event("poll.first_seen", map[string]any{"baselined": baselined})
	}
	d.vanished()
}

// meant says that a comment was left behind the start of the session that a pull
// request belongs to: it is forwarded at first sight (X1). Trackers tell times in
// whole seconds; what was said in the one that the session began in counts.
func (d *decider) meant(c workitem.Comment, limit time.Time) bool {
	s := d.session()
	return d.routed() && s != nil && !c.CreatedAt.Before(s.CreatedAt.Truncate(time.Second)) && c.CreatedAt.After(limit)
}

// baseline marks a comment as seen. Whose words it holds is kept where that is
// the reason.
func (d *decider) baseline(c workitem.Comment, outcome string) {
	switch {
	case d.selfAuthored(c):
		outcome = record.SelfAuthored
	case !d.f.Policy.Authorized(c.Author):
		outcome = record.Unauthorized
	}
	d.do(record.Baseline{Note: record.NoteOf(c), Outcome: outcome})
}

// atFirstSight obeys a command that was posted before the item was first seen
// (X2). It reports whether the comment was dealt with.
func (d *decider) atFirstSight(c workitem.Comment) bool {
	if d.selfAuthored(c) || !d.f.Policy.Authorized(c.Author) {
		return false
	}
	found := d.f.Policy.Commands(c.Body)
	if found.Command == "" {
		return false // none, or two: baselined
	}
	d.command(c, found)
	return true
}

// fresh deals with a comment of a known item that has no row yet.
func (d *decider) fresh(c workitem.Comment) {
	switch {
	case d.late(c):
		d.do(record.Baseline{Note: record.NoteOf(c), Outcome: record.Late})
	case d.selfAuthored(c), !d.f.Policy.Authorized(c.Author):
		d.drop(c)
	default:
		d.obey(c)
	}
}

// late says that a comment without a row was dealt with before.
func (d *decider) late(c workitem.Comment) bool {
	return d.rec().Item.Late(c.CreatedAt, c.Surface == workitem.Inline)
}

// drop baselines what is not obeyed and says why (A1, A2, A3).
func (d *decider) drop(c workitem.Comment) {
	reason := record.Unauthorized
	if d.selfAuthored(c) {
		reason = record.SelfAuthored
	}
	d.do(record.Baseline{Note: record.NoteOf(c), Outcome: reason})
	d.event("poll.comment_dropped", map[string]any{"comment_id": c.ID, "actor": c.Author.Login, "reason": reason})
}

// obey deals with words of an authorised author that nobody has dealt with.
func (d *decider) obey(c workitem.Comment) {
	found := d.f.Policy.Commands(c.Body)
	switch {
	case len(found.Ambiguous) > 0:
		d.settle(c, record.ControlAmbiguous, "")
		d.event("control.ambiguous", map[string]any{"commands": words(found.Ambiguous), "actor": c.Author.Login})
	case found.Command != "" && d.overtaken(c):
		d.yield(c, found)
	case found.Command != "":
		d.command(c, found)
	default:
		d.forward(c, "")
	}
}

func words(commands []policy.Command) []string {
	out := make([]string, len(commands))
	for i, c := range commands {
		out[i] = string(c)
	}
	return out
}

// forward makes a comment pending, or settles it when its words cannot reach a
// session now (X5). ran is the control word beside them.
func (d *decider) forward(c workitem.Comment, ran string) {
	if outcome := d.fate(); outcome != "" {
		d.settle(c, outcome, ran)
		return
	}
	if d.f.TooLong(c.Body) {
		d.settle(c, record.TooLong, ran)
		return
	}
	if row, ok := d.rec().Comments.Get(c.ID); ok {
		if row.SHA256 != record.TextHash(c.Body) {
			d.do(record.Revise{Note: record.NoteOf(c), Command: ran})
		}
		return
	}
	d.do(record.Hold{Note: record.NoteOf(c), Command: ran})
	d.doOwner(record.ResetSpawn{}) // something new was said (B6)
}

func (d *decider) settle(c workitem.Comment, outcome, ran string) {
	s := record.Settle{Note: record.NoteOf(c), Outcome: outcome, Command: ran}
	if outcome == record.TooLong {
		s.Version = d.f.Version // its author is told (A5)
	}
	d.do(s)
	d.event("poll.comment_settled", map[string]any{
		"comment_id": c.ID, "actor": c.Author.Login, "outcome": outcome,
	})
}

// again judges a comment that has a row once more: retries too rest on what is
// true now (A6, A7).
func (d *decider) again(c workitem.Comment, row record.Comment) {
	switch {
	case row.State == record.GaveUp:
		d.rearm(c, row)
		return
	case row.State != record.Pending || row.Started():
		return
	case !d.f.Policy.Authorized(c.Author) || d.selfAuthored(c):
		d.settle(c, record.Revoked, "")
		return
	}
	edited := row.SHA256 != record.TextHash(c.Body)
	if found := d.f.Policy.Commands(c.Body); edited && found.Command != "" && string(found.Command) != row.Ran {
		d.command(c, found)
		return
	}
	if edited && d.ambiguous(c) {
		return
	}
	d.forward(c, row.Ran)
}

func (d *decider) ambiguous(c workitem.Comment) bool {
	found := d.f.Policy.Commands(c.Body)
	if len(found.Ambiguous) == 0 {
		return false
	}
	d.obey(c)
	return true
}

// rearm gives a comment that another release gave up its full budget again
// (B7).
func (d *decider) rearm(c workitem.Comment, row record.Comment) {
	if !heals(row.Version, d.f.Version) || !d.f.Policy.Authorized(c.Author) || d.selfAuthored(c) || d.fate() != "" {
		return
	}
	d.do(record.Rearm{Comment: row.ID})
	d.do(record.Revise{Note: record.NoteOf(c), Command: row.Ran}) // an imported row has no author yet, and no text
	d.doOwner(record.ResetSpawn{})
	d.event("poll.rearmed", map[string]any{"comments": 1})
}

// vanished settles pending rows whose comment is gone upstream. The thread is
// whole, so what it lacks was deleted.
func (d *decider) vanished() {
	for _, row := range d.rec().Comments.Pending() {
		if _, there := d.comment(row); !there && !row.Started() {
			d.drops(row, record.Deleted)
		}
	}
}

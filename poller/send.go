package poller

import (
	"slices"
	"strconv"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// MaxQueued is how many jobs a session's queue may hold; the rest stay pending
// and cost nothing (D1).
const MaxQueued = 50

// send queues what is pending, oldest first. Behind a comment that stays
// pending and unqueued nothing is queued, so that the thread's order holds.
func (d *decider) send() {
	queued := len(d.f.Held)
	for _, row := range d.rec().Comments.Pending() {
		switch {
		case d.f.Held[row.DeliveryID] && row.InHand():
			continue
		case d.stuck, queued >= MaxQueued: // an undecided attempt is stuck as well
			return
		case d.spent(row.Delivery):
			d.giveUp(row)
			continue
		case !d.room():
			d.out.Waits = true
			return
		}
		d.queue(row)
		queued++
	}
}

// spent says whether the budget is used up. An attempt in hand that never
// started is not spent (B1).
func (d *decider) spent(row record.Delivery) bool {
	return !row.InHand() && row.Attempts >= d.f.Policy.MaxRetries()
}

// room says whether the session may be fed: it lives, or another may come up
// (D1).
func (d *decider) room() bool {
	return d.lives() || d.f.Room > 0 || d.bringsUp()
}

func (d *decider) lives() bool { return d.f.Pane.State == record.PaneLive && d.column() == active }

// bringsUp says that something in hand already has a session's place.
func (d *decider) bringsUp() bool {
	for _, e := range d.out.Effects {
		if e.Kind == DoDeliver || e.Kind == DoSpawn {
			return true
		}
	}
	return d.inHand("")
}

// inHand says that an attempt other than but is in the session's queue, or runs.
func (d *decider) inHand(but string) bool {
	for id := range d.f.Held {
		if id != string(DoClose) && id != string(DoAdopt) && id != but {
			return true
		}
	}
	return false
}

func (d *decider) queue(row record.Comment) {
	comment, ok := d.comment(row)
	if !ok {
		return
	}
	id := record.CommentDeliveryID(row.ID)
	d.takenUp(row.Delivery)
	d.do(record.Queue{Comment: row.ID, DeliveryID: id, Run: d.f.Run})
	d.effect(Effect{Kind: DoDeliver, ID: id, Comment: comment, NewSession: !d.lives() && !d.bringsUp()})
	now, _ := d.rec().Comments.Get(row.ID)
	d.event("poll.comment_forwarded", map[string]any{
		"comment_id": row.ID, "actor": row.Author, "attempt": now.Attempts, "delivery_id": id,
	})
}

// comment finds the text of a row. A row whose text cannot be had is not sent.
func (d *decider) comment(row record.Comment) (workitem.Comment, bool) {
	i := slices.IndexFunc(d.thread, func(c workitem.Comment) bool { return c.ID == row.ID })
	if i < 0 {
		i = slices.IndexFunc(d.thread, func(c workitem.Comment) bool { return workitem.SameComment(c.ID, row.ID) })
	}
	if i < 0 {
		return workitem.Comment{}, false
	}
	c := d.thread[i]
	c.ID = row.ID // the ledger's spelling names the delivery (P4)
	return c, true
}

func (d *decider) giveUp(row record.Comment) {
	d.do(record.GiveUp{Comment: row.ID, Version: d.f.Version})
	d.event("poll.comment_failed", map[string]any{
		"comment_id": row.ID, "actor": row.Author, "attempts": row.Attempts,
		"delivery_id": row.DeliveryID, "will_retry": false,
	})
}

// owe spawns the session that is owed without a comment: a recorded start that
// never had one, or an item the poller starts by itself (X7, B6).
func (d *decider) owe() {
	if d.routed() {
		return // its target's own turn sees to it
	}
	d.withhold()
	if d.stuck || !d.owed() {
		return
	}
	spawn := d.rec().Item.Spawn
	switch {
	case spawn.Started(), d.f.Held[spawn.DeliveryID] && spawn.InHand(), d.bringsUp(), spawn.GaveUp:
		return
	case d.spent(spawn.Delivery):
		d.do(record.GiveUpSpawn{Version: d.f.Version})
		d.event("poll.spawn_failed", map[string]any{
			"attempts": spawn.Attempts, "delivery_id": spawn.DeliveryID, "will_retry": false,
		})
		return
	case d.f.Room <= 0:
		d.out.Waits = true
		return
	}
	id := spawn.DeliveryID
	if !spawn.InHand() {
		id = record.SpawnDeliveryID(d.ref(), spawn.N+1)
	}
	d.takenUp(spawn.Delivery)
	d.do(record.QueueSpawn{DeliveryID: id, Run: d.f.Run})
	d.effect(Effect{Kind: DoSpawn, ID: id, NewSession: true})
}

func (d *decider) owed() bool {
	if item := d.rec().Item; d.routed() || !item.Known() || item.Ended() {
		return false // a command on an item that is over is history (P8)
	}
	control, col := d.rec().Item.Control, d.column()
	if control != nil {
		return control.Arming() && !control.Served && authority(control, d.f.Policy) && (col == none || col == closed)
	}
	return col == none && d.startsAlone()
}

// withhold says once for each item and author that the poller does not start
// this one by itself, and what would (A4).
func (d *decider) withhold() {
	author := d.item.Author.Login
	if author == "" {
		author = "nobody"
	}
	switch {
	case d.f.Policy.Authorized(d.item.Author), d.rec().Item.Control != nil, d.session() != nil, d.rec().Item.Withheld == author:
		return
	}
	d.do(record.Withhold{Author: author})
	d.event("poll.unauthorized", map[string]any{"actor": author, "reason": d.remedy()})
}

// remedy says what would start an item that the poller does not start by
// itself.
func (d *decider) remedy() string {
	if word := d.f.Policy.Keyword(policy.Start); word != "" {
		return "its author is not in routing.authorizedUsers; a comment of somebody who is, saying " + strconv.Quote(word) + ", starts it"
	}
	return "its author is not in routing.authorizedUsers, and the start keyword is turned off; add the author to start it"
}

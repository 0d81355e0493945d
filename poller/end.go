package poller

import (
	"slices"

	"theloop/record"
	"theloop/workitem"
)

// reopen forgets what an item was before its ending when it is found open
// again, so that it is seen for the first time once more (P8). Its old session
// must be gone first.
func (d *decider) reopen() {
	rec := d.rec()
	if d.item.State != workitem.Open || !rec.Item.Ended() {
		return
	}
	d.bury()
}

// awaitForget is the decision about a reopened item whose old session is not
// proved gone yet.
func (d *decider) awaitForget() { d.shut() }

// shut closes the item's session because the item has ended. A pull request ends
// only itself: its target's session goes on.
func (d *decider) shut() {
	if !d.routed() {
		d.close("ended")
	} else if conversation(d.rec(), d.f.Host).Open() {
		d.out.Effects = append(d.out.Effects, Effect{
			Kind: DoClose, ID: string(DoClose), Ref: d.ref(), Item: d.item, Reason: "ended",
		})
	}
}

// gone says that no session of the item's own is left, and nothing that may
// still make one.
func (d *decider) gone() bool {
	if d.routed() {
		inHand := func(row record.Comment) bool { return d.f.Held[row.DeliveryID] }
		return !conversation(d.rec(), d.f.Host).Open() && !slices.ContainsFunc(d.rec().Comments.Pending(), inHand)
	}
	return d.f.Pane.State != record.PaneUnknown && !d.ownerless() && !d.session().Open() && len(d.f.Held) == 0
}

// bury forgets an ended item once nothing of it runs; it reports whether it
// did. What an item that is open again was still told before its end can reach
// nobody any more.
func (d *decider) bury() bool {
	if owed := d.notices(); owed || !d.gone() || d.undecided() {
		return false // a notice that is owed needs its row (B3)
	}
	for _, row := range d.rec().Comments.Pending() {
		d.drops(row, record.ItemEnded)
	}
	if d.rec().Session.Open() { // another machine's, which counts as none: it ended with the item
		d.do(record.SetStatus{Status: record.Shut, At: d.f.Now})
	}
	d.do(record.Forget{})
	return true
}

// end deals with an item that its tracker says has ended (P8): what was said
// before the end is delivered to a session that lives, then the session is
// closed, and only when it is gone the rows go.
func (d *decider) end() {
	if d.rec().Item.Sealed() {
		return
	}
	d.seenEnded()
	if !d.rec().Item.Ended() {
		at := d.item.ClosedAt
		if at.IsZero() {
			at = d.f.Now
		}
		d.do(record.End{At: at})
		d.event("poll.closure_detected", map[string]any{"state": string(d.item.State), "kind": string(d.item.Kind)})
	}
	unheard := d.lastWords()
	d.send()
	if unheard || len(d.rec().Comments.Pending()) > 0 {
		return
	}
	d.unlink()
	if !d.bury() {
		d.shut() // behind what its queue holds
	}
}

// unseen says that an item which is not listed was never seen and has no session,
// its own or that of another item: what was imported of it waits until it is
// listed, or ends.
func (d *decider) unseen() bool {
	return d.f.Unlisted && !d.rec().Item.Known() && !d.routed() && !conversation(d.rec(), d.f.Host).Open()
}

// seenEnded is the first sight of an item that has ended meanwhile: one whose
// session, or command, was imported without its thread. Nothing of the thread is
// said any more, and what the ledger has of it ends as everything does (X1, P8).
func (d *decider) seenEnded() {
	if d.rec().Item.Known() {
		return
	}
	d.do(record.FirstSeen{At: d.f.Now})
	for _, c := range d.thread {
		if _, known := d.rec().Comments.Get(c.ID); !known {
			d.baseline(c, record.FirstSight)
		}
	}
}

// lastWords gives the comments written before the end their last chance: a
// session that lives. Everything else is settled as ended. unheard says that it
// is not known yet whether there is one.
func (d *decider) lastWords() (unheard bool) {
	item := d.rec().Item
	silent := d.f.Pane.State == record.PaneUnknown || d.undecided()
	for _, c := range d.thread {
		row, known := d.rec().Comments.Get(c.ID)
		if known && (row.State != record.Pending || row.Started()) {
			continue
		}
		obeyed := d.f.Policy.Authorized(c.Author) && !d.selfAuthored(c)
		heard := !c.CreatedAt.After(item.EndedAt) && d.plain(c) && halted(d.owner()) == ""
		switch {
		case !known && d.late(c):
			d.baseline(c, record.Late)
		case !known && !obeyed:
			d.baseline(c, record.Unauthorized)
		case !obeyed:
			d.settle(c, record.Revoked, "")
		case heard && d.lives():
			d.forward(c, "")
		case heard && silent:
			unheard = true // nothing is given up on an unknown (D4)
		default:
			d.settle(c, record.ItemEnded, "")
		}
	}
	d.vanished()
	return unheard
}

// plain says that a comment holds no command.
func (d *decider) plain(c workitem.Comment) bool {
	found := d.f.Policy.Commands(c.Body)
	return found.Command == "" && len(found.Ambiguous) == 0
}

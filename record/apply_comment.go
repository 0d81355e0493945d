package record

import "fmt"

// step moves a comment row along the table and lets edit write what goes with
// it. edit is not called when the step changes nothing.
func (r *Record) step(id string, o op, edit func(*Comment)) (bool, error) {
	row, ok := r.Comments.Get(id)
	if !ok {
		row = Comment{ID: id}
	}
	_, changes, legal := next(row.Phase(), o)
	if !legal {
		return false, fmt.Errorf("%w: %s of comment %s, which is %s", ErrIllegal, o, id, row.Phase())
	}
	if !changes {
		return false, nil
	}
	edit(&row)
	r.Comments.put(row)
	return true, nil
}

func (c *Comment) note(n Note) {
	if c.ID == "" {
		c.ID = n.ID
	}
	c.Author, c.AuthorID = Account(n.Author), n.Author.ID
	c.SHA256, c.URL, c.At = n.SHA256, n.URL, n.At
	c.Surface, c.DatabaseID = n.Surface, n.DatabaseID
}

// queue spends an attempt, unless one is in hand that never started (B1).
func (d *Delivery) queue(id, run string) {
	if !d.InHand() {
		d.Attempts++
	}
	d.DeliveryID, d.Run = id, run
}

// unspend gives an attempt back, never below zero (B4).
func (d *Delivery) unspend() {
	if d.InHand() {
		d.Attempts = max(0, d.Attempts-1)
	}
	d.drop()
	d.DeliveryID = ""
}

// drop ends the attempt in hand and keeps what it cost.
func (d *Delivery) drop() {
	d.Run = ""
	d.StartedOn, d.Until = "", zeroTime
}

func (c Baseline) apply(r *Record) (bool, error) {
	return r.step(c.Note.ID, opBaseline, func(row *Comment) {
		row.note(c.Note)
		row.State, row.Outcome = Baselined, c.Outcome
	})
}

func (c Hold) apply(r *Record) (bool, error) {
	return r.step(c.Note.ID, opHold, func(row *Comment) {
		row.note(c.Note)
		row.State, row.Ran = Pending, c.Command
	})
}

func (c Queue) apply(r *Record) (bool, error) {
	return r.step(c.Comment, opQueue, func(row *Comment) { row.queue(c.DeliveryID, c.Run) })
}

func (c Settle) apply(r *Record) (bool, error) {
	return r.step(c.Note.ID, opSettle, func(row *Comment) {
		if row.State == "" {
			row.note(c.Note)
		}
		row.unspend()
		row.State, row.Outcome = Settled, c.Outcome
		if c.Version != "" {
			row.Version, row.Notice = c.Version, NoticeOwed
		}
		if c.Command != "" {
			row.Ran = c.Command
		}
	})
}

func (c Revise) apply(r *Record) (bool, error) {
	return r.step(c.Note.ID, opRevise, func(row *Comment) {
		row.note(c.Note)
		if c.Command != "" {
			row.Ran = c.Command
		}
	})
}

func (c GiveUp) apply(r *Record) (bool, error) {
	return r.step(c.Comment, opGiveUp, func(row *Comment) {
		row.State, row.Version, row.Notice = GaveUp, c.Version, NoticeOwed
	})
}

func (c Rearm) apply(r *Record) (bool, error) {
	return r.step(c.Comment, opRearm, func(row *Comment) {
		row.State, row.Version, row.Notice, row.Attempts = Pending, "", "", 0
	})
}

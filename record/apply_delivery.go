package record

import (
	"fmt"
	"time"
)

var zeroTime time.Time

// each runs a step on a comment's delivery, or on the spawn row when id is
// empty. For a spawn row the phases that stand for resolved states do not
// exist: its table is the pending part of the same one.
func (r *Record) each(id string, o op, edit func(*Delivery)) (bool, error) {
	if id != "" {
		return r.step(id, o, func(row *Comment) { edit(&row.Delivery) })
	}
	from := r.Item.Spawn.phase()
	_, changes, legal := next(from, o)
	if !legal {
		return false, fmt.Errorf("%w: %s of a spawn that is %s", ErrIllegal, o, from)
	}
	if changes {
		edit(&r.Item.Spawn.Delivery)
	}
	return changes, nil
}

func (c QueueSpawn) apply(r *Record) (bool, error) {
	if r.Item.Spawn.GaveUp {
		return false, fmt.Errorf("%w: the spawn was given up", ErrIllegal)
	}
	return r.each("", opQueue, func(d *Delivery) {
		if !d.InHand() {
			r.Item.Spawn.N++
		}
		d.queue(c.DeliveryID, c.Run)
	})
}

func (c GiveUpSpawn) apply(r *Record) (bool, error) {
	if r.Item.Spawn.GaveUp {
		return false, nil // its notice is owed once (B3)
	}
	return r.each("", opGiveUp, func(d *Delivery) {
		d.Notice = NoticeOwed
		r.Item.Spawn.GaveUp, r.Item.Spawn.Version = true, c.Version
	})
}

func (ResetSpawn) apply(r *Record) (bool, error) {
	s := &r.Item.Spawn
	if s.phase() == Running || (s.Attempts == 0 && !s.GaveUp) {
		return false, nil
	}
	mayRepeat := s.MayRepeat
	*s = Spawn{N: s.N, Delivery: Delivery{MayRepeat: mayRepeat, Notice: owed(s.Notice), DeliveryID: s.DeliveryID}, Version: s.Version}
	return true, nil
}

// owed keeps a notice that still has to be posted.
func owed(notice string) string {
	if notice == NoticeOwed {
		return notice
	}
	return ""
}

func (c Start) apply(r *Record) (bool, error) {
	return r.each(c.Comment, opStart, func(d *Delivery) { d.StartedOn, d.Until = c.On, c.Until })
}

func (c Unstart) apply(r *Record) (bool, error) {
	if c.GiveBack {
		return r.each(c.Comment, opGiveBack, (*Delivery).unspend)
	}
	return r.each(c.Comment, opUnstart, func(d *Delivery) { d.StartedOn, d.Until = "", zeroTime })
}

func (c Deliver) apply(r *Record) (bool, error) {
	if c.Comment == "" {
		return r.each("", opDeliver, func(d *Delivery) { d.drop(); d.MayRepeat = false })
	}
	return r.step(c.Comment, opDeliver, func(row *Comment) {
		row.drop()
		row.State, row.Outcome, row.MayRepeat = Delivered, "", false
	})
}

func (c Fail) apply(r *Record) (bool, error) {
	return r.each(c.Comment, opFail, func(d *Delivery) {
		d.drop()
		d.MayRepeat = d.MayRepeat || c.MayRepeat
	})
}

func (c Release) apply(r *Record) (bool, error) {
	d := r.Item.Spawn.Delivery
	if c.Comment != "" {
		row, ok := r.Comments.Get(c.Comment)
		if !ok {
			return false, nil
		}
		d = row.Delivery
	}
	if d.DeliveryID != c.DeliveryID { // an attempt this process never spent (B4)
		return false, nil
	}
	return r.each(c.Comment, opRelease, (*Delivery).unspend)
}

func (c PostNotice) apply(r *Record) (bool, error) {
	if c.Comment != "" {
		row, ok := r.Comments.Get(c.Comment)
		if !ok || row.Notice != NoticeOwed {
			return false, nil
		}
		return r.step(c.Comment, opNotice, func(row *Comment) { row.Notice = NoticePosted })
	}
	if r.Item.Spawn.Notice != NoticeOwed {
		return false, nil
	}
	r.Item.Spawn.Notice = NoticePosted
	return true, nil
}

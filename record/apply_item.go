package record

import (
	"fmt"
	"time"
)

func (c Observe) apply(r *Record) (bool, error) {
	i, was := &r.Item, r.Item
	i.Ref, i.URL, i.Kind = c.Item.Ref.String(), c.Item.URL, c.Item.Kind
	i.Title, i.Source, i.CommentCount = c.Item.Title, c.Item.Source, c.Item.CommentCount
	i.Author, i.AuthorID = Account(c.Item.Author), c.Item.Author.ID
	if was.Ref != "" {
		i.Ref = was.Ref // the first spelling stays (D6)
	}
	i.OffListAt = c.OffListAt
	if !c.UpdatedAt.IsZero() {
		i.UpdatedAt = c.UpdatedAt
	}
	same := i.URL == was.URL && i.Kind == was.Kind && i.Title == was.Title && i.Source == was.Source &&
		i.CommentCount == was.CommentCount && i.Author == was.Author && i.AuthorID == was.AuthorID &&
		i.UpdatedAt.Equal(was.UpdatedAt) && i.OffListAt.Equal(was.OffListAt) && was.Ref != ""
	if same && !c.Resync {
		return false, nil
	}
	if !c.ReadAt.IsZero() {
		i.ReadAt = c.ReadAt
	}
	return true, nil
}

func (c FirstSeen) apply(r *Record) (bool, error) {
	if r.Item.Known() {
		return false, fmt.Errorf("%w: it was seen before", ErrIllegal)
	}
	r.Item.FirstSeenAt, r.Item.Spawn.N = c.At, r.spawns()
	if !r.Item.EndedAt.IsZero() { // reopened: what was before the ending is history (P8)
		r.Item.EndedAt, r.Item.LateUntil, r.Item.InlineUntil = time.Time{}, time.Time{}, time.Time{}
		r.Item.Control = nil
		r.Item.Spawn = Spawn{N: r.Item.Spawn.N}
	}
	return true, nil
}

func (c Withhold) apply(r *Record) (bool, error) {
	changed := r.Item.Withheld != c.Author
	r.Item.Withheld = c.Author
	return changed, nil
}

func (c Command) apply(r *Record) (bool, error) {
	control := c.Control
	r.Item.Control = &control
	return true, nil
}

func (Serve) apply(r *Record) (bool, error) {
	if !r.Item.Control.Arming() || r.Item.Control.Served {
		return false, nil
	}
	control := *r.Item.Control
	control.Served = true
	r.Item.Control = &control
	return true, nil
}

func (c PutSession) apply(r *Record) (bool, error) {
	session := c.Session
	if r.Session != nil {
		session.Spawns = max(session.Spawns, r.Session.Spawns)
	}
	r.Session = &session
	return true, nil
}

func (c SetStatus) apply(r *Record) (bool, error) {
	if r.Session == nil || r.Session.Status == c.Status {
		return false, nil
	}
	session := *r.Session
	session.Status, session.LastEventAt, session.EndedAt = c.Status, c.At, time.Time{}
	if c.Status == Shut {
		session.EndedAt = c.At
	}
	r.Session = &session
	return true, nil
}

func (DropSession) apply(r *Record) (bool, error) {
	if r.Session == nil {
		return false, nil
	}
	if r.Session.Open() {
		return false, fmt.Errorf("%w: its session is not closed", ErrIllegal)
	}
	r.Session = nil
	return true, nil
}

func (c Announce) apply(r *Record) (bool, error) {
	if r.Session == nil || r.Session.Announced == c.DeliveryID {
		return false, nil
	}
	session := *r.Session
	session.Announced = c.DeliveryID
	r.Session = &session
	return true, nil
}

func (c PutLink) apply(r *Record) (bool, error) {
	if r.Link != nil && *r.Link == c.Link {
		return false, nil
	}
	link := c.Link
	r.Link = &link
	return true, nil
}

func (c End) apply(r *Record) (bool, error) {
	if !r.Item.EndedAt.IsZero() {
		return false, nil
	}
	if !r.Item.Known() { // it would be a tombstone whose rows are there
		return false, fmt.Errorf("%w: it was never seen", ErrIllegal)
	}
	r.Item.EndedAt = c.At
	return true, nil
}

func (Forget) apply(r *Record) (bool, error) {
	i := r.Item
	if i.Sealed() {
		return false, nil
	}
	if !i.Ended() {
		return false, fmt.Errorf("%w: it has not ended", ErrIllegal)
	}
	if r.Session.Open() {
		return false, fmt.Errorf("%w: its session is not closed", ErrIllegal)
	}
	late := i.LateUntil
	for _, row := range r.Comments.rows {
		if row.At.After(late) {
			late = row.At
		}
	}
	r.Item = Item{
		Ref: i.Ref, URL: i.URL, Rev: i.Rev, EndedAt: i.EndedAt, LateUntil: late,
		Control: i.Control, Spawn: Spawn{N: i.Spawn.N}, Graph: i.Graph, Sections: i.Sections, Extra: i.Extra,
	}
	r.Comments, r.Link = Thread{}, nil
	return true, nil
}

func (c Import) apply(r *Record) (bool, error) {
	if r.Item.Ref != "" && !c.Overwrite {
		return false, fmt.Errorf("%w: the ledger has it already", ErrIllegal)
	}
	rev, spawns := r.Item.Rev, r.spawns()
	r.Item, r.Comments, r.Session, r.Link = c.Item, NewThread(c.Comments), c.Session, c.Link
	r.Item.Rev, r.Item.Spawn.N = rev, max(r.Item.Spawn.N, spawns)
	return true, nil
}

// Record is what the import makes of an item that is not known, as Apply does.
func (c Import) Record() Record {
	var r Record
	_, _ = c.apply(&r) // is legal on an empty record
	r.finish(0)
	return r
}

package poller

import (
	"theloop/record"
	"theloop/workitem"
)

// quiet says that nothing about an item can have changed, so that it costs
// neither a request nor a transaction (F6).
func (p *Poller) quiet(v visit, rec record.Record) bool {
	switch {
	case !rec.Item.Known(), v.item.State != workitem.Open, rec.Item.Ended():
		return false
	case !rec.Item.UpdatedAt.Equal(v.item.UpdatedAt), rec.Item.CommentCount != v.item.CommentCount:
		return false
	case rec.Item.Title != v.item.Title, rec.Item.Source != v.item.Source, rec.Item.OffListAt.IsZero() == v.unlisted:
		return false
	}
	if _, open := v.open[v.item.Ref.Key()]; open && p.unsettled(rec) {
		return false
	}
	return !p.resyncDue(rec)
}

// unsettled says that something is open or owed for an item, or that it was
// given up by a release that this one heals (P1, B7).
func (p *Poller) unsettled(rec record.Record) bool {
	i := rec.Item
	switch {
	case i.Counts.Pending > 0, i.Spawn.InHand():
		return true
	case i.Control.Arming() && !i.Control.Served && !i.Spawn.GaveUp:
		return true
	case halted(rec) != "" && rec.Session.Open() && rec.Session.Status != record.Paused:
		return true
	case halted(rec) == record.SessionStopped && rec.Session.Open():
		return true
	}
	return i.Counts.GaveUp > 0 && p.healsAny(rec)
}

func (p *Poller) healsAny(rec record.Record) bool {
	for _, row := range rec.Comments.All() {
		if row.State == record.GaveUp && heals(row.Version, p.Version) {
			return true
		}
	}
	return false
}

// resyncDue says that an unchanged item is to be read all the same: a tracker
// does not signal everything in updatedAt.
func (p *Poller) resyncDue(rec record.Record) bool {
	every := p.Settings().FullResync
	return every > 0 && p.Now().Sub(rec.Item.ReadAt) >= every
}

package poller

import (
	"theloop/policy"
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
	return !p.unsettled(rec) && !p.waits(v, rec) && !p.resyncDue(rec)
}

// waits says that the item's own session is owed and there is room for it now
// (D1); no row of the ledger tells of it before it was tried.
func (p *Poller) waits(v visit, rec record.Record) bool {
	return p.room > 0 && !linkedAway(rec, v.item) && rec.Item.Control == nil && !rec.Item.Spawn.GaveUp &&
		conversation(rec, p.Host) == nil && startsAlone(v.item, p.Settings().Policy)
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
	case i.Control != nil && i.Control.Command == string(policy.Cleanup) && conversation(rec, p.Host) != nil:
		return true // its row is to go
	}
	return p.owesNotice(rec) || i.Counts.GaveUp > 0 && p.healsAny(rec)
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

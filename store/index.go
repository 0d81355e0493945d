package store

import "theloop/record"

// The open bucket holds two kinds of keys, both with an empty value:
//   - item key + NUL + comment id, for every pending comment row;
//   - the item key alone, for every item that is unfinished.
//
// An item with a pending row is unfinished, so that its own key stands right
// before those of its rows.

// unfinished reports whether the item has anything that a start or a cycle has
// to look at although its tracker says nothing new: an unresolved row, an
// attempt in hand, an owed notice, a start that had no session yet (X7), a
// session that is not closed (of any machine: the ledger does not know which
// one this is), an ending that is not sealed (P8), a spawn that was tried and
// neither came up nor was given up (B6).
func unfinished(rec record.Record) bool {
	return rec.Item.Ended() || rec.Session.Open() || owesSession(rec) || owesDelivery(rec)
}

func owesSession(rec record.Record) bool {
	i := rec.Item
	switch {
	case i.Spawn.InHand() || i.Spawn.Notice == record.NoticeOwed:
		return true
	case !i.EndedAt.IsZero(): // its control is history (P8)
		return false
	case i.Control.Arming():
		return !i.Control.Served
	}
	return i.Control == nil && rec.Session == nil && i.Spawn.Attempts > 0 && !i.Spawn.GaveUp
}

func owesDelivery(rec record.Record) bool {
	for _, c := range rec.Comments.All() {
		if c.State == record.Pending || c.Notice == record.NoticeOwed {
			return true
		}
	}
	return false
}

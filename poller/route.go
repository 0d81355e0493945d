package poller

import (
	"slices"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// Target is the item whose session takes what is said on a pull request, and
// whom its commands are for (P3). The zero Target is the pull request itself.
type Target struct {
	Ref workitem.Ref
	// Record is what the ledger held of it; a commit names its revision (F7).
	Record record.Record
}

// Elsewhere reports whether the session is another item's.
func (t Target) Elsewhere() bool { return !t.Ref.Zero() }

// The sources of a link.
const (
	// linkChosen is a target that routing chose, linkByHand one that a person
	// named.
	linkChosen = "event"
	linkByHand = "link-pr"
)

// Routing is what the target of a pull request is decided on.
type Routing struct {
	Item   workitem.Item
	Record record.Record
	// Links is what its tracker says that it points at; the zero Links when that
	// was not asked.
	Links workitem.Links
	// Items are the records, by item key, of those among Links that a configured
	// source watches, and of the recorded target. Others are never chosen.
	Items  map[string]record.Record
	Policy policy.Policy
	Host   string
	Now    time.Time
}

// Route returns the target of a pull request, and the link to record when there
// is a new one. It is pure. In this order (P3): the recorded target, until the
// pull request ends; itself, when it has a session of its own that is not closed
// (only a target that a person named goes before that), or a command was
// obeyed for itself; the first item it points
// at that has a session; the first that is known and open; itself.
//
// A recorded target that has ended takes nothing new: while it is over, the pull
// request stands for itself and the record stays. That it stands for itself
// is not recorded, since what it points at may change.
func Route(r Routing) (to Target, link *record.Link) {
	own := conversation(r.Record, r.Host).Open()
	recorded, there := r.recorded()
	switch {
	case there && (!own || r.Record.Link.Source == linkByHand):
		return recorded, nil
	case r.linked(), independent(r.Record, r.Host), r.Item.State != workitem.Open:
		return Target{}, nil
	}
	to = r.choose()
	if !to.Elsewhere() {
		return to, nil
	}
	return to, &record.Link{Target: to.Ref.String(), Since: r.Now, Source: linkChosen}
}

// independent says of a pull request without a recorded target that it stands for
// itself: it has a session, or one may be on its way, or it was told to have one or
// none.
func independent(rec record.Record, host string) bool {
	return conversation(rec, host).Open() || underWay(rec) || rec.Item.Control != nil && rec.Item.EndedAt.IsZero()
}

// underWay says of an item whose words go nowhere else that a session of its own may
// be coming up, or live, without a row: something was queued that brings one up, and
// did not fail for good. What was imported (it has no text, and spawns no number) was
// another program's.
func underWay(rec record.Record) bool {
	if !rec.Item.Known() || rec.Link != nil || rec.Session != nil && !rec.Bygone() {
		return false
	}
	if spawn := rec.Item.Spawn; spawn.N > 0 && spawn.DeliveryID != "" && !spawn.GaveUp {
		return true
	}
	return slices.ContainsFunc(rec.Comments.All(), func(row record.Comment) bool {
		return row.DeliveryID != "" && row.SHA256 != "" && (row.State == record.Pending || row.State == record.Delivered)
	})
}

// linked reports whether a link is recorded that still counts: that of an open
// pull request which has ended before does not.
func (r Routing) linked() bool { return linked(r.Record, r.Item.State) }

func linked(rec record.Record, state workitem.State) bool {
	return rec.Link != nil && (!rec.Link.Ended || state != workitem.Open)
}

// linkedAway reports whether the recorded target is another item.
func linkedAway(rec record.Record, item workitem.Item) bool {
	if !linked(rec, item.State) {
		return false
	}
	to, err := workitem.ParseRef(rec.Link.Target)
	return err == nil && to.Key() != item.Ref.Key()
}

// recorded returns the recorded target, if it can take anything: what is said to
// an open pull request goes to an open item, the last words of one that ended to
// whatever has a session still (P8).
func (r Routing) recorded() (Target, bool) {
	if !r.linked() {
		return Target{}, false
	}
	ref, err := workitem.ParseRef(r.Record.Link.Target)
	if err != nil {
		return Target{}, false
	}
	if ref.Key() == r.Item.Ref.Key() {
		return Target{}, true
	}
	rec := r.Items[ref.Key()]
	if !rec.Item.Known() || rec.Item.Ended() && r.Item.State == workitem.Open {
		return Target{}, false
	}
	return target(ref, rec), true
}

// choose picks a target among what the pull request points at. Anybody can make
// one from another repository, with any words and any branch name: it points at
// nothing unless its author is authorised.
func (r Routing) choose() Target {
	if r.Links.ForeignHead && !r.Policy.Authorized(r.Item.Author) {
		return Target{}
	}
	var first Target
	for _, ref := range r.Links.Refs() {
		rec, watched := r.Items[ref.Key()]
		if !watched || ref.Key() == r.Item.Ref.Key() || !rec.Item.Known() || rec.Item.Ended() {
			continue
		}
		if conversation(rec, r.Host) != nil {
			return target(ref, rec)
		}
		if !first.Elsewhere() {
			first = target(ref, rec)
		}
	}
	return first
}

// target names an item as it was first spelled (D6).
func target(ref workitem.Ref, rec record.Record) Target {
	if first, err := workitem.ParseRef(rec.Item.Ref); err == nil {
		ref = first
	}
	return Target{Ref: ref, Record: rec}
}

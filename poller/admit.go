package poller

import (
	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// Admit decides whether an attempt may start, on the record as it stands when
// the worker is about to ask tmux (B8). ok means that the changes start it;
// otherwise they give the attempt back or settle the comment, and nothing may
// be sent. It is pure.
//
// rec is the record that the attempt is counted on, owner the one that the
// session belongs to: the same, but for a pull request's comment that goes into
// an issue's session (P3). others are the records of whatever else goes into that
// session, the owner's among them.
func Admit(rec, owner record.Record, others []record.Record, start record.Start, p policy.Policy) (changes []record.Change, ok bool) {
	if start.Comment == "" {
		return admitSpawn(rec, start, p)
	}
	row, known := rec.Comments.Get(start.Comment)
	if !known || row.Phase() != record.Queued {
		return nil, false // settled, released or started by somebody else
	}
	release := []record.Change{record.Release{Comment: row.ID, DeliveryID: row.DeliveryID}}
	switch outcome := refusal(rec, owner, row, start, p); {
	case outcome != "":
		return []record.Change{record.Settle{Note: record.Note{ID: row.ID}, Outcome: outcome}}, false
	case olderPending(rec, row), olderElsewhere(others, row):
		return release, false // the thread's order (B2, story 4)
	}
	return []record.Change{start}, true
}

// refusal returns the outcome that a comment is settled with instead of being
// sent, or empty.
func refusal(rec, owner record.Record, row record.Comment, start record.Start, p policy.Policy) string {
	switch {
	case !p.Authorized(workitem.Author{Login: row.Author, ID: row.AuthorID}):
		return record.Revoked
	case !rec.Item.Known():
		return record.ItemEnded
	case owner.Item.Ended() && start.On == record.OnNewPane:
		return record.ItemEnded // the item that a pull request belongs to is over
	case rec.Item.Ended() && (start.On == record.OnNewPane || row.At.After(rec.Item.EndedAt)):
		return record.ItemEnded // last words go to a session that lives, never to a new one (P8)
	}
	if outcome := halted(owner); outcome != "" {
		return outcome
	}
	switch s := owner.Session; {
	case s != nil && s.Status == record.Paused:
		return record.SessionPaused
	case start.On == record.OnNewPane && !mayBegin(owner, p):
		return record.AwaitingStart
	}
	return ""
}

func olderPending(rec record.Record, row record.Comment) bool {
	pending := rec.Comments.Pending()
	return len(pending) > 0 && pending[0].ID != row.ID
}

// olderElsewhere says that something older waits on another item of the session.
func olderElsewhere(others []record.Record, row record.Comment) bool {
	for _, rec := range others {
		if stray(rec) {
			continue
		}
		pending := rec.Comments.Pending()
		if len(pending) > 0 && pending[0].Position().Compare(row.Position()) < 0 {
			return true
		}
	}
	return false
}

// stray says of a pull request that its words go into a session of its own,
// whatever its link says (see Route).
func stray(rec record.Record) bool {
	return rec.Link != nil && rec.Link.Source != linkByHand && rec.Session.Open()
}

func admitSpawn(rec record.Record, start record.Start, p policy.Policy) ([]record.Change, bool) {
	spawn := rec.Item.Spawn
	if !spawn.InHand() || spawn.Started() {
		return nil, false
	}
	if !rec.Item.Known() || rec.Item.Ended() || !mayBegin(rec, p) {
		return []record.Change{record.Release{DeliveryID: spawn.DeliveryID}}, false
	}
	return []record.Change{start}, true
}

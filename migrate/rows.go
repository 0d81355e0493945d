package migrate

import (
	"theloop/record"
	"theloop/workitem"
)

// rows are the comment rows that a poll section becomes, in the order of the
// document: what was seen first. Old records say nothing of a comment but its
// id, so that the rows have no time and no author until the poller reads them.
func (b builder) rows(s *subject, p poll) []record.Comment {
	t := table{at: map[string]int{}, rows: make([]record.Comment, 0, len(p.seen)+len(p.gaveUp)+len(p.attempts)+len(s.told))}
	for _, id := range p.seen {
		t.row(id)
	}
	for _, id := range p.gaveUp {
		row := t.row(id)
		row.State, row.Outcome, row.Version = record.GaveUp, "", p.version
		if b.keepGiveUps {
			row.Version = b.version // as if this release had given it up (B7)
		}
	}
	for _, id := range sortedKeys(p.attempts) {
		_, resolved := t.at[sameComment(id)] // seen and attempted: resolved wins
		row := t.row(id)
		row.Attempts = p.attempts[id]
		if !resolved {
			row.State, row.Outcome, row.MayRepeat = record.Pending, "", row.Attempts > 0
		}
	}
	for _, id := range s.told {
		t.row(id)
	}
	for i := range t.rows {
		row := &t.rows[i]
		if b.all.wasDelivered(s.ref, row.ID) { // proof, whatever else is said
			row.State, row.Outcome, row.Version, row.MayRepeat = record.Delivered, "", "", false
			row.DeliveryID = record.CommentDeliveryID(row.ID)
		}
	}
	return t.rows
}

// table makes one row for each comment, however its id is written.
type table struct {
	rows []record.Comment
	at   map[string]int
}

// row returns the row of a comment; a new one is baselined.
func (t *table) row(id string) *record.Comment {
	key := sameComment(id)
	i, known := t.at[key]
	if !known {
		i = len(t.rows)
		t.at[key] = i
		t.rows = append(t.rows, record.Comment{
			ID: id, State: record.Baselined, Outcome: record.Imported, Seq: uint64(i) + 1,
		})
	}
	return &t.rows[i]
}

// retries are the comments of an item that will be tried at the first start.
func (b builder) retries(ref workitem.Ref, p poll, rows []record.Comment) []Retry {
	var retries []Retry
	for _, row := range rows {
		gaveUp := row.State == record.GaveUp
		if row.State != record.Pending && (!gaveUp || b.keepGiveUps) {
			continue
		}
		retries = append(retries, Retry{
			Ref: ref.String(), Comment: row.ID, Attempts: row.Attempts, MayRepeat: row.MayRepeat,
			GaveUp: gaveUp, Version: row.Version, PolledAt: p.polledAt,
		})
	}
	return retries
}

package session

import (
	"context"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// What a conversation that goes on is told of the starts before the last one (X6):
// each of them was said to bring the session up, and only the last is recorded.

// findEarlier takes the starts that no session has heard, but for the one at note:
// those said since the session was last heard of, and behind the last command that
// stopped it. Their rows say that they were obeyed; words that a session was there to
// hear were delivered. A comment has the tracker's time and the session this machine's:
// where the clocks differ by more than it takes to come up, one start may be told to two
// lives of the session, or to none.
func (j *job) findEarlier(ctx context.Context, v view, note string) error {
	if v.session == nil {
		return nil
	}
	stories, err := j.commanded(ctx, v, v.session.LastEventAt)
	if err != nil {
		return err
	}
	var commands []workitem.Comment
	halts := map[string]bool{}
	for _, s := range stories {
		for _, c := range s.Thread {
			row, known := s.rec.Comments.Get(c.ID)
			if !known || !obeyed(row, v.session.LastEventAt) || c.URL == note && note != "" {
				continue
			}
			arming := (&record.Control{Command: row.Ran}).Arming()
			if arming && (row.SHA256 != record.TextHash(c.Body) || TooLong(c.Body) || !j.Authorized(c.Author)) {
				continue // as the one that started it (A5, A6, A7)
			}
			halts[c.ID] = !arming
			commands = append(commands, c)
		}
	}
	workitem.SortThread(commands)
	for _, c := range commands {
		if j.earlier = append(j.earlier, c); halts[c.ID] {
			j.earlier = nil
		}
	}
	return nil
}

// obeyed reports whether a row is of a command that was obeyed since then, and that had
// nothing to be delivered.
func obeyed(row record.Comment, since time.Time) bool {
	return row.State == record.Settled && row.Outcome == record.ControlExecuted && row.At.After(since)
}

// commanded are the stories of what goes into the session where commands were obeyed
// since then; the others are not asked for.
func (j *job) commanded(ctx context.Context, v view, since time.Time) ([]pullStory, error) {
	some := func(rec record.Record) bool {
		for _, row := range rec.Comments.All() {
			if obeyed(row, since) {
				return true
			}
		}
		return false
	}
	stories := []pullStory{{Story: j.story, rec: v.rec}}
	if j.Tell == nil {
		return stories, nil
	}
	if j.elsewhere() && some(v.owner) {
		owner, err := j.readOwner(ctx, v)
		if err != nil {
			return nil, err
		}
		stories = append(stories, owner)
	}
	linked, err := j.Ledger.Linked(ctx, j.session)
	if err != nil {
		j.Log.Debug("not all pull requests of a session can be read", "work_item", j.session.String(), "error", err)
	}
	for _, ref := range linked {
		if rec, err := j.Ledger.Record(ctx, ref); err == nil && ref.Key() != j.ref.Key() && some(rec) {
			return append(stories, j.readPulls(ctx)...), nil
		}
	}
	return stories, nil
}

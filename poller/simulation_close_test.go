package poller

import (
	"time"

	"theloop/record"
)

// beginClose commits the deadline of a close that has something to end.
func (s *sim) beginClose(t *task, rec record.Record, pane record.Pane) bool {
	if t.lapsed(rec) {
		return false
	}
	if pane.State != record.PaneLive {
		return s.shut(t)
	}
	t.stage = acting
	return s.update(t.e.Ref, func(rec record.Record) []record.Change {
		row := s.alive(rec)[0].(record.PutSession)
		row.Session.Status, row.Session.Until = record.Shut, s.now.Add(28*time.Second).Truncate(time.Second)
		if rec.Session != nil {
			row.Session.Status, row.Session.EndedAt = rec.Session.Status, rec.Session.EndedAt
		}
		return []record.Change{row}
	})
}

func (t *task) lapsed(rec record.Record) bool {
	switch t.e.Reason {
	case "stopped":
		return rec.Item.Control == nil || rec.Item.Control.Arming()
	case "ended":
		return rec.Item.EndedAt.IsZero()
	}
	return false
}

func (s *sim) actClose(t *task, how string) bool {
	p := s.tmux[t.session().Key()]
	if s.silent || how == "never" || how == "late" {
		return false
	}
	if p.state == record.PaneLive {
		p.end(s.keeps)
	}
	return how == "ok" && s.shut(t)
}

func (s *sim) shut(t *task) bool {
	s.update(t.e.Ref, func(rec record.Record) []record.Change {
		row := rec.Session
		if row == nil || row.Status == record.Shut && row.Until.IsZero() {
			return nil
		}
		closed := *row
		if closed.Until = (time.Time{}); row.Status == record.Shut && row.EndedAt.IsZero() {
			closed.EndedAt = s.now
		}
		return []record.Change{record.PutSession{Session: closed}, record.SetStatus{Status: record.Shut, At: s.now}}
	})
	return false
}

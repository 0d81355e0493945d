package poller

import (
	"theloop/record"
	"theloop/workitem"
)

// notices asks for the notices that are owed, each once a run (B3). It reports
// whether one is still owed that can be posted.
func (d *decider) notices() bool {
	owed := false
	rows := d.rec().Comments.All()
	for i := range rows { // by index: few owe one, and rows are large
		if rows[i].Notice == record.NoticeOwed {
			owed = true
			d.notice(rows[i].ID)
		}
	}
	if d.rec().Item.Spawn.Notice == record.NoticeOwed {
		owed = true
		d.notice("")
	}
	return owed && !d.f.Gone
}

func (d *decider) notice(comment string) {
	id := noticeID(d.rec(), comment)
	if !d.f.Noticed[id] && !d.f.Gone {
		d.effect(Effect{Kind: DoNotice, ID: id, Comment: workitem.Comment{ID: comment}})
	}
}

// noticeID names a notice: by its comment or, of the spawn, by the last attempt,
// since a spawn may be given up more than once in a run (B6).
func noticeID(rec record.Record, comment string) string {
	if comment == "" {
		comment = rec.Item.Spawn.DeliveryID
	}
	return "notice " + comment
}

// owesNotice says that a notice of an item is owed and was not tried in this
// run.
func (p *Poller) owesNotice(rec record.Record) bool {
	tried := p.noticed[refKey(rec)]
	if rec.Item.Spawn.Notice == record.NoticeOwed && !tried[noticeID(rec, "")] {
		return true
	}
	if rec.Item.Counts.GaveUp+rec.Item.Counts.Settled == 0 {
		return false
	}
	for _, row := range rec.Comments.All() {
		if row.Notice == record.NoticeOwed && !tried[noticeID(rec, row.ID)] {
			return true
		}
	}
	return false
}

func refKey(rec record.Record) string {
	ref, err := workitem.ParseRef(rec.Item.Ref)
	if err != nil {
		return ""
	}
	return ref.Key()
}

// triedNotice remembers that a notice was asked for in this run.
func (p *Poller) triedNotice(e Effect) {
	key := e.Ref.Key()
	if p.noticed[key] == nil {
		p.noticed[key] = map[string]bool{}
	}
	p.noticed[key][e.ID] = true
}

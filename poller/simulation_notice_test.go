package poller

import "theloop/record"

// post is one notice on its way: the thread is read first, so that it stands
// there once for each give-up, also across a kill (B3, story 19).
func (s *sim) post(how string) {
	if len(s.posts) == 0 {
		return
	}
	e := s.posts[0]
	s.posts = s.posts[1:]
	rec, id := s.records[e.Ref.Key()], e.Comment.ID
	if notice(rec, id) != record.NoticeOwed || how == "fails" {
		return
	}
	row, _ := rec.Comments.Get(id)
	marker := owner(e.Ref, id) + " " + row.Version
	if id == "" {
		marker = rec.Item.Spawn.DeliveryID + " " + rec.Item.Spawn.Version
	}
	s.note("  the notice of %s is posted, and %s", marker, how)
	s.posted[marker] = true
	if how == "ok" {
		s.update(e.Ref, func(record.Record) []record.Change { return []record.Change{record.PostNotice{Comment: id}} })
	}
}

// notice is what stands of a notice in the row of a comment, or of the spawn.
func notice(rec record.Record, comment string) string {
	if comment == "" {
		return rec.Item.Spawn.Notice
	}
	row, _ := rec.Comments.Get(comment)
	return row.Notice
}

// owes says that some notice of an item is owed.
func owes(rec record.Record) bool {
	owed := rec.Item.Spawn.Notice == record.NoticeOwed
	for _, row := range rec.Comments.All() {
		owed = owed || row.Notice == record.NoticeOwed
	}
	return owed
}

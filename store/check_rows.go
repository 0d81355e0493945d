package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"theloop/record"
	"theloop/workitem"
)

// readAll copies everything there is of an item, its index entries included.
func readAll(rows *tapes, key []byte) rawRecord {
	raw := readItem(rows, key)
	raw.comments = readComments(rows, raw.key)
	c := &rows.open
	for c.to([]byte(raw.key)); c.key != nil && itemOf(c.key) == raw.key; c.next() {
		raw.open = append(raw.open, string(c.key))
	}
	return raw
}

// problems holds the rows of one item against each other.
func (raw rawRecord) problems() (found []Problem) {
	add := func(bucket, key, format string, args ...any) {
		found = append(found, Problem{bucket, key, fmt.Sprintf(format, args...)})
	}
	rec, err := raw.decode()
	if err != nil {
		for _, part := range raw.parts() {
			var bad *RowError
			if _, err := part.decode(); errors.As(err, &bad) {
				add(bad.Bucket, bad.Key, "%v", bad.Err)
			}
		}
		return found // the rest would only be what follows from it
	}
	raw.checkItem(rec, add)
	raw.checkComments(rec, add)
	raw.checkIndex(rec, add)
	return found
}

// parts is the rows one at a time, so that each that does not decode is named.
func (raw rawRecord) parts() []rawRecord {
	all := []rawRecord{
		{key: raw.key, item: raw.item}, {key: raw.key, session: raw.session}, {key: raw.key, link: raw.link},
	}
	for _, c := range raw.comments {
		all = append(all, rawRecord{key: raw.key, comments: []rawComment{c}})
	}
	return all
}

type addFunc func(bucket, key, format string, args ...any)

func (raw rawRecord) checkItem(rec record.Record, add addFunc) {
	if raw.item == nil {
		if raw.link != nil || len(raw.comments) > 0 || len(raw.open) > 0 && !rec.Session.Open() {
			add(itemsBucket, raw.key, "it is missing, other rows of it are there")
		}
		return
	}
	if ref, err := workitem.ParseRef(rec.Item.Ref); err != nil || ref.Key() != raw.key {
		add(itemsBucket, raw.key, "it is the row of %q", rec.Item.Ref)
	}
	if rec.Item.Rev == 0 {
		add(itemsBucket, raw.key, "it has no revision")
	}
	if counts := count(rec.Comments.All()); counts != rec.Item.Counts {
		add(itemsBucket, raw.key, "it counts %+v, its comments are %+v", rec.Item.Counts, counts)
	}
	switch s := rec.Session; {
	case s == nil:
	case s.Status != record.Active && s.Status != record.Paused && s.Status != record.Shut:
		add(sessionsBucket, raw.key, "its status is %q", s.Status)
	}
}

func count(rows []record.Comment) (n record.Counts) {
	for _, row := range rows {
		switch row.State {
		case record.Baselined:
			n.Baselined++
		case record.Pending:
			n.Pending++
		case record.Delivered:
			n.Delivered++
		case record.Settled:
			n.Settled++
		case record.GaveUp:
			n.GaveUp++
		}
	}
	return n
}

func (raw rawRecord) checkComments(rec record.Record, add addFunc) {
	ids := make(map[string]string, len(raw.comments)) // id in the key by id in the value
	for _, c := range raw.comments {
		id, _ := commentOf(c.key)
		row, _ := c.decode()
		ids[row.ID] = id
		if row.ID != id {
			add(commentsBucket, c.key, "it is the row of comment %q", row.ID)
		}
	}
	var last uint64
	for _, row := range rec.Comments.All() {
		key := commentKey(raw.key, ids[row.ID])
		if row.Seq <= last {
			add(commentsBucket, key, "its seq %d is not its own", row.Seq)
		}
		last = row.Seq
		if text := illegal(row); text != "" {
			add(commentsBucket, key, "%s", text)
		}
	}
}

// illegal says why no sequence of changes leads to such a row.
func illegal(row record.Comment) string {
	switch row.State {
	case record.Pending:
	case record.Baselined, record.Delivered, record.Settled, record.GaveUp:
		if row.InHand() || row.Started() {
			return fmt.Sprintf("it is %s and has an attempt in hand", row.State)
		}
	default:
		return fmt.Sprintf("its state is %q", row.State)
	}
	switch {
	case row.Started() && !row.InHand():
		return "an attempt has started that is not in hand"
	case row.Attempts < 0:
		return fmt.Sprintf("it counts %d attempts", row.Attempts)
	case !slices.Contains([]string{"", record.NoticeOwed, record.NoticePosted}, row.Notice):
		return fmt.Sprintf("its notice is %q", row.Notice)
	}
	return ""
}

// checkIndex holds the open bucket against what it indexes.
func (raw rawRecord) checkIndex(rec record.Record, add addFunc) {
	want := make(map[string]bool)
	if unfinished(rec) {
		want[raw.key] = true
	}
	for _, row := range rec.Comments.All() {
		if row.State == record.Pending {
			want[commentKey(raw.key, row.ID)] = true
		}
	}
	for _, key := range raw.open {
		if !want[key] {
			add(openBucket, key, "it is there for something that is not open")
		}
		delete(want, key)
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		add(openBucket, key, "it is missing")
	}
}

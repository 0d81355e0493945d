package migrate

import (
	"maps"
	"slices"
	"time"

	"theloop/record"
)

// verdict is what becomes of one item that the files want.
type verdict struct {
	// changes are to be committed; none when the ledger has it all.
	changes []record.Change
	// differs names the parts that ledger and files differ about.
	differs []string
	// record says that the record is written, session and link that those rows
	// are.
	record, session, link bool
}

// weigh holds what the files want against what the ledger has (pure). Without
// overwrite the ledger wins.
func weigh(w *wanted, have record.Record, overwrite bool) verdict {
	want := w.rec
	if have.Item.Ref == "" {
		return fresh(w, have)
	}
	if overwrite {
		want = overlay(want, have)
	}
	v := verdict{differs: differences(have, want)}
	switch {
	case len(v.differs) == 0:
		return v.complete(want, have)
	case !overwrite:
		return v
	}
	v.changes = []record.Change{record.Import{
		Item: want.Item, Comments: want.Comments.All(), Session: want.Session, Link: want.Link, Overwrite: true,
	}}
	v.record = w.isRecord
	v.session = w.rec.Session != nil
	v.link = w.rec.Link != nil
	return v
}

// fresh writes an item that the ledger does not know. A closed session row may
// have outlived it.
func fresh(w *wanted, have record.Record) verdict {
	session := w.rec.Session
	if session == nil {
		session = have.Session
	}
	return verdict{
		changes: []record.Change{record.Import{
			Item: w.rec.Item, Comments: w.rec.Comments.All(), Session: session, Link: w.rec.Link,
		}},
		record: w.isRecord, session: w.rec.Session != nil, link: w.rec.Link != nil,
	}
}

// complete adds the rows beside an item that the ledger has none of, as after an
// import without sessions.
func (v verdict) complete(want, have record.Record) verdict {
	if want.Session != nil && have.Session == nil {
		v.changes = append(v.changes, record.PutSession{Session: *want.Session})
		v.session = true
	}
	if want.Link != nil && have.Link == nil {
		v.changes = append(v.changes, record.PutLink{Link: *want.Link})
		v.link = true
	}
	return v
}

// differences names what the ledger says otherwise. That it polled later is none.
func differences(have, want record.Record) []string {
	polledAt := want.Item.ReadAt
	if have.Item.ReadAt.Before(polledAt) {
		polledAt = have.Item.ReadAt
	}
	differs := differingKeys(formed(have, polledAt), formed(want, want.Item.ReadAt))
	if h, w := have.Session, want.Session; h != nil && w != nil && !sameHandle(*h, *w) {
		differs = append(differs, "session")
	}
	if h, w := have.Link, want.Link; h != nil && w != nil && (h.Target != w.Target || h.Ended != w.Ended) {
		differs = append(differs, "link")
	}
	return differs
}

func differingKeys(a, b object) []string {
	keys := map[string]bool{}
	for _, o := range []object{a, b} {
		for key := range o {
			if equalJSON(a[key], b[key]) {
				continue
			}
			if key == pollKey && isObject(a[key]) && isObject(b[key]) {
				x, _ := asObject(a[key])
				y, _ := asObject(b[key])
				for _, part := range differingKeys(x, y) {
					keys[pollKey+"."+part] = true
				}
				continue
			}
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys))
}

// overlay is what the ledger holds when the files win: their word counts, but
// what the ledger knows beside it stays. Nothing that it has finished with is
// unfinished again, and no spawn has the number of another.
func overlay(want, have record.Record) record.Record {
	i := have.Item
	i.URL, i.Control, i.Graph, i.Sections, i.Extra = want.Item.URL, want.Item.Control, want.Item.Graph, want.Item.Sections, want.Item.Extra
	i.FirstSeenAt, i.EndedAt, i.ReadAt = want.Item.FirstSeenAt, want.Item.EndedAt, want.Item.ReadAt
	i.UpdatedAt = time.Time{} // to be looked at anew
	if i.Source == "" {       // what is left of an item that had ended names none
		i.Source = want.Item.Source
	}
	n := i.Spawn.N
	i.Spawn = want.Item.Spawn
	i.Spawn.N = n
	if want.Item.LateUntil.After(i.LateUntil) {
		i.LateUntil = want.Item.LateUntil
	}
	if want.Item.InlineUntil.After(i.InlineUntil) {
		i.InlineUntil = want.Item.InlineUntil
	}
	out := record.Record{Item: i, Session: want.Session, Link: want.Link}
	if out.Session == nil {
		out.Session = have.Session
	}
	if out.Link == nil {
		out.Link = have.Link
	}
	if want.Item.Sealed() {
		return out
	}
	out.Comments = record.NewThread(overlayRows(want.Comments, have.Comments))
	return out
}

func overlayRows(want, have record.Thread) []record.Comment {
	var rows []record.Comment
	seen := map[string]bool{}
	add := func(row record.Comment) {
		row.Seq = uint64(len(rows)) + 1
		rows = append(rows, row)
		seen[sameComment(row.ID)] = true
	}
	for _, row := range want.All() {
		if old, ok := have.Get(row.ID); ok && old.State != record.Pending && old.State != record.GaveUp {
			old.ID = row.ID
			row = old
		}
		add(row)
	}
	for _, row := range have.All() {
		if !seen[sameComment(row.ID)] {
			add(row)
		}
	}
	return rows
}

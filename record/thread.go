package record

import (
	"cmp"
	"maps"
	"slices"

	"theloop/workitem"
)

// Thread is the comment rows of an item in the order they were made (Seq).
// The zero Thread is empty.
type Thread struct {
	rows []Comment
	byID map[string]int
	byDB map[databaseID]int
	// shared says that somebody else reads the same rows: they are copied before
	// the first of them changes.
	shared bool
}

type databaseID struct {
	kind string
	n    int64
}

// NewThread returns the rows as a Thread, in the order of Seq. The caller must not
// write into them any more.
func NewThread(rows []Comment) Thread {
	t := Thread{rows: rows, shared: true}
	if !slices.IsSortedFunc(rows, bySeq) {
		t = Thread{rows: slices.Clone(rows)}
		slices.SortFunc(t.rows, bySeq)
	}
	t.index()
	return t
}

func bySeq(a, b Comment) int { return cmp.Compare(a.Seq, b.Seq) }

func (t *Thread) index() {
	t.byID = make(map[string]int, len(t.rows))
	t.byDB = make(map[databaseID]int, len(t.rows))
	for i, row := range t.rows {
		t.note(i, row.ID)
	}
}

func (t *Thread) note(i int, id string) {
	t.byID[id] = i
	if kind, n, ok := workitem.DatabaseID(id); ok {
		t.byDB[databaseID{kind, n}] = i
	}
}

func (t Thread) clone() Thread {
	return Thread{rows: slices.Clone(t.rows), byID: maps.Clone(t.byID), byDB: maps.Clone(t.byDB)}
}

// Len returns how many rows there are.
func (t Thread) Len() int { return len(t.rows) }

// All returns the rows in Seq order; the caller must not write into them.
func (t Thread) All() []Comment { return t.rows }

// Get returns the row of the comment with this id, in either generation of the
// tracker's ids (P4).
func (t Thread) Get(id string) (Comment, bool) {
	if i, ok := t.find(id); ok {
		return t.rows[i], true
	}
	return Comment{}, false
}

func (t Thread) find(id string) (int, bool) {
	if i, ok := t.byID[id]; ok {
		return i, true
	}
	if kind, n, ok := workitem.DatabaseID(id); ok {
		i, ok := t.byDB[databaseID{kind, n}]
		return i, ok
	}
	return 0, false
}

// Pending returns the unresolved rows in thread order (P2): oldest first.
func (t Thread) Pending() []Comment {
	var open []Comment
	for i := range t.rows { // by index: most are resolved, and rows are large
		if t.rows[i].State == Pending {
			open = append(open, t.rows[i])
		}
	}
	slices.SortFunc(open, func(a, b Comment) int { return a.Position().Compare(b.Position()) })
	return open
}

func (t *Thread) put(row Comment) {
	if t.shared {
		*t = t.clone()
	}
	if i, ok := t.find(row.ID); ok {
		t.rows[i] = row
		return
	}
	if n := len(t.rows); n > 0 {
		row.Seq = t.rows[n-1].Seq + 1
	} else {
		row.Seq = 1
	}
	t.rows = append(t.rows, row)
	if t.byID == nil {
		t.index()
		return
	}
	t.note(len(t.rows)-1, row.ID)
}

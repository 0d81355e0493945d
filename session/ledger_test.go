package session

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// memory is a ledger over record.Apply. before runs ahead of a commit and may
// change the record under it, or fail the commit; after fails it once it was
// applied.
type memory struct {
	t interface {
		Helper()
		Fatalf(string, ...any)
	}
	mu      sync.Mutex
	records map[string]record.Record
	commits int
	before  func([]record.Change) error
	after   func([]record.Change) error
}

func newMemory(t testing.TB) *memory {
	return &memory{t: t, records: map[string]record.Record{}}
}

func (m *memory) Record(_ context.Context, ref workitem.Ref) (record.Record, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.records[ref.Key()], nil
}

func (m *memory) Commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change) ([]record.Change, error) {
	applied, _, err := m.commit(ctx, changes, write{ref, rev, changes})
	return applied, err
}

func (m *memory) CommitBoth(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change,
	target workitem.Ref, targetRev uint64, targetChanges []record.Change,
) (applied, targetApplied []record.Change, err error) {
	return m.commit(ctx, append(append([]record.Change{}, changes...), targetChanges...),
		write{ref, rev, changes}, write{target, targetRev, targetChanges})
}

type write struct {
	ref     workitem.Ref
	rev     uint64
	changes []record.Change
}

func (m *memory) commit(ctx context.Context, all []record.Change, writes ...write) (first, second []record.Change, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	if m.before != nil {
		if err := m.before(all); err != nil {
			return nil, nil, err
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	applied, after := make([][]record.Change, 2), map[string]record.Record{}
	for i, w := range writes {
		rec := m.records[w.ref.Key()]
		if rec.Item.Rev != w.rev {
			return nil, nil, record.ErrChanged
		}
		changed, done, err := record.Apply(rec, w.changes)
		if err != nil {
			m.t.Fatalf("an illegal commit: %v", err)
		}
		applied[i], after[w.ref.Key()] = done, changed
	}
	for key, rec := range after {
		m.records[key] = rec
	}
	m.commits++
	if m.after != nil {
		if err := m.after(all); err != nil {
			return nil, nil, err
		}
	}
	return applied[0], applied[1], nil
}

func (m *memory) Linked(_ context.Context, target workitem.Ref) ([]workitem.Ref, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var refs []workitem.Ref
	for _, rec := range m.records {
		if rec.Link != nil && strings.EqualFold(rec.Link.Target, target.String()) {
			ref, err := workitem.ParseRef(rec.Item.Ref)
			if err != nil {
				return nil, err
			}
			refs = append(refs, ref)
		}
	}
	return refs, nil
}

// put changes a record as somebody else would.
func (m *memory) put(ref workitem.Ref, changes ...record.Change) {
	m.t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	rec, _, err := record.Apply(m.records[ref.Key()], changes)
	if err != nil {
		m.t.Fatalf("%v", err)
	}
	m.records[ref.Key()] = rec
}

func (m *memory) get(ref workitem.Ref) record.Record {
	rec, _ := m.Record(context.Background(), ref)
	return rec
}

func (m *memory) row(ref workitem.Ref, id string) record.Comment {
	row, _ := m.get(ref).Comments.Get(id)
	return row
}

// once lets f answer the first commit that holds a change of f's choice.
func once(is func(record.Change) bool, then func() error) func([]record.Change) error {
	done := false
	return func(changes []record.Change) error {
		for _, c := range changes {
			if !done && is(c) {
				done = true
				return then()
			}
		}
		return nil
	}
}

func isDeliver(c record.Change) bool { _, ok := c.(record.Deliver); return ok }

var errDisk = errors.New("no space left on device")

// admit is a small version of what decides on starts: the oldest pending comment
// of an item that is known, armed and not ended.
func admit(a Admission) ([]record.Change, bool) {
	id := a.Start.Comment
	release := []record.Change{record.Release{Comment: id, DeliveryID: a.Item.Item.Spawn.DeliveryID}}
	settle := func(outcome string) ([]record.Change, bool) {
		if id == "" {
			return release, false
		}
		return []record.Change{record.Settle{Note: record.Note{ID: id}, Outcome: outcome}}, false
	}
	if id != "" {
		row, _ := a.Item.Comments.Get(id)
		release = []record.Change{record.Release{Comment: id, DeliveryID: row.DeliveryID}}
	}
	switch control := a.Session.Item.Control; {
	case !a.Item.Item.EndedAt.IsZero() && a.Start.On == record.OnNewPane:
		return settle(record.ItemEnded)
	case control != nil && !control.Arming():
		return settle(record.SessionStopped)
	case id != "" && a.Item.Comments.Pending()[0].ID != id:
		return release, false
	}
	return []record.Change{a.Start}, true
}

// clock is a time that only the test moves.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

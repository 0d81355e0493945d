package migrate_test

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	"theloop/migrate"
	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

// ledger is what the properties need of one.
type ledger interface {
	migrate.Ledger
	migrate.Reader
	Commit(context.Context, workitem.Ref, uint64, []record.Change) ([]record.Change, error)
	Commits() uint64
}

// memory is a ledger without a disk: record.Apply, and rows as JSON, as they
// stand in the file. Most rounds of a property run on it, the others on the
// real one.
type memory struct {
	t       interface{ Fatalf(string, ...any) }
	rows    map[string][]byte
	commits uint64
}

// row is everything of one item.
type row struct {
	Item     record.Item
	Comments []record.Comment
	Session  *record.Session
	Link     *record.Link
}

func (m *memory) Record(_ context.Context, ref workitem.Ref) (record.Record, error) {
	var r row
	if data, ok := m.rows[ref.Key()]; ok {
		if err := json.Unmarshal(data, &r); err != nil {
			m.t.Fatalf("row of %s: %v", ref, err)
		}
	}
	return record.Record{Item: r.Item, Comments: record.NewThread(r.Comments), Session: r.Session, Link: r.Link}, nil
}

func (m *memory) Empty(context.Context) (bool, error) { return len(m.rows) == 0, nil }

func (m *memory) Batch(ctx context.Context, writes []store.Write) error {
	m.commits++
	for _, w := range writes {
		rec, _ := m.Record(ctx, w.Ref)
		after, _, err := record.Apply(rec, w.Changes)
		if err != nil || rec.Item.Rev != w.Rev {
			m.t.Fatalf("write %s at %d, which is at %d: %v", w.Ref, w.Rev, rec.Item.Rev, err)
		}
		if after.Item.Ref == "" {
			after.Item.Ref = w.Ref.String()
		}
		data, err := json.Marshal(row{after.Item, after.Comments.All(), after.Session, after.Link})
		if err != nil {
			m.t.Fatalf("row of %s: %v", w.Ref, err)
		}
		m.rows[w.Ref.Key()] = data
	}
	return nil
}

func (m *memory) Commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change) ([]record.Change, error) {
	return changes, m.Batch(ctx, []store.Write{{Ref: ref, Rev: rev, Changes: changes}})
}

func (m *memory) FinishImport(context.Context, time.Time) error { m.commits++; return nil }

func (m *memory) Commits() uint64 { return m.commits }

func (m *memory) Sources(context.Context) (map[string]record.SourceRow, error) { return nil, nil }

func (m *memory) Items(ctx context.Context) iter.Seq2[record.Record, error] {
	return func(yield func(record.Record, error) bool) {
		keys := make([]string, 0, len(m.rows))
		for key := range m.rows {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			ref, err := workitem.ParseRef(key)
			if err != nil {
				m.t.Fatalf("%v", err)
			}
			rec, _ := m.Record(ctx, ref)
			rec.Comments = record.Thread{}
			if !yield(rec, nil) {
				return
			}
		}
	}
}

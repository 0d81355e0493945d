package store_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

// TestModel holds the ledger against record.Apply in memory: random changes to
// several items, legal and illegal, current and stale, with restarts between
// them. After every step each record and the index of what is open agree with
// the model, and the check of the file finds nothing (F1, F6, F7, B4).
func TestModel(t *testing.T) {
	dir := t.TempDir()
	files := 0
	rapid.Check(t, func(t *rapid.T) {
		files++
		m := &model{t: t, path: filepath.Join(dir, fmt.Sprint(files)), records: map[string]record.Record{}}
		m.reopen()
		defer func() { _ = m.l.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"":        m.compare,
			"commit":  m.commit,
			"stale":   m.stale,
			"both":    m.both,
			"batch":   m.batch,
			"release": m.release,
			"forget":  m.forget,
			"expire":  m.expire,
			"cycle":   m.cycle,
			"reopen":  func(*rapid.T) { m.reopen() },
		})
		m.check()
	})
}

type model struct {
	t       *rapid.T
	path    string
	l       *store.Ledger
	records map[string]record.Record
	cycles  []record.Cycle
}

func (m *model) reopen() {
	if m.l != nil {
		m.check()
		m.ok(m.l.Close())
	}
	opts := options(m.path)
	opts.Now = func() time.Time { return noon }
	l, err := store.Open(m.t.Context(), opts)
	m.ok(err)
	m.l = l
}

func (m *model) ok(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

// write is one random write and what the model makes of it.
func (m *model) write(t *rapid.T, r workitem.Ref) (w store.Write, after record.Record, applied []record.Change, err error) {
	before := m.records[r.Key()]
	w = store.Write{Ref: r, Rev: before.Item.Rev, Changes: drawChanges(t, r, before)}
	after, applied, err = record.Apply(before, w.Changes)
	if err == nil && len(applied) > 0 && after.Item.Ref == "" {
		after.Item.Ref = r.String()
	}
	return w, after, applied, err
}

func (m *model) commit(t *rapid.T) {
	w, after, want, wantErr := m.write(t, drawRef(t))
	commits := m.l.Commits()
	got, err := m.l.Commit(t.Context(), w.Ref, w.Rev, w.Changes)
	if !sameError(wantErr, err) {
		t.Fatalf("commit %v: %v, the model says %v", w.Changes, err, wantErr)
	}
	if len(got) != len(want) {
		t.Fatalf("applied %v, the model says %v", got, want)
	}
	if made := m.l.Commits() - commits; made != uint64(min(1, len(want))) { // F6
		t.Fatalf("%d transactions for %d changes that applied", made, len(want))
	}
	if err == nil {
		m.records[w.Ref.Key()] = after
	}
}

func sameError(want, got error) bool {
	return want == nil && got == nil || errors.Is(want, record.ErrIllegal) && errors.Is(got, record.ErrIllegal)
}

// stale: a decision on another revision changes nothing (F7).
func (m *model) stale(t *rapid.T) {
	r := drawRef(t)
	rev := m.records[r.Key()].Item.Rev + rapid.SampledFrom([]uint64{1, 2, ^uint64(0)}).Draw(t, "off")
	if _, err := m.l.Commit(t.Context(), r, rev, []record.Change{record.Withhold{Author: "x"}}); !errors.Is(err, record.ErrChanged) {
		t.Fatalf("a commit on revision %d: %v", rev, err)
	}
}

// both: two items in one transaction, or neither.
func (m *model) both(t *rapid.T) {
	refs := rapid.Permutation(refs()).Draw(t, "refs")
	a, afterA, appliedA, errA := m.write(t, refs[0])
	b, afterB, appliedB, errB := m.write(t, refs[1])
	gotA, gotB, err := m.l.CommitBoth(t.Context(), a.Ref, a.Rev, a.Changes, b.Ref, b.Rev, b.Changes)
	if want := errors.Join(errA, errB); !sameError(want, err) {
		t.Fatalf("%v, the model says %v", err, want)
	}
	if err != nil {
		return
	}
	if len(gotA) != len(appliedA) || len(gotB) != len(appliedB) {
		t.Fatalf("applied %v and %v, the model says %v and %v", gotA, gotB, appliedA, appliedB)
	}
	m.records[a.Ref.Key()], m.records[b.Ref.Key()] = afterA, afterB
}

func (m *model) batch(t *rapid.T) {
	var writes []store.Write
	after := map[string]record.Record{}
	var bad error
	for _, r := range rapid.Permutation(refs()).Draw(t, "refs") {
		w, rec, _, err := m.write(t, r)
		writes, bad = append(writes, w), errors.Join(bad, err)
		after[r.Key()] = rec
	}
	err := m.l.Batch(t.Context(), writes)
	if !sameError(bad, err) {
		t.Fatalf("%v, the model says %v", err, bad)
	}
	if err == nil {
		m.records = after
	}
}

// release: each that is still held unstarted comes back once (B4).
func (m *model) release(t *rapid.T) {
	var held, want []record.Held
	for range rapid.IntRange(0, 6).Draw(t, "held") {
		r := drawRef(t)
		rec := m.records[r.Key()]
		id := rapid.SampledFrom(append(commentIDs(), "")).Draw(t, "id")
		change := record.Release{Comment: id, DeliveryID: deliveryID(id, rec)}
		held = append(held, record.Held{Ref: r.String(), DeliveryID: change.DeliveryID})
		after, applied, err := record.Apply(rec, []record.Change{change})
		m.ok(err)
		if len(applied) > 0 {
			want = append(want, held[len(held)-1])
			after.Item.Rev = rec.Item.Rev // one commit for all of an item, below
			m.records[r.Key()] = after
		}
	}
	for _, key := range distinctKeys(want) {
		rec := m.records[key]
		rec.Item.Rev++
		m.records[key] = rec
	}
	got, err := m.l.Release(t.Context(), held)
	m.ok(err)
	if !slices.Equal(want, got) {
		t.Fatalf("released %v, the model says %v", got, want)
	}
}

func distinctKeys(held []record.Held) (keys []string) {
	for _, h := range held {
		r, _ := workitem.ParseRef(h.Ref)
		keys = append(keys, r.Key())
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// forget: the model's own idea of ForgetAll (P8).
func (m *model) forget(t *rapid.T) {
	refs := rapid.Permutation(refs()).Draw(t, "refs")[:rapid.IntRange(1, 2).Draw(t, "n")]
	after := map[string]record.Record{}
	bad := false
	for _, r := range refs {
		rec := m.records[r.Key()]
		next := record.Record{Session: rec.Session}
		if rec.Session == nil && rec.Item.Spawn.N > 0 { // its panes are of a life before
			next.Session = &record.Session{Status: record.Shut, CreatedAt: rec.Item.FirstSeenAt, EndedAt: noon}
		}
		if n := rec.Item.Spawn.N; n > 0 && n > next.Session.Spawns { // their numbers go on
			kept := *next.Session
			kept.Spawns, next.Session = n, &kept
		}
		if rec.Item.Rev > 0 && !rec.Session.Open() && !rec.Item.EndedAt.IsZero() {
			var err error
			next, _, err = record.Apply(rec, []record.Change{record.Forget{}})
			m.ok(err)
		}
		bad = bad || rec.Item.Rev == 0 || rec.Session.Open()
		after[r.Key()] = next
	}
	if err := m.l.ForgetAll(t.Context(), refs); (err != nil) != bad {
		t.Fatalf("forget %v: %v", refs, err)
	}
	if bad {
		return
	}
	for key, rec := range after {
		m.records[key] = rec
	}
}

func (m *model) expire(t *rapid.T) {
	before := noon.Add(time.Duration(rapid.IntRange(-3, 3).Draw(t, "hours")) * time.Hour)
	want := 0
	for key, rec := range m.records {
		s, was := rec.Session, want
		if s != nil && s.Status == record.Shut && !s.EndedAt.IsZero() && s.EndedAt.Before(before) {
			rec.Session, want = nil, want+1
		}
		if i := rec.Item; i.FirstSeenAt.IsZero() && !i.EndedAt.IsZero() && i.EndedAt.Before(before) {
			rec, want = record.Record{Session: rec.Session}, want+1
		} else if want > was && i.Rev > 0 {
			rec.Item.Rev++
		}
		m.records[key] = rec
	}
	got, err := m.l.Expire(t.Context(), before)
	m.ok(err)
	if got != want {
		t.Fatalf("%d rows expired, the model says %d", got, want)
	}
}

func (m *model) cycle(t *rapid.T) {
	c := record.Cycle{At: noon, ItemsSeen: len(m.cycles)}
	m.ok(m.l.EndCycle(t.Context(), c, []record.SourceRow{{ID: "s1", ListedAt: noon}}))
	m.cycles = append(m.cycles, c)
}

func (m *model) compare(t *rapid.T) {
	var pending, unfinished, known []string
	for _, r := range refs() {
		want := m.records[r.Key()]
		got, err := m.l.Record(t.Context(), r)
		m.ok(err)
		if diff := differ(want, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", r, diff)
		}
		if len(want.Comments.Pending()) > 0 {
			pending = append(pending, r.Key())
		}
		if isUnfinished(want) {
			unfinished = append(unfinished, r.Key())
		}
		if want.Item.Source == "s1" && !want.Item.Sealed() {
			known = append(known, r.Key())
		}
	}
	m.sameKeys("pending", pending)(m.l.Pending(t.Context()))
	m.sameKeys("unfinished", unfinished)(m.l.Unfinished(t.Context()))
	m.sameKeys("known", known)(m.l.Known(t.Context(), "s1"))
	cycles, err := m.l.Cycles(t.Context(), 0)
	m.ok(err)
	slices.Reverse(cycles)
	if !slices.Equal(m.cycles, cycles) {
		t.Fatalf("cycles %v, the model says %v", cycles, m.cycles)
	}
}

// check is the ledger's own check of the file.
func (m *model) check() {
	m.t.Helper()
	problems, err := m.l.Check(m.t.Context())
	m.ok(err)
	if len(problems) > 0 {
		m.t.Fatalf("check: %v", problems)
	}
}

func (m *model) sameKeys(what string, want []string) func([]workitem.Ref, error) {
	return func(got []workitem.Ref, err error) {
		m.t.Helper()
		m.ok(err)
		var keys []string
		for _, r := range got {
			keys = append(keys, r.Key())
		}
		slices.Sort(want)
		if !slices.Equal(want, keys) {
			m.t.Fatalf("%s: %v, the model says %v", what, keys, want)
		}
	}
}

// isUnfinished is the list of the contract, written down a second time.
func isUnfinished(r record.Record) bool {
	i := r.Item
	if !i.EndedAt.IsZero() && !i.FirstSeenAt.IsZero() || r.Session != nil && r.Session.Status != record.Shut {
		return true
	}
	if i.Spawn.Run != "" || i.Spawn.Notice == record.NoticeOwed {
		return true
	}
	for _, c := range r.Comments.All() {
		if c.State == record.Pending || c.Notice == record.NoticeOwed {
			return true
		}
	}
	switch ended := !i.EndedAt.IsZero(); {
	case ended:
		return false
	case i.Control.Arming():
		return !i.Control.Served
	}
	return i.Control == nil && r.Session == nil && i.Spawn.Attempts > 0 && !i.Spawn.GaveUp
}

package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/migrate"
	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

func overwrite(o *migrate.ImportOptions) { o.Overwrite = true }

func note(id string) record.Note { return record.Note{ID: id, At: now} }

// Where ledger and file differ the ledger wins and it is listed; that the poller
// looked again is no difference.
func TestConflicts(t *testing.T) {
	const ref = "github:octo/repo#1"
	const file = `{"ref":"github:octo/repo#1","control":{"command":"start","source":"cli"},"poll":{"seenComments":["a"],
		"commentAttempts":{"b":1},"lastPolledAt":"2026-08-01T00:00:00Z"}}`
	observed := record.Observe{
		Item:      workitem.Item{Ref: workitem.Ref{Provider: "github", Owner: "octo", Repo: "repo", Number: 1}, Title: "t", Source: "github:octo/repo"},
		UpdatedAt: now, ReadAt: now,
	}
	for name, c := range map[string]struct {
		changes []record.Change
		file    string
		differs []string
	}{
		"nothing":           {nil, file, nil},
		"polled again":      {[]record.Change{observed}, file, nil},
		"a command":         {[]record.Change{record.Command{Control: record.Control{Command: "stop"}}}, file, []string{"control"}},
		"delivered":         {[]record.Change{record.Deliver{Comment: "b"}}, file, []string{"poll.commentAttempts", "poll.seenComments"}},
		"a new comment":     {[]record.Change{record.Baseline{Note: note("c"), Outcome: record.Unauthorized}}, file, []string{"poll.seenComments"}},
		"the file went on":  {nil, strings.Replace(file, `["a"]`, `["a","c"]`, 1), []string{"poll.seenComments"}},
		"the file is later": {nil, strings.Replace(file, "08-01", "08-02", 1), []string{"poll.lastPolledAt"}},
		"emptied":           {nil, `{"ref":"github:octo/repo#1","control":null,"poll":null}`, []string{"control", "poll"}},
		"sealed":            {nil, `{"ref":"github:octo/repo#1","sealed":true}`, []string{"control", "poll", "sealed"}},
		"a section more":    {nil, strings.Replace(file, `"control"`, `"x":1,"control"`, 1), []string{"x"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := w.file("portable/1.json", file)
			w.imports()
			if c.changes != nil {
				w.commit(ref, c.changes...)
			}
			before := w.record(ref)
			w.file("portable/1.json", c.file)
			r := w.imports()
			want := []migrate.Conflict{}
			if c.differs != nil {
				want = []migrate.Conflict{{Ref: ref, File: path, Differs: c.differs}}
			}
			same(t, "conflicts", want, r.Conflicts)
			if r.Imported != 0 || r.Unchanged != 1-len(want) {
				t.Errorf("report: %+v", r)
			}
			if after := w.record(ref); after.Item.Rev != before.Item.Rev {
				t.Error("the ledger did not win")
			}
		})
	}
}

// With --overwrite the file wins, and nothing that the ledger has finished with
// is sent again: neither what it delivered nor what only it knows of.
func TestOverwrite(t *testing.T) {
	const ref = "github:octo/repo#1"
	w := newWorld(t)
	w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":{"seenComments":["a"],"commentAttempts":{"b":1,"c":1}}}`)
	w.file("local/1.json", handle(ref, w.root, "active"))
	w.imports()
	w.commit(ref,
		record.Observe{Item: workitem.Item{Ref: w.ref(ref), Title: "t"}, UpdatedAt: now},
		record.Deliver{Comment: "b"}, record.Baseline{Note: note("d"), Outcome: record.Unauthorized}, record.Hold{Note: note("e")},
		record.Command{Control: record.Control{Command: "stop"}}, record.QueueSpawn{DeliveryID: "s", Run: "run"})
	session := *w.record(ref).Session

	w.file("portable/1.json", `{"ref":"github:octo/repo#1","control":{"command":"start"},
		"poll":{"seenComments":["a","f","c"],"commentAttempts":{"b":2,"e":1},"spawn":{"attempts":1}}}`)
	r := w.imports(overwrite, func(o *migrate.ImportOptions) { o.NoSessions = true })
	if r.Imported != 1 || len(r.Conflicts) != 1 || !r.Conflicts[0].Overwritten {
		t.Errorf("report: %+v", r)
	}
	rec := w.record(ref)
	var rows []string
	for _, row := range rec.Comments.All() {
		rows = append(rows, row.ID+" "+string(row.State))
	}
	same(t, "rows", []string{"a baselined", "f baselined", "c baselined", "b delivered", "e pending", "d baselined"}, rows)
	if rec.Item.Control.Command != "start" || rec.Item.Control.Served || rec.Item.Spawn.Attempts != 1 {
		t.Errorf("item: %+v", rec.Item)
	}
	if rec.Item.Spawn.N != 1 {
		t.Errorf("the number of spawns went back to %d: a delivery id would come twice", rec.Item.Spawn.N)
	}
	if rec.Item.Title != "t" || !rec.Item.UpdatedAt.IsZero() {
		t.Errorf("it would not be looked at anew: %+v", rec.Item)
	}
	same(t, "session", &session, rec.Session)
	if again := w.imports(overwrite); again.Imported != 0 || again.Unchanged != 1 {
		t.Errorf("again: %+v", again)
	}
}

// A session or a link that the ledger says otherwise of is a conflict too.
func TestConflictsOfSessionsAndLinks(t *testing.T) {
	w := newWorld(t)
	file := handle("github:octo/repo#1", w.root, "active", `"pullRequests":[{"workItem":{"ref":"github:octo/repo#2"}}]`)
	w.file("local/1.json", file)
	w.imports()
	w.commit("github:octo/repo#1", record.SetStatus{Status: record.Shut, At: now})
	w.commit("github:octo/repo#2", record.PutLink{Link: record.Link{Target: "github:octo/repo#9"}})
	r := w.imports()
	if len(r.Conflicts) != 2 || !slices.Equal(r.Conflicts[0].Differs, []string{"session"}) || !slices.Equal(r.Conflicts[1].Differs, []string{"link"}) {
		t.Errorf("conflicts: %+v", r.Conflicts)
	}
	if r.Sessions.Live != 0 || r.Links != 0 {
		t.Errorf("report: %+v", r)
	}
	w.imports(overwrite)
	if s := w.record("github:octo/repo#1").Session; !s.Open() {
		t.Errorf("session: %+v", s)
	}
	if l := w.record("github:octo/repo#2").Link; l.Target != "github:octo/repo#1" {
		t.Errorf("link: %+v", l)
	}
}

// --keep-give-ups: as if this release had given them up, so that it does not try
// them again (B7); else the report says what will be.
func TestGiveUps(t *testing.T) {
	const doc = `{"ref":"github:octo/repo#1","poll":{"seenComments":["a","b"],"commentAttempts":{"c":2,"d":0},
		"gaveUp":{"comments":["a"],"version":"6.1.0"},"lastPolledAt":"2026-08-01T00:00:00Z"}}`
	polled := at("2026-08-01T00:00:00Z")
	attempted := []migrate.Retry{
		{Ref: "github:octo/repo#1", Comment: "c", Attempts: 2, MayRepeat: true, PolledAt: polled},
		{Ref: "github:octo/repo#1", Comment: "d", PolledAt: polled},
	}
	again := newWorld(t)
	again.file("portable/1.json", doc)
	given := migrate.Retry{Ref: "github:octo/repo#1", Comment: "a", GaveUp: true, Version: "6.1.0", PolledAt: polled}
	same(t, "tried again", append([]migrate.Retry{given}, attempted...), again.imports().Retries)

	kept := newWorld(t)
	kept.file("portable/1.json", doc)
	r := kept.imports(func(o *migrate.ImportOptions) { o.KeepGiveUps = true })
	same(t, "kept", attempted, r.Retries)
	if row := kept.row("github:octo/repo#1", "a"); row.State != record.GaveUp || row.Version != version {
		t.Errorf("row: %+v", row)
	}
}

// Earlier releases remembered the last 500 comments of an item: of one that has
// so many, what was before is told by its age. Of others nothing is.
func TestMoreCommentsThanWereRemembered(t *testing.T) {
	for _, n := range []int{499, 500, record.MaxResolved + 3} {
		w := newWorld(t)
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprint("c", i)
		}
		w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":{"lastPolledAt":"2026-08-01T00:00:00Z","seenComments":["`+strings.Join(ids, `","`)+`"]}}`)
		w.imports()
		rec := w.record("github:octo/repo#1")
		want := time.Time{}
		if n >= 500 {
			want = at("2026-08-01T00:00:00Z")
		}
		if !rec.Item.LateUntil.Equal(want) || rec.Comments.Len() != min(n, record.MaxResolved) {
			t.Errorf("%d seen: %d rows, late until %v", n, rec.Comments.Len(), rec.Item.LateUntil)
		}
	}
}

// The Python version read no inline review comments: those of before its last
// look are old. A record that names one was written by a release that read them.
func TestInlineCommentsThatNobodyRead(t *testing.T) {
	for name, c := range map[string]struct {
		poll string
		want time.Time
	}{
		"polled":            {`{"lastPolledAt":"2026-08-01T00:00:00Z","seenComments":["IC_1","PRR_2"]}`, at("2026-08-01T00:00:00Z")},
		"nobody says when":  {`{"seenComments":["IC_1"]}`, now},
		"one was seen":      {`{"lastPolledAt":"2026-08-01T00:00:00Z","seenComments":["PRRC_1"]}`, time.Time{}},
		"one of before":     {`{"lastPolledAt":"2026-08-01T00:00:00Z","seenComments":["MDI0OlB1bGxSZXF1ZXN0UmV2aWV3Q29tbWVudDEyMw=="]}`, time.Time{}},
		"one was attempted": {`{"lastPolledAt":"2026-08-01T00:00:00Z","commentAttempts":{"PRRC_1":1}}`, time.Time{}},
	} {
		w := newWorld(t)
		w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":`+c.poll+`}`)
		w.imports()
		if got := w.record("github:octo/repo#1").Item.InlineUntil; !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// cut is a ledger whose second batch fails, as a full disk does.
type cut struct {
	*store.Ledger
	batches int
}

var errDisk = errors.New("no space left on device")

func (c *cut) Batch(ctx context.Context, writes []store.Write) error {
	if c.batches++; c.batches > 1 {
		return errDisk
	}
	return c.Ledger.Batch(ctx, writes)
}

// Up to 1 000 whole records share a transaction. An import that was cut is not
// finished, and another one goes on with it.
func TestBatchesAndACut(t *testing.T) {
	const items = 1200
	w := newWorld(t)
	for n := range items {
		w.file(fmt.Sprintf("portable/%d.json", n), fmt.Sprintf(`{"ref":"github:octo/repo#%d","poll":{"seenComments":["a"]}}`, n+1))
	}
	_, err := migrate.Import(t.Context(), w.options(func(o *migrate.ImportOptions) { o.Ledger = &cut{Ledger: w.ledger} }))
	if !errors.Is(err, errDisk) || !strings.Contains(err.Error(), "import again to go on") {
		t.Errorf("error: %v", err)
	}
	if at, err := w.ledger.ImportedAt(t.Context()); err != nil || !at.IsZero() {
		t.Errorf("finished at %v, %v", at, err)
	}
	before := w.ledger.Commits()
	last := map[migrate.Step]int{}
	r := w.imports(func(o *migrate.ImportOptions) {
		o.Progress = func(step migrate.Step, done, total int) {
			if done != last[step]+1 || total != items || step == migrate.Importing && last[migrate.Reading] != items {
				t.Errorf("progress: %s %d of %d after %v", step, done, total, last)
			}
			last[step] = done
		}
	})
	if r.Unchanged != 1000 || r.Imported != items-1000 || last[migrate.Importing] != items {
		t.Errorf("%d unchanged, %d imported, %v told", r.Unchanged, r.Imported, last)
	}
	if n := w.ledger.Commits() - before; n != 2 { // a batch and the end
		t.Errorf("%d transactions", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := migrate.Import(ctx, w.options()); !errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %v", err)
	}
}

// A closed session row that outlived its item (P8) stays.
func TestImportBesideAClosedSession(t *testing.T) {
	const ref = "github:octo/repo#1"
	w := newWorld(t)
	w.commit(ref, record.PutSession{Session: record.Session{Status: record.Shut, HarnessSessionID: uuid, EndedAt: now}})
	if err := w.ledger.ForgetAll(t.Context(), []workitem.Ref{w.ref(ref)}); err != nil {
		t.Fatal(err)
	}
	w.file("portable/1.json", `{"ref":"github:octo/repo#1"}`)
	w.imports()
	if s := w.record(ref).Session; s == nil || s.HarnessSessionID != uuid {
		t.Errorf("session: %+v", s)
	}
}

// An item that had ended and is brought back is of its source again, so that it is
// asked for when it is not listed: it may have ended meanwhile (P8).
func TestAnEndedItemThatIsBroughtBack(t *testing.T) {
	const ref = "github:octo/repo#1"
	w := newWorld(t)
	w.commit(ref, record.Observe{Item: workitem.Item{Ref: w.ref(ref), Source: "github:octo/repo"}}, record.FirstSeen{At: now}, record.End{At: now}, record.Forget{})
	w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":{"seenComments":["a"]}}`)
	w.imports(overwrite)
	if known, err := w.ledger.Known(t.Context(), "github:octo/repo"); err != nil || len(known) != 1 {
		t.Errorf("known: %v, %v", known, err)
	}
}

package record

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"theloop/workitem"
)

var at = time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)

func note(id string) Note {
	return Note{ID: id, Author: workitem.Author{Login: "octocat"}, SHA256: TextHash("hi"), At: at}
}

// reach is the shortest way to each phase from an item without the comment.
var reach = map[Phase][]Change{
	Absent:  nil,
	IsBase:  {Baseline{Note: note("c"), Outcome: FirstSight}},
	Idle:    {Hold{Note: note("c")}},
	Queued:  {Hold{Note: note("c")}, Queue{Comment: "c", DeliveryID: "d", Run: "r"}},
	Running: {Hold{Note: note("c")}, Queue{Comment: "c", DeliveryID: "d", Run: "r"}, Start{Comment: "c", On: "p", Until: at}},
	IsDone:  {Hold{Note: note("c")}, Queue{Comment: "c", DeliveryID: "d", Run: "r"}, Deliver{Comment: "c"}},
	IsSet:   {Settle{Note: note("c"), Outcome: AwaitingStart}},
	IsGiven: {Hold{Note: note("c")}, GiveUp{Comment: "c", Version: "v1"}},
}

// every is every step there is, as a change.
var every = map[op]Change{
	opBaseline: Baseline{Note: note("c"), Outcome: FirstSight},
	opHold:     Hold{Note: note("c")},
	opQueue:    Queue{Comment: "c", DeliveryID: "d", Run: "r2"},
	opStart:    Start{Comment: "c", On: "p", Until: at},
	opUnstart:  Unstart{Comment: "c"},
	opGiveBack: Unstart{Comment: "c", GiveBack: true},
	opDeliver:  Deliver{Comment: "c"},
	opFail:     Fail{Comment: "c", MayRepeat: true},
	opGiveUp:   GiveUp{Comment: "c", Version: "v1"},
	opSettle:   Settle{Note: note("c"), Outcome: Revoked},
	opRelease:  Release{Comment: "c", DeliveryID: "d"},
	opRearm:    Rearm{Comment: "c"},
	opRevise:   Revise{Note: note("c")},
	opNotice:   PostNotice{Comment: "c"},
}

func seen(t *testing.T) Record {
	t.Helper()
	return must(t, Record{}, Observe{Item: workitem.Item{Ref: workitem.Ref{Provider: "github", Owner: "o", Repo: "r", Number: 1}}}, FirstSeen{At: at})
}

func must(t *testing.T, rec Record, changes ...Change) Record {
	t.Helper()
	after, _, err := Apply(rec, changes)
	if err != nil {
		t.Fatal(err)
	}
	return after
}

// want is the life of a comment row as a document: for each phase, what each
// step leads to. A step that is not named is illegal; = leaves the row alone.
var want = map[Phase]map[op]Phase{
	Absent:  {opBaseline: IsBase, opHold: Idle, opSettle: IsSet, opRelease: "=", opNotice: "="},
	IsBase:  {opRelease: "=", opNotice: "="},
	Idle:    {opQueue: Queued, opSettle: IsSet, opGiveUp: IsGiven, opDeliver: IsDone, opRevise: Idle, opRelease: "=", opNotice: "="},
	Queued:  {opQueue: Queued, opStart: Running, opRelease: Idle, opFail: Idle, opSettle: IsSet, opDeliver: IsDone, opRevise: Queued, opNotice: "="},
	Running: {opUnstart: Queued, opGiveBack: Idle, opDeliver: IsDone, opFail: Idle, opRelease: "=", opNotice: "="},
	IsDone:  {opRelease: "=", opNotice: "="},
	IsSet:   {opRelease: "=", opNotice: "="},
	IsGiven: {opRearm: Idle, opNotice: IsGiven, opRelease: "="},
}

// The legal transitions, every phase against every step.
func TestEveryStepFromEveryPhase(t *testing.T) {
	for from, way := range reach {
		for step, change := range every {
			t.Run(fmt.Sprintf("%s from %s", step, from), func(t *testing.T) {
				rec := must(t, seen(t), way...)
				if row, _ := rec.Comments.Get("c"); row.Phase() != from {
					t.Fatalf("the way to %s leads to %s", from, row.Phase())
				}
				after, applied, err := Apply(rec, []Change{change})
				row, _ := after.Comments.Get("c")
				to, legal := want[from][step]
				switch {
				case !legal && !errors.Is(err, ErrIllegal):
					t.Errorf("is legal and leads to %s", row.Phase())
				case !legal:
				case err != nil:
					t.Error(err)
				case to == "=" && len(applied) != 0:
					t.Errorf("changes the row to %s", row.Phase())
				case to != "=" && (row.Phase() != to || len(applied) != 1):
					t.Errorf("leads to %s with %d changes applied, want %s", row.Phase(), len(applied), to)
				}
			})
		}
	}
}

// B4: only an attempt in hand that has not started comes back, once, and by its
// own id.
func TestReleaseGivesBackOnce(t *testing.T) {
	rec := must(t, seen(t), reach[Queued]...)
	for i, tt := range []struct {
		release  Release
		attempts int
	}{
		{Release{Comment: "c", DeliveryID: "another"}, 1},
		{Release{Comment: "c", DeliveryID: "d"}, 0},
		{Release{Comment: "c", DeliveryID: "d"}, 0},
		{Release{Comment: "nobody", DeliveryID: "d"}, 0},
	} {
		rec = must(t, rec, tt.release)
		row, _ := rec.Comments.Get("c")
		if row.Attempts != tt.attempts || row.State != Pending {
			t.Errorf("after release %d: %+v", i, row)
		}
	}
}

// B1: what was spent and never started is used again, not counted again; what
// failed is counted.
func TestAnAttemptIsCountedOnce(t *testing.T) {
	rec := must(t, seen(t), reach[Queued]...)
	rec = must(t, rec, Queue{Comment: "c", DeliveryID: "d", Run: "r2"})
	if row, _ := rec.Comments.Get("c"); row.Attempts != 1 || row.Run != "r2" {
		t.Errorf("used again: %+v", row.Delivery)
	}
	rec = must(t, rec, Fail{Comment: "c"}, Queue{Comment: "c", DeliveryID: "d", Run: "r2"})
	if row, _ := rec.Comments.Get("c"); row.Attempts != 2 {
		t.Errorf("counted: %+v", row.Delivery)
	}
}

// B8, I11: what may repeat stays so until it is proved, through release, give-up
// and re-arm.
func TestMayRepeatIsClearedByProofAlone(t *testing.T) {
	rec := must(t, seen(t), reach[Running]...)
	rec = must(t, rec,
		Fail{Comment: "c", MayRepeat: true},
		Queue{Comment: "c", DeliveryID: "d", Run: "r"}, Release{Comment: "c", DeliveryID: "d"},
		Queue{Comment: "c", DeliveryID: "d", Run: "r"}, Fail{Comment: "c"},
		GiveUp{Comment: "c", Version: "v1"}, Rearm{Comment: "c"})
	row, _ := rec.Comments.Get("c")
	if !row.MayRepeat || row.Attempts != 0 {
		t.Errorf("the row is %+v", row)
	}
	rec = must(t, rec, Queue{Comment: "c", DeliveryID: "d", Run: "r"}, Deliver{Comment: "c"})
	if row, _ := rec.Comments.Get("c"); row.MayRepeat {
		t.Error("proof did not clear it")
	}
}

// The spawn row has the same life, and its number is never used twice.
func TestTheSpawnRow(t *testing.T) {
	rec := must(t, seen(t), Command{Control{Command: "start"}})
	rec = must(t, rec, QueueSpawn{DeliveryID: "s1", Run: "r"}, QueueSpawn{DeliveryID: "s1", Run: "r2"})
	if s := rec.Item.Spawn; s.N != 1 || s.Attempts != 1 || s.Run != "r2" {
		t.Errorf("used again: %+v", s)
	}
	rec = must(t, rec, Fail{}, QueueSpawn{DeliveryID: "s2", Run: "r"}, Start{On: OnNewPane, Until: at}, Fail{MayRepeat: true}, GiveUpSpawn{Version: "v1"})
	if s := rec.Item.Spawn; s.N != 2 || s.Attempts != 2 || !s.GaveUp || s.Notice != NoticeOwed {
		t.Errorf("given up: %+v", s)
	}
	if _, _, err := Apply(rec, []Change{QueueSpawn{DeliveryID: "s3", Run: "r"}}); !errors.Is(err, ErrIllegal) {
		t.Error("a given-up spawn may be queued")
	}
	rec = must(t, rec, ResetSpawn{}, QueueSpawn{DeliveryID: "s3", Run: "r"}, Deliver{}, Serve{})
	if s := rec.Item.Spawn; s.N != 3 || s.Attempts != 1 || s.GaveUp || s.InHand() || !s.MayRepeat && false {
		t.Errorf("reset: %+v", s)
	}
	if !rec.Item.Control.Served {
		t.Error("not served")
	}
}

// P8: only an ended item whose session is closed is forgotten, but for its
// tombstone; seen again it begins anew.
func TestForget(t *testing.T) {
	rec := must(t, seen(t), reach[IsDone]...)
	if _, _, err := Apply(rec, []Change{Forget{}}); !errors.Is(err, ErrIllegal) {
		t.Error("an open item was forgotten")
	}
	rec = must(t, rec, Command{Control{Command: "start"}}, QueueSpawn{DeliveryID: "s", Run: "r"}, Release{DeliveryID: "s"},
		PutSession{Session{Status: Active}}, End{At: at.Add(time.Hour)})
	if _, _, err := Apply(rec, []Change{Forget{}}); !errors.Is(err, ErrIllegal) {
		t.Error("an item with an open session was forgotten")
	}
	rec = must(t, rec, SetStatus{Status: Shut, At: at.Add(2 * time.Hour)}, Forget{})
	if !rec.Item.Sealed() || rec.Comments.Len() != 0 || rec.Item.Spawn.N != 1 || !rec.Item.LateUntil.Equal(at) || rec.Session == nil {
		t.Errorf("the tombstone is %+v", rec.Item)
	}
	rec = must(t, rec, FirstSeen{At: at.Add(3 * time.Hour)})
	if rec.Item.Control != nil || !rec.Item.EndedAt.IsZero() || rec.Item.Spawn.N != 1 || !rec.Item.LateUntil.IsZero() {
		t.Errorf("reopened: %+v", rec.Item)
	}
}

// At most 5 000 resolved rows; pending rows and owed notices stay, and the
// newest time removed is kept.
func TestResolvedRowsAreBounded(t *testing.T) {
	draft := NewDraft(seen(t))
	do := func(c Change) {
		t.Helper()
		if err := draft.Do(c); err != nil {
			t.Fatal(err)
		}
	}
	do(Hold{Note: note("pending")})
	do(Hold{Note: note("owed")})
	do(GiveUp{Comment: "owed", Version: "v1"})
	for i := range MaxResolved + 7 {
		n := note(fmt.Sprint("c", i))
		n.At = at.Add(time.Duration(i) * time.Second)
		do(Baseline{Note: n, Outcome: FirstSight})
	}
	rec, _ := draft.Done()
	if n := rec.Comments.Len(); n != MaxResolved+2 {
		t.Errorf("%d rows are kept", n)
	}
	for _, id := range []string{"pending", "owed", "c7"} {
		if _, ok := rec.Comments.Get(id); !ok {
			t.Errorf("%s is gone", id)
		}
	}
	if want := at.Add(6 * time.Second); !rec.Item.LateUntil.Equal(want) {
		t.Errorf("late until %s, want %s", rec.Item.LateUntil, want)
	}
}

// P4: two generations of one id name one row.
func TestOneRowForBothGenerationsOfAnId(t *testing.T) {
	rec := must(t, seen(t), Baseline{Note: note("MDEyOklzc3VlQ29tbWVudDI0NTE="), Outcome: FirstSight})
	if _, ok := rec.Comments.Get("IC_kwDOQ1aB7s4AAAmT"); !ok {
		t.Error("the new id of comment 2451 has no row")
	}
	if _, ok := rec.Comments.Get("IC_kwDOQ1aB7s4AAAmU"); ok {
		t.Error("comment 2452 has the row of 2451")
	}
}

// Apply is all or nothing, and writes into nothing it was given.
func TestApplyIsPure(t *testing.T) {
	rec := must(t, seen(t), reach[Queued]...)
	rec = must(t, rec, Command{Control{Command: "start"}}, PutSession{Session{Status: Active}})
	after, applied, err := Apply(rec, []Change{Deliver{Comment: "c"}, Serve{}, SetStatus{Status: Shut, At: at}, Deliver{Comment: "c"}})
	if !errors.Is(err, ErrIllegal) || applied != nil {
		t.Fatalf("applied %v, %v", applied, err)
	}
	for _, r := range []Record{rec, after} {
		row, _ := r.Comments.Get("c")
		if row.State != Pending || r.Item.Control.Served || r.Session.Status != Active {
			t.Error("a refused change left something behind")
		}
	}
	if same, applied, _ := Apply(rec, []Change{Release{Comment: "c", DeliveryID: "x"}}); applied != nil || same.Item.Rev != rec.Item.Rev {
		t.Error("nothing changed and the revision moved")
	}
}

// What would leave a record that means something else is refused or does
// nothing.
func TestWhatDoesNotApply(t *testing.T) {
	var unseen Record
	unseen = must(t, unseen, Observe{Item: workitem.Item{Ref: workitem.Ref{Provider: "github", Owner: "o", Repo: "r", Number: 1}}, ReadAt: at})
	if _, _, err := Apply(unseen, []Change{End{At: at}}); !errors.Is(err, ErrIllegal) {
		t.Error("an item that was never seen may end")
	}
	spent := must(t, seen(t), QueueSpawn{DeliveryID: "s", Run: "r"}, Fail{}, GiveUpSpawn{Version: "v1"}, PostNotice{})
	if again := must(t, spent, GiveUpSpawn{Version: "v1"}); again.Item.Spawn.Notice != NoticePosted {
		t.Error("a give-up owes its notice twice")
	}
	moved := must(t, unseen, Observe{Item: workitem.Item{Ref: workitem.Ref{Provider: "github", Owner: "o", Repo: "r", Number: 1}, Title: "new"}})
	if !moved.Item.ReadAt.Equal(at) {
		t.Error("the time of the last reading is lost")
	}
}

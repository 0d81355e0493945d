package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"theloop/workitem"
)

// snapshot is everything a record holds, written out.
func snapshot(t interface{ Fatal(...any) }, rec Record) string {
	rows := rec.Comments.All()
	text, err := json.Marshal(map[string]any{"item": rec.Item, "rows": rows, "session": rec.Session, "link": rec.Link, "ids": fmt.Sprint(rec.Comments.byID)})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// steps draws changes of every kind on a few comments.
func drawChange(t *rapid.T) Change {
	id := rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "comment")
	if id == "" && rapid.Bool().Draw(t, "not the spawn") {
		id = "c"
	}
	n := note(id)
	if id == "" {
		n = note("d")
	}
	return rapid.SampledFrom([]Change{
		Baseline{Note: n, Outcome: FirstSight}, Hold{Note: n}, Queue{Comment: n.ID, DeliveryID: "x" + id, Run: "r"},
		Queue{Comment: n.ID, DeliveryID: "x" + id, Run: "r"}, QueueSpawn{DeliveryID: "x", Run: "r"}, Start{Comment: id, On: "life", Until: at},
		Start{Comment: id, On: "life", Until: at}, Unstart{Comment: id}, Unstart{Comment: id, GiveBack: true}, Deliver{Comment: id},
		Fail{Comment: id, MayRepeat: true}, Fail{Comment: id}, Release{Comment: id, DeliveryID: "x" + id}, Settle{Note: n, Outcome: Revoked}, Settle{Note: n, Outcome: TooLong, Version: "v1"},
		GiveUp{Comment: n.ID, Version: "v1"}, GiveUpSpawn{Version: "v1"}, ResetSpawn{}, Rearm{Comment: n.ID}, Revise{Note: n}, PostNotice{Comment: id},
		Command{Control{Command: "start"}}, Serve{}, PutSession{Session{Status: Active}}, SetStatus{Status: Shut, At: at}, SetStatus{Status: Paused, At: at},
		DropSession{}, Announce{DeliveryID: "x"}, PutLink{Link{Target: "x"}}, End{At: at}, Forget{}, FirstSeen{At: at}, Withhold{Author: "mallory"},
	}).Draw(t, "change")
}

// Apply is pure whatever is done: no change writes into the record it was decided
// on, nor into another draft of it; what it refuses leaves nothing behind; and
// attempts are never below zero (B4).
func TestNoChangeWritesIntoWhatOthersRead(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rec := Record{}
		for range rapid.IntRange(1, 40).Draw(rt, "changes") {
			before := snapshot(rt, rec)
			other := NewDraft(rec)
			change := drawChange(rt)
			after, applied, err := Apply(rec, []Change{change})
			if now := snapshot(rt, rec); now != before {
				rt.Fatalf("%T wrote into its record:\n%s\n%s", change, before, now)
			}
			if now := snapshot(rt, other.Record()); now != before {
				rt.Fatalf("%T wrote into another draft:\n%s\n%s", change, before, now)
			}
			switch {
			case err != nil && (!errors.Is(err, ErrIllegal) || applied != nil || snapshot(rt, after) != before):
				rt.Fatalf("%T: %v, applied %v", change, err, applied)
			case err == nil && len(applied) == 0 && snapshot(rt, after) != before:
				rt.Fatalf("%T says that it changed nothing", change)
			case err == nil && after.Item.Rev != rec.Item.Rev+uint64(len(applied)):
				rt.Fatalf("%T: revision %d after %d", change, after.Item.Rev, rec.Item.Rev)
			}
			rec = after
			checkRecord(rt, rec)
		}
	})
}

// checkRecord is what holds of every record there can be.
func checkRecord(rt *rapid.T, rec Record) {
	counts := map[State]int{}
	for i, row := range rec.Comments.All() {
		counts[row.State]++
		found, ok := rec.Comments.Get(row.ID)
		if !ok || found.Seq != row.Seq || i > 0 && rec.Comments.All()[i-1].Seq >= row.Seq {
			rt.Fatalf("row %d is not where it is found: %+v", i, row)
		}
		if row.Attempts < 0 || row.State != Pending && row.InHand() || row.Started() && !row.InHand() {
			rt.Fatalf("the row is %+v", row)
		}
		if (row.State == GaveUp) != (row.Version != "") && row.State != Settled {
			rt.Fatalf("given up by %q: %+v", row.Version, row)
		}
	}
	c := rec.Item.Counts
	if c.Pending != counts[Pending] || c.GaveUp != counts[GaveUp] || c.Settled != counts[Settled] ||
		c.Delivered != counts[Delivered] || c.Baselined != counts[Baselined] {
		rt.Fatalf("counted %+v of %v", c, counts)
	}
	if s := rec.Item.Spawn; s.Attempts < 0 || s.Started() && !s.InHand() || s.GaveUp && s.InHand() {
		rt.Fatalf("the spawn row is %+v", s)
	}
}

// F6: a draft copies the rows when the first of them changes, and not before.
func TestADraftCopiesOnlyWhatChanges(t *testing.T) {
	item := workitem.Item{Ref: workitem.Ref{Provider: "github", Owner: "o", Repo: "r", Number: 1}}
	var allocs [2]float64
	for i, rows := range []int{1, 1000} {
		draft := NewDraft(seen(t))
		for n := range rows {
			if err := draft.Do(Baseline{Note: note(fmt.Sprint("c", n)), Outcome: FirstSight}); err != nil {
				t.Fatal(err)
			}
		}
		rec, _ := draft.Done()
		quiet := []Change{Observe{Item: item}, Withhold{}, Release{Comment: "c0"}, Serve{}}
		allocs[i] = testing.AllocsPerRun(50, func() { _, _, _ = Apply(rec, quiet) })
	}
	if allocs[0] != allocs[1] {
		t.Errorf("%v allocations with one row, %v with a thousand", allocs[0], allocs[1])
	}
}

// A1, A7: the name that an author is listed under.
func TestAccount(t *testing.T) {
	for want, author := range map[string]workitem.Author{
		"octocat":         {Login: "octocat"},
		"Copilot[bot]":    {Login: "Copilot", Bot: true},
		"renovate[bot]":   {Login: "renovate[bot]", Bot: true},
		"Dependabot[BOT]": {Login: "Dependabot[BOT]", Bot: true},
		"":                {Bot: true},
	} {
		if got := Account(author); got != want {
			t.Errorf("%+v is %q, want %q", author, got, want)
		}
	}
	bot := workitem.Author{Login: "Copilot", Bot: true, ID: 7}
	rec := must(t, Record{}, Observe{Item: workitem.Item{Author: bot}}, FirstSeen{At: at},
		Hold{Note: NoteOf(workitem.Comment{ID: "c", Author: bot})})
	row, _ := rec.Comments.Get("c")
	if row.Author != "Copilot[bot]" || row.AuthorID != 7 || rec.Item.Author != "Copilot[bot]" {
		t.Errorf("the rows keep %q and %q", row.Author, rec.Item.Author)
	}
}

// D5, D12: what an item leaves that was forgotten keeps how far its spawns are
// numbered, whatever is put in its place, and the numbers go on.
func TestTheNumbersOfSpawnsGoOn(t *testing.T) {
	left := Record{Session: &Session{Status: Shut, EndedAt: at, Spawns: 7}}
	for what, changes := range map[string][]Change{
		"seen again":              {FirstSeen{At: at}},
		"registered, seen again":  {PutSession{Session{Status: Active}}, FirstSeen{At: at}},
		"imported":                {Import{Item: Item{FirstSeenAt: at}}},
		"imported, without a row": {Import{Item: Item{}}, FirstSeen{At: at}},
		"cleaned up":              {FirstSeen{At: at}, DropSession{}},
	} {
		after, _, err := Apply(left, append(changes, QueueSpawn{DeliveryID: "x", Run: "r"}))
		if err != nil || after.Item.Spawn.N != 8 {
			t.Errorf("%s: the next spawn is number %d, %v", what, after.Item.Spawn.N, err)
		}
	}
}

// P8: a conversation of before the first sight is never gone on with.
func TestBygone(t *testing.T) {
	for name, tt := range map[string]struct {
		session *Session
		want    bool
	}{
		"there is none":                 {nil, false},
		"it is open":                    {&Session{Status: Active, CreatedAt: at.Add(-time.Hour)}, false},
		"it ended before":               {&Session{Status: Shut, EndedAt: at.Add(-time.Second)}, true},
		"it ended that very moment":     {&Session{Status: Shut, EndedAt: at}, true},
		"it ended since":                {&Session{Status: Shut, EndedAt: at.Add(time.Second)}, false},
		"nobody knows, it began before": {&Session{Status: Shut, CreatedAt: at.Add(-time.Second)}, true},
		"nobody knows, it began since":  {&Session{Status: Shut, CreatedAt: at.Add(time.Second)}, false},
	} {
		rec := Record{Item: Item{FirstSeenAt: at}, Session: tt.session}
		if got := rec.Bygone(); got != tt.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// F6, P1: what an observation keeps, and what is no reason to write.
func TestObserve(t *testing.T) {
	item := workitem.Item{
		Ref: workitem.Ref{Provider: "github", Owner: "O", Repo: "r", Number: 1}, Kind: workitem.Issue, Title: "a", URL: "u", Source: "s",
		CommentCount: 1, Author: workitem.Author{Login: "octocat", ID: 1},
	}
	first := Observe{Item: item, UpdatedAt: at, ReadAt: at}
	rec := must(t, Record{}, first)
	for name, tt := range map[string]struct {
		edit    func(*Observe)
		changes bool
	}{
		"nothing new":                 {func(*Observe) {}, false},
		"read again":                  {func(o *Observe) { o.ReadAt = at.Add(time.Hour) }, false},
		"the full resync":             {func(o *Observe) { o.ReadAt, o.Resync = at.Add(time.Hour), true }, true},
		"no time that may be kept":    {func(o *Observe) { o.UpdatedAt = time.Time{} }, false},
		"updated":                     {func(o *Observe) { o.UpdatedAt = at.Add(time.Second) }, true},
		"another title":               {func(o *Observe) { o.Item.Title = "b" }, true},
		"another address":             {func(o *Observe) { o.Item.URL = "v" }, true},
		"another kind":                {func(o *Observe) { o.Item.Kind = workitem.PullRequest }, true},
		"another source":              {func(o *Observe) { o.Item.Source = "t" }, true},
		"one comment more":            {func(o *Observe) { o.Item.CommentCount++ }, true},
		"another author":              {func(o *Observe) { o.Item.Author.Login = "hubot" }, true},
		"another author of that name": {func(o *Observe) { o.Item.Author.ID = 2 }, true},
		"off the list":                {func(o *Observe) { o.OffListAt = at }, true},
		"spelled otherwise":           {func(o *Observe) { o.Item.Ref.Owner = "o" }, false}, // D6
	} {
		o := first
		tt.edit(&o)
		after, applied, err := Apply(rec, []Change{o})
		if err != nil || (len(applied) > 0) != tt.changes {
			t.Errorf("%s: applied %v, %v", name, applied, err)
		}
		if after.Item.Ref != "github:O/r#1" || !after.Item.UpdatedAt.Equal(o.UpdatedAt) && !o.UpdatedAt.IsZero() ||
			tt.changes != after.Item.ReadAt.Equal(o.ReadAt) && !o.ReadAt.Equal(at) {
			t.Errorf("%s: it keeps %+v", name, after.Item)
		}
	}
}

// What an item's own rows refuse, and what leaves them alone.
func TestTheItemsOwnSteps(t *testing.T) {
	running := []Change{QueueSpawn{DeliveryID: "s", Run: "r"}, Start{On: OnNewPane, Until: at}}
	tried := append(append([]Change{}, running...), Fail{MayRepeat: true})
	for name, tt := range map[string]struct {
		before  []Change
		change  Change
		illegal bool
		applied bool
	}{
		"dropping an open session":        {[]Change{PutSession{Session{Status: Active}}}, DropSession{}, true, false},
		"dropping a paused session":       {[]Change{PutSession{Session{Status: Paused}}}, DropSession{}, true, false},
		"dropping a closed session":       {[]Change{PutSession{Session{Status: Shut}}}, DropSession{}, false, true},
		"dropping none":                   {nil, DropSession{}, false, false},
		"ending twice (P8)":               {[]Change{End{At: at}}, End{At: at.Add(time.Hour)}, false, false},
		"seeing for the first time twice": {nil, FirstSeen{At: at}, true, false},
		"a budget while it runs (B6)":     {append(append([]Change{}, tried...), running...), ResetSpawn{}, false, false},
		"a budget that is whole":          {nil, ResetSpawn{}, false, false},
		"a budget that was used":          {tried, ResetSpawn{}, false, true},
		"serving without a start (X7)":    {[]Change{Command{Control{Command: "stop"}}}, Serve{}, false, false},
		"serving twice":                   {[]Change{Command{Control{Command: "start"}}, Serve{}}, Serve{}, false, false},
		"announcing without a session":    {nil, Announce{DeliveryID: "x"}, false, false},
		"closing without a session":       {nil, SetStatus{Status: Shut, At: at}, false, false},
		"the same link":                   {[]Change{PutLink{Link{Target: "x"}}}, PutLink{Link{Target: "x"}}, false, false},
		"an import over an item":          {nil, Import{Item: Item{Ref: "x"}}, true, false},
		"an import that may overwrite":    {nil, Import{Item: Item{Ref: "x"}, Overwrite: true}, false, true},
	} {
		rec := must(t, seen(t), tt.before...)
		_, applied, err := Apply(rec, []Change{tt.change})
		if errors.Is(err, ErrIllegal) != tt.illegal || (len(applied) > 0) != tt.applied {
			t.Errorf("%s: applied %v, %v", name, applied, err)
		}
	}
	rec := must(t, seen(t), append(append([]Change{}, tried...), running...)...)
	rec = must(t, rec, Deliver{}) // proof clears the repeat (I11)
	if s := rec.Item.Spawn; s.MayRepeat || s.InHand() || s.Attempts != 2 {
		t.Errorf("proved: %+v", s)
	}
	rec = must(t, seen(t), append(append([]Change{}, running...), Release{DeliveryID: "s"})...)
	if s := rec.Item.Spawn; !s.Started() {
		t.Errorf("a started spawn was released: %+v", s)
	}
}

// A5: a row that is settled with a notice owes it, keeps it beyond the bound of
// rows, and loses it to its post alone.
func TestASettledRowMayOweANotice(t *testing.T) {
	rec := must(t, seen(t), Settle{Note: note("c"), Outcome: TooLong, Version: "v1"})
	row, _ := rec.Comments.Get("c")
	if row.State != Settled || row.Notice != NoticeOwed || row.Version != "v1" || row.removable() {
		t.Errorf("the row is %+v", row)
	}
	rec = must(t, rec, PostNotice{Comment: "c"})
	if row, _ = rec.Comments.Get("c"); row.Notice != NoticePosted || row.State != Settled || !row.removable() {
		t.Errorf("posted: %+v", row)
	}
	quiet := must(t, seen(t), Settle{Note: note("c"), Outcome: Revoked})
	if row, _ = quiet.Comments.Get("c"); row.Notice != "" {
		t.Errorf("no notice is owed: %+v", row)
	}
}

// What a row says of its comment stays when it is settled by its id alone.
func TestASettledRowKeepsItsComment(t *testing.T) {
	rec := must(t, seen(t), Hold{Note: note("c")}, Settle{Note: Note{ID: "c"}, Outcome: Deleted})
	row, _ := rec.Comments.Get("c")
	if row.Author != "octocat" || row.SHA256 != note("c").SHA256 || !row.At.Equal(at) {
		t.Errorf("the row is %+v", row)
	}
}

package poller

import (
	"fmt"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

var noon = time.Date(2026, 7, 31, 12, 0, 0, 0, time.UTC)

func noteOf(id string, at time.Time) record.Note {
	return record.NoteOf(workitem.Comment{ID: id, Author: workitem.Author{Login: "hubot"}, Body: id, CreatedAt: at})
}

// queued is an item that was started by octocat and has a session, with hubot's
// comment c queued for it and a spawn as well.
func queued(t *testing.T, changes ...record.Change) record.Record {
	t.Helper()
	rec, _, err := record.Apply(record.Record{}, append([]record.Change{
		record.Observe{Item: workitem.Item{Ref: issue(1), Author: workitem.Author{Login: "octocat"}}},
		record.FirstSeen{At: noon},
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat"}},
		record.PutSession{Session: record.Session{Status: record.Active}},
		record.Hold{Note: noteOf("c", noon)},
		record.Queue{Comment: "c", DeliveryID: "poll-comment-c", Run: "r"},
		record.QueueSpawn{DeliveryID: "poll-spawn", Run: "r"},
	}, changes...))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func control(command, actor string) record.Change {
	return record.Command{Control: record.Control{Command: command, Source: "comment", Actor: actor}}
}

// uncontrolled is an item that nobody gave a command for.
func uncontrolled(author string, status record.Status) func(record.Record) record.Record {
	return func(rec record.Record) record.Record {
		rec.Item.Control, rec.Item.Author, rec.Session = nil, author, nil
		if status != "" {
			rec.Session = &record.Session{Status: status}
		}
		return rec
	}
}

// unseen is an item whose first sight was not committed.
func unseen(rec record.Record) record.Record {
	rec.Item.FirstSeenAt = time.Time{}
	return rec
}

func as(rec record.Record) record.Record { return rec }

// answer is Admit's, for people: start, release, settle with an outcome, or
// nothing at all.
func answer(changes []record.Change, ok bool) string {
	if len(changes) == 0 {
		return "nothing"
	}
	switch c := changes[0].(type) {
	case record.Start:
		if ok {
			return "start"
		}
	case record.Release:
		return "release"
	case record.Settle:
		return c.Outcome
	}
	return fmt.Sprint(changes, ok)
}

// B8: what is true when an attempt is about to start decides whether it does.
func TestAdmit(t *testing.T) {
	const newPane = record.OnNewPane
	late := record.End{At: noon.Add(time.Hour)}
	early := record.End{At: noon.Add(-time.Hour)}
	for name, tt := range map[string]struct {
		rec  record.Record
		edit func(record.Record) record.Record
		on   string
		p    policy.Options
		want string
	}{
		"as it was decided":                      {queued(t), as, "life", policy.Options{}, "start"},
		"its session is gone":                    {queued(t), as, newPane, policy.Options{}, "start"},
		"its author was taken off the list":      {queued(t), as, "life", policy.Options{AuthorizedUsers: []string{"octocat"}}, record.Revoked},
		"the item ended after it was said":       {queued(t, late), as, "life", policy.Options{}, "start"},
		"ended, and the session is gone":         {queued(t, late), as, newPane, policy.Options{}, record.ItemEnded},
		"the item ended before it was said":      {queued(t, early), as, "life", policy.Options{}, record.ItemEnded},
		"the item was never seen":                {queued(t), unseen, "life", policy.Options{}, record.ItemEnded},
		"a stop was recorded":                    {queued(t, control("stop", "octocat")), as, "life", policy.Options{}, record.SessionStopped},
		"a cleanup was recorded":                 {queued(t, control("cleanup", "octocat")), as, "life", policy.Options{}, record.SessionStopped},
		"a pause was recorded":                   {queued(t, control("pause", "octocat")), as, "life", policy.Options{}, record.SessionPaused},
		"the session is paused":                  {queued(t, record.SetStatus{Status: record.Paused, At: noon}), as, "life", policy.Options{}, record.SessionPaused},
		"who started it was taken off":           {queued(t), as, newPane, policy.Options{AuthorizedUsers: []string{"hubot"}}, record.AwaitingStart},
		"who started it was taken off, it lives": {queued(t), as, "life", policy.Options{AuthorizedUsers: []string{"hubot"}}, "start"},
		"a command nobody knows":                 {queued(t, control("execute", "octocat")), as, newPane, policy.Options{}, record.AwaitingStart},
		"no command, the conversation is open":   {queued(t), uncontrolled("mallory", record.Active), newPane, policy.Options{}, "start"},
		"no command, the conversation is closed": {queued(t), uncontrolled("octocat", record.Shut), newPane, policy.Options{}, record.AwaitingStart},
		"no command, and none is required": {queued(t), uncontrolled("octocat", ""), newPane,
			policy.Options{AuthorizedUsers: []string{"octocat", "hubot"}, ControlEnabled: false}, "start"},
		"no command, and it is a stranger's": {queued(t), uncontrolled("mallory", ""), newPane,
			policy.Options{AuthorizedUsers: []string{"octocat", "hubot"}, ControlEnabled: false}, record.AwaitingStart},
		"an older one is pending":      {queued(t, record.Hold{Note: noteOf("b", noon.Add(-time.Minute))}), as, "life", policy.Options{}, "release"},
		"a younger one is pending":     {queued(t, record.Hold{Note: noteOf("d", noon.Add(time.Minute))}), as, "life", policy.Options{}, "start"},
		"it was settled":               {queued(t, record.Settle{Note: record.Note{ID: "c"}, Outcome: record.Revoked}), as, "life", policy.Options{}, "nothing"},
		"it was released":              {queued(t, record.Release{Comment: "c", DeliveryID: "poll-comment-c"}), as, "life", policy.Options{}, "nothing"},
		"it has started":               {queued(t, record.Start{Comment: "c", On: "life", Until: noon}), as, "life", policy.Options{}, "nothing"},
		"there is no such row":         {queued(t), func(rec record.Record) record.Record { rec.Comments = record.Thread{}; return rec }, "life", policy.Options{}, "nothing"},
		"given here, by nobody's name": {queued(t, record.Command{Control: record.Control{Command: "start", Source: "cli"}}), as, newPane, policy.Options{}, "start"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := tt.edit(tt.rec)
			start := record.Start{Comment: "c", On: tt.on, Until: noon.Add(time.Hour)}
			changes, ok := Admit(rec, rec, nil, start, policyOf(tt.p))
			check(t, rec, changes, ok, tt.want)
		})
	}
}

// policyOf is the policy of these tests, or another one.
func policyOf(o policy.Options) policy.Policy {
	if o.AuthorizedUsers == nil {
		o.AuthorizedUsers, o.ControlEnabled, o.RequireStart = []string{"octocat", "hubot"}, true, true
	}
	return policy.New(o)
}

// check holds an answer to what was wanted: only a start is ok, every answer is
// legal, and what does not start costs nothing.
func check(t *testing.T, rec record.Record, changes []record.Change, ok bool, want string) {
	t.Helper()
	if got := answer(changes, ok); got != want || ok != (want == "start") {
		t.Errorf("%s, ok %v, want %s", got, ok, want)
	}
	after, _, err := record.Apply(rec, changes)
	if err != nil {
		t.Fatal(err)
	}
	row, known := after.Comments.Get("c")
	if known && !ok && len(changes) > 0 && min(row.Attempts, after.Item.Spawn.Attempts) != 0 {
		t.Error("what was refused is spent all the same")
	}
}

// P3, B8: a pull request's comment starts on the word of the item whose session
// takes it.
func TestAdmitAsksTheOwnerOfTheSession(t *testing.T) {
	start := record.Start{Comment: "c", On: "life", Until: noon}
	pull := uncontrolled("mallory", "")(queued(t))
	if got := answer(Admit(pull, queued(t), nil, start, policyOf(policy.Options{}))); got != "start" {
		t.Error(got)
	}
	stopped := queued(t, control("stop", "octocat"))
	if got := answer(Admit(pull, stopped, nil, start, policyOf(policy.Options{}))); got != record.SessionStopped {
		t.Error(got)
	}
	start.On = record.OnNewPane
	over := queued(t, record.End{At: noon.Add(time.Hour)})
	if got := answer(Admit(pull, over, nil, start, policyOf(policy.Options{}))); got != record.ItemEnded {
		t.Error(got)
	}
	if got := answer(Admit(pull, queued(t), nil, start, policyOf(policy.Options{}))); got != "start" {
		t.Error(got)
	}
	last := queued(t, record.End{At: noon.Add(time.Hour)}) // the last words of a pull request bring up nothing (P8)
	if got := answer(Admit(last, queued(t), nil, start, policyOf(policy.Options{}))); got != record.ItemEnded {
		t.Error(got)
	}
}

// B8, A7: the same for a session that no comment asks for.
func TestAdmitASpawn(t *testing.T) {
	for name, tt := range map[string]struct {
		rec  record.Record
		edit func(record.Record) record.Record
		p    policy.Options
		want string
	}{
		"as it was decided":                             {queued(t), as, policy.Options{}, "start"},
		"a stop was recorded":                           {queued(t, control("stop", "octocat")), as, policy.Options{}, "release"},
		"a pause was recorded":                          {queued(t, control("pause", "octocat")), as, policy.Options{}, "release"},
		"a cleanup was recorded":                        {queued(t, control("cleanup", "octocat")), as, policy.Options{}, "release"},
		"the item has ended":                            {queued(t, record.End{At: noon}), as, policy.Options{}, "release"},
		"the item was never seen":                       {queued(t), unseen, policy.Options{}, "release"},
		"who started it was taken off the list":         {queued(t), as, policy.Options{AuthorizedUsers: []string{"hubot"}}, "release"},
		"nobody started it, and it may not start alone": {queued(t), uncontrolled("octocat", ""), policy.Options{}, "release"},
		"nobody started it, and it may": {queued(t), uncontrolled("octocat", ""),
			policy.Options{AuthorizedUsers: []string{"octocat"}}, "start"},
		"it was released": {queued(t, record.Release{DeliveryID: "poll-spawn"}), as, policy.Options{}, "nothing"},
		"it has started":  {queued(t, record.Start{On: record.OnNewPane, Until: noon}), as, policy.Options{}, "nothing"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := tt.edit(tt.rec)
			changes, ok := Admit(rec, rec, nil, record.Start{On: record.OnNewPane, Until: noon}, policyOf(tt.p))
			check(t, rec, changes, ok, tt.want)
		})
	}
}

// A1, A7: a bot is judged again by its row, however its tracker spells it.
func TestAListedBotIsNotRevokedAtItsStart(t *testing.T) {
	w := newWorld(t)
	w.policy.AuthorizedUsers = append(w.policy.AuthorizedUsers, "copilot[bot]")
	ref := w.started()
	id := w.say(ref, "Copilot", "ready for review")
	w.src.threads[ref.Key()][1].Author.Bot = true
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	rec := w.records[ref.Key()]
	start := record.Start{Comment: id, On: "life-1", Until: w.now.Add(time.Minute)}
	if got := answer(Admit(rec, rec, nil, start, policy.New(w.policy))); got != "start" {
		t.Errorf("%s; the row is by %q", got, w.row(ref, id).Author)
	}
	w.policy.AuthorizedUsers = []string{"octocat", "Copilot"} // a person of that name
	if got := answer(Admit(rec, rec, nil, start, policy.New(w.policy))); got != record.Revoked {
		t.Error(got)
	}
}

// B8: what is said on several items of one session starts in the order in which it
// was said.
func TestAdmitKeepsTheOrderOfASession(t *testing.T) {
	hold := func(id string, at time.Time, more ...record.Change) record.Record {
		rec, _, err := record.Apply(record.Record{}, append([]record.Change{record.Hold{Note: noteOf(id, at)}}, more...))
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	own := record.PutSession{Session: record.Session{Status: record.Active}}
	older, newer := noon.Add(-time.Minute), noon.Add(time.Minute)
	for name, tt := range map[string]struct {
		other record.Record
		want  string
	}{
		"something older waits":            {hold("o", older), "release"},
		"what waits is newer":              {hold("o", newer), "start"},
		"at one time the ids decide":       {hold("b", noon), "release"},
		"at one time the ids decide, last": {hold("d", noon), "start"},
		"something older was settled":      {hold("o", older, record.Settle{Note: record.Note{ID: "o"}, Outcome: record.Deleted}), "start"},
		"it has a session of its own":      {hold("o", older, linkTo(1, "import", false), own), "start"},
		"a person says where it goes":      {hold("o", older, linkTo(1, "link-pr", false), own), "release"},
	} {
		t.Run(name, func(t *testing.T) {
			rec := queued(t)
			start := record.Start{Comment: "c", On: "life", Until: noon.Add(time.Hour)}
			others := []record.Record{{}, tt.other}
			if got := answer(Admit(rec, rec, others, start, policyOf(policy.Options{}))); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
		})
	}
}

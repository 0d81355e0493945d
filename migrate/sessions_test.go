package migrate_test

import (
	"fmt"
	"strings"
	"testing"

	"theloop/migrate"
	"theloop/record"
)

const uuid = "6f1f0c2e-8a0e-4f0b-9f0d-0c1b2a3d4e5f"

// handle is the document of a session; more are further keys.
func handle(ref, cwd, status string, more ...string) string {
	doc := fmt.Sprintf(`{"workItem":{"ref":%q},"harness":"claude","harnessSessionId":%q,"cwd":%q,"status":%q,
		"createdAt":"2026-07-31T09:12:04Z","lastEventAt":"2026-07-31T10:41:59Z","tmuxTarget":"loop-x"`, ref, uuid, cwd, status)
	return doc + strings.Join(append([]string{""}, more...), ",") + "}"
}

// A session whose folder is here is this machine's; one whose is not counts as
// none and is listed (ledger: sessions carry the machine's id).
func TestWhoseSessionItIs(t *testing.T) {
	w := newWorld(t)
	w.file("local/a.json", handle("github:octo/repo#1", w.root, "active"))
	w.file("local/b.json", handle("github:octo/repo#2", w.root+"/nowhere", "paused"))
	w.file("local/c.json", handle("github:octo/repo#3", w.root, "closed"))
	r := w.imports()
	if r.Imported != 0 || r.Sessions.Live != 1 || r.Sessions.Gone != 1 || r.Sessions.Foreign != 1 {
		t.Errorf("report: %+v", r)
	}
	same(t, "adopted", []string{"github:octo/repo#1"}, r.Sessions.Adopt)
	if len(r.Sessions.Left) != 1 || !strings.Contains(r.Sessions.Left[0].Reason, "nowhere") {
		t.Errorf("listed: %+v", r.Sessions.Left)
	}
	s := w.record("github:octo/repo#1").Session
	if s.Host != here || s.Status != record.Active || s.HarnessSessionID != uuid || s.TmuxTarget != "loop-x" || s.Cwd != w.root || !s.EndedAt.IsZero() || s.Announced == "" {
		t.Errorf("ours: %+v", s)
	}
	if s := w.record("github:octo/repo#2").Session; s.Host == here || s.Host == "" || s.Status != record.Paused {
		t.Errorf("elsewhere: %+v", s)
	}
	if s := w.record("github:octo/repo#3").Session; s.EndedAt != at("2026-07-31T10:41:59Z") || s.Status != record.Shut {
		t.Errorf("closed: %+v", s)
	}
}

// Without sessions their rows are left out; what was delivered into them counts
// all the same, and another import brings the rows.
func TestNoSessions(t *testing.T) {
	w := samples(t)
	none := func(o *migrate.ImportOptions) { o.NoSessions = true }
	if r := w.imports(none); r.Sessions.Foreign != 0 || r.Links != 1 {
		t.Errorf("report: %+v", r)
	}
	rec := w.record("github:octo/repo#15")
	if rec.Session != nil {
		t.Errorf("session: %+v", rec.Session)
	}
	if row := w.row("github:octo/repo#15", "IC_kwDOQ1aB7s6Zq003"); row.State != record.Delivered {
		t.Errorf("delivered: %+v", row)
	}
	if r := w.imports(); r.Imported != 0 || r.Unchanged != 5 || r.Sessions.Foreign != 1 {
		t.Errorf("afterwards: %+v", r)
	}
	if w.record("github:octo/repo#15").Session == nil {
		t.Error("no session row afterwards")
	}
}

// What was delivered into a session is delivered on whichever item counts it,
// however its id is written (P4), and only on the session's own host.
func TestDeliveriesCountWhereTheyAreCounted(t *testing.T) {
	w := newWorld(t)
	for ref, poll := range map[string]string{
		"github:octo/repo#1":                  `{"seenComments":["a","b"],"commentAttempts":{"c":1},"gaveUp":{"comments":["b"],"version":"1"}}`,
		"github:octo/repo#2":                  `{"commentAttempts":{"IC_kwDOAAAAAc4AAAmT":2,"d":1}}`,
		"github:ghe.corp.example/octo/repo#3": `{"commentAttempts":{"IC_kwDOAAAAAc4AAAmT":2}}`,
		"github:octo/repo#4":                  `{"seenComments":[]}`,
		"github:octo/repo#5":                  `null`,
	} {
		w.file("portable/"+strings.Map(fileName, ref)+".json", fmt.Sprintf(`{"ref":%q,"poll":%s}`, ref, poll))
	}
	w.file("local/1.json", handle("github:octo/repo#1", "", "active",
		`"recentDeliveries":["poll-comment-b","poll-comment-c","poll-comment-MDEyOklzc3VlQ29tbWVudDI0NTE=","0a1b-webhook","poll-comment-","poll-comment-x y"]`,
		`"pullRequests":[{"workItem":{"ref":"github:octo/repo#2"},"recentDeliveries":["poll-comment-d"]}]`))
	w.file("local/4.json", handle("github:octo/repo#4", "", "active", `"recentDeliveries":["poll-comment-e"]`))
	w.file("local/5.json", handle("github:octo/repo#5", "", "active", `"recentDeliveries":["poll-comment-f"]`))
	if r := w.imports(); len(r.Invalid) != 0 {
		t.Fatalf("invalid: %+v", r.Invalid)
	}
	for _, c := range []struct {
		ref, id string
		state   record.State
	}{
		{"github:octo/repo#1", "a", record.Baselined},
		{"github:octo/repo#1", "b", record.Delivered}, // proof beats a give-up
		{"github:octo/repo#1", "c", record.Delivered},
		{"github:octo/repo#2", "IC_kwDOAAAAAc4AAAmT", record.Delivered},
		{"github:octo/repo#2", "d", record.Delivered},
		{"github:ghe.corp.example/octo/repo#3", "IC_kwDOAAAAAc4AAAmT", record.Pending},
		{"github:octo/repo#4", "e", record.Delivered}, // nobody counts it: on the session's item
	} {
		if row := w.row(c.ref, c.id); row.State != c.state || row.State == record.Delivered && row.MayRepeat {
			t.Errorf("%s of %s: %+v", c.id, c.ref, row)
		}
	}
	if rec := w.record("github:octo/repo#1"); rec.Comments.Len() != 3 {
		t.Errorf("what its pull request counts is counted on it as well: %+v", rec.Comments.All())
	}
	if rec := w.record("github:octo/repo#5"); rec.Comments.Len() != 0 || rec.Item.Known() {
		t.Errorf("an item without a poll section: %+v", rec)
	}
}

func fileName(r rune) rune {
	if strings.ContainsRune(":/#", r) {
		return '-'
	}
	return r
}

// The entries of pullRequests: bound only, live, closed, unreadable (P3).
func TestPullRequests(t *testing.T) {
	w := newWorld(t)
	path := w.file("local/1.json", handle("github:octo/repo#1", w.root, "active", "\n"+`"pullRequests":[
{"workItem":{"ref":"github:octo/repo#2"},"harness":"claude","status":"active","createdAt":"2026-07-31T10:00:00Z"},
`+handle("github:octo/repo#3", w.root, "active")+`,
`+handle("github:octo/repo#4", w.root, "closed")+`,
{"workItem":{"ref":"somewhere"}},
"github:octo/repo#6",
{"workItem":{"ref":"github:octo/repo#1"}}]`))
	r := w.imports()
	if r.Links != 3 || r.Sessions.Live != 2 || r.Sessions.Gone != 0 {
		t.Errorf("report: %+v", r)
	}
	if len(r.Invalid) != 2 || r.Invalid[0].File != path || r.Invalid[0].Line != 9 || r.Invalid[1].Line != 10 ||
		!strings.HasPrefix(r.Invalid[0].Reason, "this part is left out, the rest is imported: pullRequests.workItem.ref: ") {
		t.Errorf("invalid: %+v", r.Invalid)
	}
	link := record.Link{Target: "github:octo/repo#1", Source: "import", Since: at("2026-07-31T10:00:00Z")}
	bound := w.record("github:octo/repo#2")
	same(t, "bound", &link, bound.Link)
	if bound.Session != nil {
		t.Errorf("bound: %+v", bound.Session)
	}
	link.Since = at("2026-07-31T09:12:04Z")
	live := w.record("github:octo/repo#3")
	same(t, "live", &link, live.Link)
	if live.Session == nil || live.Session.Host != here || live.Session.HarnessSessionID != uuid {
		t.Errorf("live: %+v", live.Session)
	}
	link.Ended = true
	closed := w.record("github:octo/repo#4")
	same(t, "closed", &link, closed.Link)
	if closed.Session != nil {
		t.Errorf("closed: %+v", closed.Session)
	}
}

// A5: what has a form that no release gave it is kept and nothing is done with
// it; dots and colons of a tmux name are what tmux made of them.
func TestStrangeForms(t *testing.T) {
	w := newWorld(t)
	w.file("local/1.json", `{"workItem":{"ref":"github:octo/repo#1"},"harness":"--eval","harnessSessionId":"$(reboot)","cwd":"../up",
		"tmuxTarget":"=x;kill-server","createdAt":"","lastEventAt":null,"status":"active","runner":"tmux"}`)
	w.file("local/2.json", `{"workItem":{"ref":"github:octo/foo.js#7"},"tmuxTarget":"loop-github-octo-foo.js:7","harnessSessionId":"`+uuid+`"}`)
	r := w.imports()
	if len(r.Invalid) != 0 {
		t.Errorf("invalid: %+v", r.Invalid)
	}
	s := w.record("github:octo/repo#1").Session
	if s.Harness != "" || s.HarnessSessionID != "" || s.Cwd != "" || s.TmuxTarget != "" || s.Host == here || !s.CreatedAt.IsZero() {
		t.Errorf("strange: %+v", s)
	}
	listed := 0
	for _, l := range r.Sessions.Left {
		if l.Ref == "github:octo/repo#1" && strings.Contains(l.Reason, "has a form that is not used") {
			listed++
		}
	}
	if listed != 4 {
		t.Errorf("listed: %+v", r.Sessions.Left)
	}
	for n, cwd := range []string{"repo", "/a/../b", "/a\\u0007b", "/" + strings.Repeat("x", 5000)} {
		ref := fmt.Sprintf("github:octo/repo#%d", 10+n)
		w.file("local/more.json", strings.ReplaceAll(handle(ref, "CWD", "active"), "CWD", cwd))
		w.imports()
		if s := w.record(ref).Session; s.Cwd != "" {
			t.Errorf("cwd %q became %q", cwd, s.Cwd)
		}
	}
	if s := w.record("github:octo/foo.js#7").Session; s.TmuxTarget != "loop-github-octo-foo_js_7" || s.Status != record.Active {
		t.Errorf("dotted: %+v", s)
	}
}

// P8: an item that has ended has no session that runs.
func TestSessionOfASealedItem(t *testing.T) {
	w := newWorld(t)
	w.file("portable/1.json", `{"ref":"github:octo/repo#1","sealed":true}`)
	w.file("local/1.json", handle("github:octo/repo#1", w.root, "active"))
	r := w.imports()
	if s := w.record("github:octo/repo#1").Session; s.Open() || s.EndedAt.IsZero() {
		t.Errorf("session: %+v", s)
	}
	if r.Sessions.Live != 0 || len(r.Sessions.Left) != 1 || !strings.Contains(r.Sessions.Left[0].Reason, "has ended") {
		t.Errorf("report: %+v", r.Sessions)
	}
}

// Handles that cannot be understood are listed; what they say was delivered
// counts all the same.
func TestInvalidHandles(t *testing.T) {
	w := newWorld(t)
	w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":{"commentAttempts":{"a":1}}}`)
	w.file("local/1.json", handle("github:octo/repo#1", "", "exploded", `"recentDeliveries":["poll-comment-a"]`))
	w.file("local/2.json", `{"workItem":{"ref":"nobody"}}`)
	w.file("local/3.json", `{"workItem":`)
	w.file("local/4.json", handle("github:octo/repo#4", "", "active", `"pullRequests":{}`))
	r := w.imports()
	var reasons []string
	for _, i := range r.Invalid {
		reasons = append(reasons, strings.SplitN(i.Reason, ";", 2)[0])
	}
	same(t, "reasons", []string{
		`status: "exploded" is no status`,
		`workItem.ref: ref "nobody": there is no provider (such as github:) in front`,
		"it is not JSON: unexpected end of JSON input",
		"pullRequests: it is an object, not a list",
	}, reasons)
	if row := w.row("github:octo/repo#1", "a"); row.State != record.Delivered {
		t.Errorf("row: %+v", row)
	}
}

// An item is not first seen after its session was made, nor is a closed session
// one of before a reopening (P8, X1).
func TestFirstSeenIsNotAfterTheSession(t *testing.T) {
	w := newWorld(t)
	w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":{"lastPolledAt":"2026-08-09T00:00:00Z"}}`)
	w.file("local/1.json", handle("github:octo/repo#1", w.root, "closed"))
	w.imports()
	rec := w.record("github:octo/repo#1")
	if !rec.Item.FirstSeenAt.Equal(at("2026-07-31T09:12:04Z")) || rec.Session.EndedAt.Before(rec.Item.FirstSeenAt) {
		t.Errorf("first seen %v, session %+v", rec.Item.FirstSeenAt, rec.Session)
	}
}

// Of two issues that claim one pull request the first has it, unless it closed
// there (P3).
func TestTwoIssuesOfOnePullRequest(t *testing.T) {
	w := newWorld(t)
	for n, statuses := range []string{"closed active", "active active", "active closed", "closed closed"} {
		for i, status := range strings.Fields(statuses) {
			w.file(fmt.Sprintf("local/%d-%d.json", n, i), fmt.Sprintf(`{"workItem":{"ref":"github:octo/repo#%d"},"pullRequests":[
				{"workItem":{"ref":"github:octo/repo#%d"},"status":%q}]}`, 10*(n+1)+i, 10*(n+1)+9, status))
		}
	}
	w.imports()
	for ref, want := range map[string]string{"19": "11", "29": "20", "39": "30", "49": "40"} {
		if l := w.record("github:octo/repo#" + ref).Link; l.Target != "github:octo/repo#"+want || l.Ended != (ref == "49") {
			t.Errorf("%s: %+v", ref, l)
		}
	}
}

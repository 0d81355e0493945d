package migrate_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"theloop/migrate"
	"theloop/record"
)

// The sample records: five import, two are invalid, one is no record.
func TestTheSamples(t *testing.T) {
	w := samples(t)
	r := w.imports()
	if r.Imported != 5 || r.Unchanged != 0 || len(r.Conflicts) != 0 || len(r.Merged) != 0 {
		t.Errorf("report: %+v", r)
	}
	same(t, "invalid", []migrate.Invalid{
		{File: filepath.Join(w.root, "portable", "github-octo-repo-17.json"), Line: 1,
			Reason: "it is not JSON: unexpected end of JSON input"},
		{File: filepath.Join(w.root, "portable", "github-octo-repo-18.json"), Line: 1,
			Reason: `ref: ref "github:octo/repo/sub#18": "octo" cannot be a host (no dot, no port, not localhost), so there is one segment too many; ` +
				"a ref looks like github:octo/repo#15 or github:ghe.corp.example/octo/repo#15"},
	}, r.Invalid)
	same(t, "first sight", []string{"github:octo/foo.js#7"}, r.FirstSight)
	if at, err := w.ledger.ImportedAt(t.Context()); err != nil || !at.Equal(now) {
		t.Errorf("imported at %v, %v", at, err)
	}

	again := w.imports()
	if again.Imported != 0 || again.Unchanged != 5 || len(again.Conflicts) != 0 || again.Links != 0 || len(again.Retries) != 0 {
		t.Errorf("a second run is no no-op: %+v", again)
	}
	same(t, "invalid, again", r.Invalid, again.Invalid)
}

// What the sections become: seen comments in order, given up, attempted,
// delivered (B7, X7).
func TestWhatSectionsBecome(t *testing.T) {
	w := samples(t)
	w.imports()
	rec := w.record("github:octo/repo#15")
	want := record.Item{
		Ref: "github:octo/repo#15", URL: "https://github.com/octo/repo/issues/15", Source: "github:octo/repo", Rev: 1,
		FirstSeenAt: at("2026-07-31T09:12:04Z"), ReadAt: at("2026-07-31T10:42:00Z"), InlineUntil: at("2026-07-31T10:42:00Z"),
		Control: &record.Control{
			Command: "start", Source: "comment", Actor: "octocat", RequestedAt: at("2026-07-31T09:11:58Z"), Served: true,
			Note: "https://github.com/octo/repo/issues/15#issuecomment-2451",
		},
		Counts: record.Counts{Baselined: 2, Delivered: 1, GaveUp: 1},
	}
	got := rec.Item
	if !strings.Contains(string(got.Graph), `"pdlc-work-item-loop"`) {
		t.Errorf("graph: %s", got.Graph)
	}
	got.Graph, got.Sections = nil, nil
	same(t, "item", want, got)
	same(t, "comments", []record.Comment{
		{ID: "IC_kwDOQ1aB7s6Zq001", State: record.Baselined, Outcome: record.Imported, Seq: 1},
		{ID: "PRR_kwDOQ1aB7s6Zq002", State: record.GaveUp, Version: "6.1.0", Seq: 2},
		{ID: "IC_kwDOQ1aB7s6Zq000", State: record.Baselined, Outcome: record.Imported, Seq: 3},
		{ID: "IC_kwDOQ1aB7s6Zq003", State: record.Delivered, Seq: 4,
			Delivery: record.Delivery{Attempts: 2, DeliveryID: "poll-comment-IC_kwDOQ1aB7s6Zq003"}},
	}, rec.Comments.All())

	ghe := w.record("github:ghe.corp.example/octo/repo#15")
	if s := ghe.Item.Spawn; !s.GaveUp || s.Attempts != 3 || s.MayRepeat || !strings.HasPrefix(s.DeliveryID, "poll-presence-") {
		t.Errorf("spawn: %+v", s)
	}
	if stop := w.record("github:octo/foo.js#7").Item; stop.Control.Command != "stop" || stop.Known() || stop.Control.Served {
		t.Errorf("a stop without a poll section: %+v", stop)
	}
	jira := w.record("jira:acme/core#204")
	same(t, "extra", `{"slack":{"thread":"1722500000.000100"}}`, string(jira.Item.Extra["channels"]))
	same(t, "attempted", record.Comment{
		ID: "10231", State: record.Pending, Delivery: record.Delivery{Attempts: 1, MayRepeat: true},
	}, w.row("jira:acme/core#204", "10231"))
}

// P8: a sealed record is a tombstone whose item ended when it was imported.
func TestSealedIsATombstone(t *testing.T) {
	w := samples(t)
	w.file("portable/github-octo-repo-30.json", `{"ref":"github:octo/repo#30","sealed":true,
		"control":{"command":"start","source":"cli"},"poll":{"seenComments":["IC_1"],"commentAttempts":{"IC_2":1}},"graph":{"a":1}}`)
	w.imports()
	for _, ref := range []string{"github:octo/repo#16", "github:octo/repo#30"} {
		rec := w.record(ref)
		if !rec.Item.Sealed() || !rec.Item.EndedAt.Equal(now) || rec.Comments.Len() != 0 {
			t.Errorf("%s: %+v", ref, rec.Item)
		}
	}
	kept := w.record("github:octo/repo#30").Item
	if kept.Control == nil || string(kept.Graph) != `{"a":1}` {
		t.Errorf("a tombstone keeps control and graph: %+v", kept)
	}
	unfinished, err := w.ledger.Unfinished(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, ref := range unfinished {
		if ref.Number == 30 || ref.Number == 16 && ref.Host == "" {
			t.Errorf("%s is unfinished", ref)
		}
	}
}

// X7: an imported start was served, unless a spawn was tried and not given up.
func TestWhatIsOwed(t *testing.T) {
	for name, c := range map[string]struct {
		spawn  string
		served bool
	}{
		"absent":   {``, true},
		"empty":    {`,"spawn":{}`, true},
		"null":     {`,"spawn":null`, true},
		"zero":     {`,"spawn":{"attempts":0,"gaveUp":false}`, true},
		"tried":    {`,"spawn":{"attempts":1,"gaveUp":false}`, false},
		"given up": {`,"spawn":{"attempts":3,"gaveUp":true}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.file("portable/a.json", `{"ref":"github:octo/repo#1","control":{"command":"do"},"poll":{"seenComments":[]`+c.spawn+`}}`)
			w.imports()
			if got := w.record("github:octo/repo#1").Item.Control.Served; got != c.served {
				t.Errorf("served: %v", got)
			}
		})
	}
}

// Forms of the sections that are valid, and what becomes of them.
func TestValidForms(t *testing.T) {
	for name, c := range map[string]struct {
		doc   string
		known bool
		rows  string
	}{
		"no sections":         {`{"ref":"github:octo/repo#1"}`, false, ``},
		"emptied poll":        {`{"ref":"github:octo/repo#1","poll":null}`, false, ``},
		"empty poll":          {`{"ref":"github:octo/repo#1","poll":{}}`, true, ``},
		"two keys":            {`{"ref":"github:octo/repo#1","poll":{"seenComments":["a"],"lastPolledAt":"2026-07-31T10:42:00Z"}}`, true, `a baselined`},
		"micros, an offset":   {`{"ref":"github:octo/repo#1","poll":{"lastPolledAt":"2026-07-31T10:42:00.123456+02:00"}}`, true, ``},
		"no offset":           {`{"ref":"github:octo/repo#1","poll":{"lastPolledAt":"2026-07-31T10:42:00.5"}}`, true, ``},
		"seen twice":          {`{"ref":"github:octo/repo#1","poll":{"seenComments":["a","b","a"]}}`, true, `a baselined b baselined`},
		"two generations":     {`{"ref":"github:octo/repo#1","poll":{"seenComments":["MDEyOklzc3VlQ29tbWVudDI0NTE=","IC_kwDOAAAAAc4AAAmT"]}}`, true, `MDEyOklzc3VlQ29tbWVudDI0NTE= baselined`},
		"seen and attempted":  {`{"ref":"github:octo/repo#1","poll":{"seenComments":["a"],"commentAttempts":{"a":2,"b":0,"c":3}}}`, true, `a baselined b pending c pending?`},
		"given up, not seen":  {`{"ref":"github:octo/repo#1","poll":{"seenComments":["a"],"gaveUp":{"comments":["b"]}}}`, true, `a baselined b gave-up`},
		"version alone":       {`{"ref":"github:octo/repo#1","poll":{"seenComments":["a"],"gaveUp":{"version":"6.0"}}}`, true, `a baselined`},
		"not sealed":          {`{"ref":"github:octo/repo#1","sealed":false,"poll":{"seenComments":["a"]}}`, true, `a baselined`},
		"unknown keys inside": {`{"ref":"github:octo/repo#1","poll":{"cursor":7,"spawn":{"x":1}},"control":{"command":"pause","x":[1]}}`, true, ``},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.file("portable/a.json", c.doc)
			if r := w.imports(); r.Imported != 1 || len(r.Invalid) != 0 {
				t.Fatalf("report: %+v", r)
			}
			rec := w.record("github:octo/repo#1")
			var rows []string
			for _, row := range rec.Comments.All() {
				text := row.ID + " " + string(row.State)
				if row.MayRepeat {
					text += "?"
				}
				rows = append(rows, text)
			}
			same(t, "rows", c.rows, strings.Join(rows, " "))
			if rec.Item.Known() != c.known || !rec.Item.LateUntil.IsZero() {
				t.Errorf("item: %+v", rec.Item)
			}
		})
	}
}

// What cannot be understood is listed with its line and reason; the others are
// imported.
func TestInvalidFiles(t *testing.T) {
	for name, c := range map[string]struct {
		doc    string
		line   int
		reason string
	}{
		"empty":            {``, 1, "it is not JSON: unexpected end of JSON input"},
		"torn":             {"{\n \"ref\": \"github:octo/repo#1\",\n \"poll\": {\"seenComments\": [\"IC", 3, "it is not JSON: unexpected end of JSON input"},
		"two documents":    {"{\"ref\":\"github:octo/repo#1\"}\n{}", 2, "it is not JSON: invalid character '{' after top-level value"},
		"a list":           {`[]`, 1, "it is a list, not an object"},
		"null":             {`null`, 1, "it is null, not an object"},
		"no ref":           {`{"poll":{}}`, 1, `ref: ref "": it is empty; a ref looks like github:octo/repo#15 or github:ghe.corp.example/octo/repo#15`},
		"ref in capitals":  {`{"Ref":"github:octo/repo#1"}`, 1, `ref: ref "": it is empty; a ref looks like github:octo/repo#15 or github:ghe.corp.example/octo/repo#15`},
		"ref is a number":  {"{\n\"ref\":\n  15}", 3, "ref: it is a number, not a text"},
		"url is a list":    {`{"ref":"github:octo/repo#1","url":[]}`, 1, "url: it is a list, not a text"},
		"sealed is a text": {`{"ref":"github:octo/repo#1","sealed":"yes"}`, 1, "sealed: it is a text, not true or false"},
		"poll is a list":   {`{"ref":"github:octo/repo#1","poll":[]}`, 1, "poll: it is a list, not an object"},
		"an id is null":    {"{\"ref\":\"github:octo/repo#1\",\n\"poll\":{\"seenComments\":[\"a\",\n\nnull]}}", 4, "poll.seenComments: it is null, not a text"},
		"an id is a path":  {"{\"ref\":\"github:octo/repo#1\",\n\"poll\":{\"seenComments\":[\n\"a\",\n\"../b\"]}}", 4, `poll.seenComments: "../b" is not the id of a comment`},
		"negative":         {"{\"ref\":\"github:octo/repo#1\",\"poll\":{\"commentAttempts\":{\"a\":1,\n\"b\":-1}}}", 2, "poll.commentAttempts.b: it is -1, not a count from 0"},
		"half an attempt":  {`{"ref":"github:octo/repo#1","poll":{"commentAttempts":{"b":1.5}}}`, 1, "poll.commentAttempts.b: it is 1.5, not a count from 0"},
		"huge":             {`{"ref":"github:octo/repo#1","poll":{"spawn":{"attempts":1e99}}}`, 1, "poll.spawn.attempts: it is 1e99, not a count from 0"},
		"when":             {`{"ref":"github:octo/repo#1","poll":{"lastPolledAt":"yesterday"}}`, 1, `poll.lastPolledAt: it is "yesterday", not a time like 2026-07-31T09:11:58Z`},
		"past all years":   {`{"ref":"github:octo/repo#1","poll":{"lastPolledAt":"9999-12-31T23:59:59-23:00"}}`, 1, `poll.lastPolledAt: it is "9999-12-31T23:59:59-23:00", not a time like 2026-07-31T09:11:58Z`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			path := w.file("portable/bad.json", c.doc)
			w.file("portable/good.json", `{"ref":"github:octo/repo#2","poll":{"seenComments":["a"]}}`)
			r := w.imports()
			same(t, "invalid", []migrate.Invalid{{File: path, Line: c.line, Reason: c.reason}}, r.Invalid)
			if r.Imported != 1 {
				t.Errorf("imported: %d", r.Imported)
			}
		})
	}
}

// An unknown control word spoils its section alone.
func TestUnknownControlWord(t *testing.T) {
	w := newWorld(t)
	path := w.file("portable/a.json", "{\"ref\":\"github:octo/repo#1\",\n\"control\":{\n\"command\":\"explode\"},\"poll\":{\"seenComments\":[\"a\"]}}")
	r := w.imports()
	same(t, "invalid", []migrate.Invalid{{File: path, Line: 3,
		Reason: `this part is left out, the rest is imported: control.command: "explode" is no command that is known`}}, r.Invalid)
	if rec := w.record("github:octo/repo#1"); rec.Item.Control != nil || !rec.Item.Known() || rec.Comments.Len() != 1 {
		t.Errorf("record: %+v", rec)
	}
}

// Files beside records are none, whatever they hold; what cannot be read is
// listed.
func TestWhatIsNoRecord(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{
		"portable/index.json", "portable/a.json.tmp", "portable/.b.json", "portable/notes.md", "portable/folder.json/x",
		"local/standing/github-octo-repo-1.json", "local/channels/slack.json", "local/poll-clocks.json.tmp",
	} {
		w.file(name, `{"ref": torn`)
	}
	w.file("local/poll-clocks.json", `{"github:octo/repo#1": "2026-07-31T10:42:00Z"}`)
	if err := os.Symlink("nothing", filepath.Join(w.root, "portable", "gone.json")); err != nil {
		t.Fatal(err)
	}
	r := w.imports()
	same(t, "invalid", []migrate.Invalid{{File: filepath.Join(w.root, "portable", "gone.json"), Reason: "no such file or directory"}}, r.Invalid)
	if r.Imported != 0 {
		t.Errorf("imported %d", r.Imported)
	}
}

// A dry run reports the same and changes nothing; it needs no ledger.
func TestDryRun(t *testing.T) {
	w := samples(t)
	dry := w.imports(func(o *migrate.ImportOptions) { o.DryRun = true })
	none := w.imports(func(o *migrate.ImportOptions) { o.DryRun, o.Ledger = true, nil })
	if n := w.ledger.Commits(); n != 0 {
		t.Errorf("%d commits", n)
	}
	real := w.imports()
	same(t, "without a ledger", dry, none)
	dry.DryRun = false
	same(t, "dry and real", real, dry)
}

// Sources are never changed or removed.
func TestSourcesStay(t *testing.T) {
	w := samples(t)
	before := tree(t, w.root)
	w.imports()
	w.imports(func(o *migrate.ImportOptions) { o.Overwrite = true })
	same(t, "the state root", before, tree(t, w.root))
}

func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		all[path] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// Reports have lists, never null.
func TestReportAsJSON(t *testing.T) {
	w := newWorld(t)
	text, err := json.Marshal(w.imports())
	if err != nil {
		t.Fatal(err)
	}
	same(t, "report", `{"imported":0,"unchanged":0,"conflicts":[],"invalid":[],"merged":[],`+
		`"sessions":{"live":0,"gone":0,"foreign":0,"adopt":[],"left":[]},"links":0,"firstSight":[],"retries":[],"dryRun":false}`, string(text))
}

// Records are read a second time when their turn comes: one that is not what it
// was then is listed, and the others are imported.
func TestChangedWhileItIsImported(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"removed":  os.Remove,
		"torn":     func(path string) error { return os.WriteFile(path, []byte(`{"ref":`), 0o600) },
		"another":  func(path string) error { return os.WriteFile(path, []byte(`{"ref":"github:octo/repo#9"}`), 0o600) },
		"a folder": func(path string) error { return errors.Join(os.Remove(path), os.Mkdir(path, 0o700)) },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":{"seenComments":["a"]}}`)
			second := w.file("portable/2.json", `{"ref":"github:octo/repo#2","poll":{"seenComments":["a"]}}`)
			w.file("portable/3.json", `{"ref":"github:octo/repo#3","poll":{"seenComments":["a"]}}`)
			r := w.imports(func(o *migrate.ImportOptions) {
				o.Progress = func(step migrate.Step, done, total int) {
					if step != migrate.Reading || done < total {
						return
					}
					if err := change(second); err != nil {
						t.Error(err)
					}
				}
			})
			same(t, "invalid", []migrate.Invalid{{File: second, Reason: "it was changed while it was imported: import again"}}, r.Invalid)
			if r.Imported != 2 || w.record("github:octo/repo#2").Item.Known() {
				t.Errorf("report: %+v", r)
			}
		})
	}
}

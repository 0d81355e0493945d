package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"theloop/migrate"
	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

func (w *world) exports(edits ...func(*migrate.ExportOptions)) (string, migrate.Exported) {
	w.t.Helper()
	o := migrate.ExportOptions{Ledger: w.ledger, To: filepath.Join(w.t.TempDir(), "way", "back"), Sessions: true}
	for _, edit := range edits {
		edit(&o)
	}
	out, err := migrate.Export(w.t.Context(), o)
	if err != nil {
		w.t.Fatalf("export: %v", err)
	}
	return o.To, out
}

// Import then export gives documents equal to the originals, the handles of
// sessions too; importing those gives the same ledger.
func TestSamplesRoundTrip(t *testing.T) {
	w := samples(t)
	w.imports()
	to, out := w.exports()
	if out.Records != 5 || out.Sessions != 1 || len(out.Invalid) != 0 {
		t.Errorf("exported: %+v", out)
	}
	for _, name := range []string{
		"portable/github-ghe.corp.example-octo-repo-15.json", "portable/github-octo-foo.js-7.json", "portable/github-octo-repo-15.json",
		"portable/github-octo-repo-16.json", "portable/jira-acme-core-204.json", "local/github-octo-repo-15.json",
	} {
		same(t, name, document(t, filepath.Join(w.root, name)), document(t, filepath.Join(to, name)))
	}
	entries, err := os.ReadDir(filepath.Join(to, "portable"))
	if err != nil || len(entries) != 6 { // and the index
		t.Errorf("files: %v, %v", entries, err)
	}
	back := newWorld(t)
	if r := back.imports(func(o *migrate.ImportOptions) { o.Places.Root = to }); r.Imported != 5 || len(r.Invalid) != 0 {
		t.Errorf("the way back: %+v", r)
	}
	info, err := os.Stat(filepath.Join(to, "portable", "index.json"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("index: %v, %v", info.Mode(), err)
	}
}

// What the ledger has learned since the import is what is written; what it has
// not touched keeps its form.
func TestExportOfWhatWentOn(t *testing.T) {
	const ref = "github:octo/repo#1"
	w := newWorld(t)
	w.file("portable/1.json", `{"ref":"github:octo/repo#1","control":{"command":"start","why":"x"},"mine":[1],
		"poll":{"seenComments":["a","b","a"],"commentAttempts":{"c":1,"d":2,"z":0},"spawn":{},"cursor":7,"lastPolledAt":"2026-08-01T00:00:00+00:00"}}`)
	w.file("local/1.json", handle(ref, w.root, "active", `"runner":"tmux"`, `"recentDeliveries":["x"]`))
	w.imports()
	w.commit(ref, record.Deliver{Comment: "c"}, record.Baseline{Note: note("e"), Outcome: record.Unauthorized},
		record.Command{Control: record.Control{Command: "stop", Source: "cli", RequestedAt: now}},
		record.SetStatus{Status: record.Shut, At: now})
	to, _ := w.exports()
	want := w.file("want.json", `{"ref":"github:octo/repo#1","mine":[1],
		"control":{"ref":"github:octo/repo#1","command":"stop","source":"cli","actor":"","note":"","requestedAt":"2026-09-01T12:00:00Z"},
		"poll":{"seenComments":["a","b","c","e"],"commentAttempts":{"d":2,"z":0},"spawn":{},"cursor":7,"lastPolledAt":"2026-08-01T00:00:00+00:00"}}`)
	same(t, "record", document(t, want), document(t, filepath.Join(to, "portable/github-octo-repo-1.json")))
	handle := document(t, filepath.Join(to, "local/github-octo-repo-1.json")).(map[string]any)
	if handle["status"] != "closed" || handle["runner"] != "tmux" || handle["lastEventAt"] != "2026-09-01T12:00:00Z" || handle["cwd"] != w.root {
		t.Errorf("handle: %v", handle)
	}
}

// Items that never were in a file are written as earlier releases would have.
func TestExportOfNewItems(t *testing.T) {
	w := newWorld(t)
	w.commit("github:octo/repo#1", record.FirstSeen{At: now}, record.Baseline{Note: note("a"), Outcome: record.FirstSight},
		record.Hold{Note: note("b")}, record.Queue{Comment: "b", DeliveryID: "poll-comment-b", Run: "r"}, record.Hold{Note: note("c")},
		record.Hold{Note: note("d")}, record.GiveUp{Comment: "d", Version: version},
		record.PutSession{Session: record.Session{Harness: "claude", HarnessSessionID: uuid, Status: record.Active, CreatedAt: now, TmuxTarget: "loop-1"}})
	w.commit("github:octo/repo#2", record.FirstSeen{At: now}, record.PutLink{Link: record.Link{Target: "github:octo/repo#1", Since: now}})
	w.commit("github:octo/repo#3", record.FirstSeen{At: now}, record.End{At: now}, record.Forget{})
	w.commit("github:octo/repo#4", record.PutLink{Link: record.Link{Target: "github:octo/repo#1", Ended: true}})
	to, out := w.exports()
	if out.Records != 3 || out.Sessions != 1 {
		t.Errorf("exported: %+v", out)
	}
	for name, want := range map[string]string{
		"portable/github-octo-repo-1.json": `{"ref":"github:octo/repo#1","poll":{"seenComments":["a","d"],"commentAttempts":{"b":1},
			"spawn":{"attempts":0,"gaveUp":false,"deliveryId":""},"gaveUp":{"comments":["d"],"version":"v1.2.3"}}}`,
		"portable/github-octo-repo-3.json": `{"ref":"github:octo/repo#3","sealed":true}`,
		"local/github-octo-repo-1.json": `{"workItem":{"ref":"github:octo/repo#1","provider":"github","owner":"octo","repo":"repo","number":1},
			"harness":"claude","harnessSessionId":"` + uuid + `","cwd":"","status":"active","createdAt":"2026-09-01T12:00:00Z","lastEventAt":null,
			"tmuxTarget":"loop-1","recentDeliveries":[],"pullRequests":[` +
			entry(2, "active", "2026-09-01T12:00:00Z") + `,` + entry(4, "closed", "") + `]}`,
		"portable/index.json": `{"workItems":[{"ref":"github:octo/repo#1","url":"","file":"github-octo-repo-1.json","sections":["poll"]},
			{"ref":"github:octo/repo#2","url":"","file":"github-octo-repo-2.json","sections":["poll"]},
			{"ref":"github:octo/repo#3","url":"","file":"github-octo-repo-3.json","sections":["sealed"]}]}`,
	} {
		same(t, name, document(t, w.file("want.json", want)), document(t, filepath.Join(to, name)))
	}
	if _, err := os.Stat(filepath.Join(to, "portable/github-octo-repo-4.json")); err == nil {
		t.Error("an item that is only bound has a file")
	}
}

func entry(n int, status, created string) string {
	return fmt.Sprintf(`{"workItem":{"ref":"github:octo/repo#%d","provider":"github","owner":"octo","repo":"repo","number":%d},"harness":"",
		"harnessSessionId":"","cwd":"","status":%q,"createdAt":%q,"lastEventAt":null,"tmuxTarget":"","recentDeliveries":[]}`, n, n, status, created)
}

// Records that are there are not replaced unless that is asked for, and others
// stay; a second item of one name has a hash behind it (D6).
func TestExportBesideRecords(t *testing.T) {
	w := newWorld(t)
	w.file("portable/a.json", `{"ref":"github:octo/repo#1","poll":{}}`)
	w.file("portable/b.json", `{"ref":"github:octo-repo/1#1","poll":{}}`)
	w.file("portable/c.json", `{"ref":"github:octo/repo-1#1","poll":{}}`)
	w.imports()
	to, out := w.exports()
	if out.Records != 3 {
		t.Errorf("exported: %+v", out)
	}
	other := filepath.Join(to, "portable", "other.json")
	if err := os.WriteFile(other, []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	before := tree(t, to)
	_, err := migrate.Export(t.Context(), migrate.ExportOptions{Ledger: w.ledger, To: to})
	if err == nil || !strings.Contains(err.Error(), "--force") {
		t.Errorf("error: %v", err)
	}
	same(t, "refused", before, tree(t, to))
	w.exports(func(o *migrate.ExportOptions) { o.To, o.Force = to, true })
	same(t, "forced", before, tree(t, to))
	names := map[string]bool{}
	for path := range before {
		if filepath.Base(filepath.Dir(path)) == "portable" {
			names[filepath.Base(path)] = true
		}
	}
	if len(names) != 5 || !names["github-octo-repo-1.json"] || !names["github-octo-repo-1-1.json"] {
		t.Errorf("names: %v", names)
	}
}

// An item's rows that cannot be read are listed, the others are written.
func TestExportOfUnreadableRows(t *testing.T) {
	w := samples(t)
	w.imports()
	bad := unreadable{w.ledger, "github:octo/repo#15"}
	_, out := w.exports(func(o *migrate.ExportOptions) { o.Ledger = bad })
	if out.Records != 4 || len(out.Invalid) != 1 || !strings.Contains(out.Invalid[0].Reason, "run `the-loop ledger check`") {
		t.Errorf("exported: %+v", out)
	}
	r := w.imports(func(o *migrate.ImportOptions) { o.Ledger = bad })
	if r.Unchanged != 4 || len(r.Invalid) != 3 || !strings.Contains(r.Invalid[2].Reason, "the ledger's own row of github:octo/repo#15 cannot be read") {
		t.Errorf("imported: %+v", r)
	}
}

// unreadable is a ledger with a row that does not decode.
type unreadable struct {
	*store.Ledger
	ref string
}

func (u unreadable) Record(ctx context.Context, ref workitem.Ref) (record.Record, error) {
	if ref.String() == u.ref {
		return record.Record{}, &store.RowError{Bucket: "items", Key: u.ref, Err: errors.New("it is torn")}
	}
	return u.Ledger.Record(ctx, ref)
}

// An item was last polled when its source was last listed completely.
func TestExportOfWhenItWasPolled(t *testing.T) {
	w := samples(t)
	w.imports()
	err := w.ledger.EndCycle(t.Context(), record.Cycle{At: now}, []record.SourceRow{{ID: "github:octo/repo", ListedAt: now, CompleteAt: now}})
	if err != nil {
		t.Fatal(err)
	}
	to, _ := w.exports()
	for name, want := range map[string]string{"github-octo-repo-15": "2026-09-01T12:00:00Z", "jira-acme-core-204": "2026-05-05T05:05:05Z"} {
		poll := document(t, filepath.Join(to, "portable", name+".json")).(map[string]any)["poll"].(map[string]any)
		if poll["lastPolledAt"] != want {
			t.Errorf("%s: %v", name, poll["lastPolledAt"])
		}
	}
}

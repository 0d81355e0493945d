package migrate_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/migrate"
	"theloop/record"
)

func poll(ids ...string) string { return `{"seenComments":["` + strings.Join(ids, `","`) + `"]}` }

func (w *world) seen(ref string) string {
	w.t.Helper()
	var ids []string
	for _, row := range w.record(ref).Comments.All() {
		ids = append(ids, row.ID)
	}
	return strings.Join(ids, " ")
}

// Sections of older places are read too; one that a newer place has, or has
// emptied, wins.
func TestOlderPlaces(t *testing.T) {
	w := newWorld(t)
	cwd := t.TempDir()
	w.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":`+poll("newest")+`}`)
	w.file("portable/2.json", `{"ref":"github:octo/repo#2","control":null,"poll":null}`)
	w.file("portable/3.json", `{"ref":"github:octo/repo#3"}`)
	w.file("portable/4.json", `{"ref":"github:octo/repo#4","sealed":true}`)
	w.file("sessions/poll-state.json", `{"items":{
		"github:octo/repo#1":`+poll("newer")+`,"github:octo/repo#2":`+poll("newer")+`,"github:octo/repo#3":`+poll("newer")+`,
		"github:octo/repo#4":`+poll("newer")+`,"github:octo/repo#5":`+poll("newer")+`,"nonsense":`+poll("x")+`,
		"github:octo/repo#8":{"seenComments":7},"github:octo/repo#9":null}}`)
	w.file("poll-state.json", `{"items":{"github:octo/repo#5":`+poll("old")+`,"github:octo/repo#6":`+poll("old")+`}}`)
	os.MkdirAll(filepath.Join(cwd, ".the-loop"), 0o700)
	os.WriteFile(filepath.Join(cwd, ".the-loop", "poll-state.json"),
		[]byte(`{"items":{"github:octo/repo#6":`+poll("oldest")+`,"github:octo/repo#7":`+poll("oldest")+`}}`), 0o600)
	for n, ref := range []string{"1", "2", "3", "4", "6"} {
		w.file("sessions/control/"+ref+".json", `{"ref":"github:octo/repo#`+ref+`","command":"stop","source":"cli","note":"`+string(rune('a'+n))+`"}`)
	}
	w.file("sessions/control/bad.json", `{"ref":"github:octo/repo#10","command":"explode"}`)
	w.file("local/1.json", handle("github:octo/repo#1", w.root, "active"))
	w.file("sessions/1.json", handle("github:octo/repo#1", w.root, "closed", `"recentDeliveries":["poll-comment-newest"]`))
	w.file("sessions/6.json", handle("github:octo/repo#6", w.root, "active"))
	registry := t.TempDir()
	os.MkdirAll(filepath.Join(registry, "control"), 0o700)
	os.WriteFile(filepath.Join(registry, "control", "7.json"), []byte(`{"ref":"github:octo/repo#7","command":"pause"}`), 0o600)
	os.WriteFile(filepath.Join(registry, "7.json"), []byte(handle("github:octo/repo#7", w.root, "active")), 0o600)

	r := w.imports(func(o *migrate.ImportOptions) { o.Places.Cwd, o.Places.Registry = cwd, registry })
	var reasons []string
	for _, i := range r.Invalid {
		reasons = append(reasons, filepath.Base(i.File)+": "+strings.SplitN(i.Reason, ";", 2)[0])
	}
	same(t, "invalid", []string{
		`bad.json: command: "explode" is no command that is known`,
		"poll-state.json: items.github:octo/repo#8.seenComments: it is a number, not a list",
		`poll-state.json: items.nonsense: ref "nonsense": there is no provider (such as github:) in front`,
	}, reasons)
	if r.Imported != 8 || len(r.Merged) != 0 {
		t.Errorf("report: %+v", r)
	}
	for ref, want := range map[string]string{"1": "newest", "2": "", "3": "newer", "4": "", "5": "newer", "6": "old", "7": "oldest", "9": ""} {
		same(t, "seen of "+ref, want, w.seen("github:octo/repo#"+ref))
	}
	for ref, want := range map[string]string{"1": "stop", "2": "", "3": "stop", "4": "", "5": "", "6": "stop", "7": "pause"} {
		got := ""
		if c := w.record("github:octo/repo#" + ref).Item.Control; c != nil {
			got = c.Command
		}
		same(t, "control of "+ref, want, got)
	}
	if rec := w.record("github:octo/repo#1"); rec.Session.Status != record.Active {
		t.Errorf("session of 1: %+v", rec.Session)
	} else if row := w.row("github:octo/repo#1", "newest"); row.State != record.Delivered {
		t.Errorf("delivered into the older one: %+v", row)
	}
	for _, ref := range []string{"6", "7"} {
		if w.record("github:octo/repo#"+ref).Session == nil {
			t.Errorf("no session of %s", ref)
		}
	}
	if again := w.imports(func(o *migrate.ImportOptions) { o.Places.Cwd, o.Places.Registry = cwd, registry }); again.Imported != 0 || again.Unchanged != 8 {
		t.Errorf("again: %+v", again)
	}
}

// The places that --from names: a state root, a folder of records, a poll state.
func TestFrom(t *testing.T) {
	w := newWorld(t)
	other := newWorld(t)
	record := other.file("portable/1.json", `{"ref":"github:octo/repo#1","poll":`+poll("a")+`}`)
	state := other.file("old/state-of-polls.json", `{"items":{"github:octo/repo#2":`+poll("b")+`}}`)
	w.file("portable/3.json", `{"ref":"github:octo/repo#3"}`)
	w.file("poll-state.json", `{"items":{"github:octo/repo#2":`+poll("older")+`}}`)

	for _, c := range []struct {
		from  string
		files []string
	}{
		{"", []string{filepath.Join(w.root, "portable/3.json"), filepath.Join(w.root, "poll-state.json")}},
		{other.root, []string{record}},
		{filepath.Dir(record), []string{record}},
		{state, []string{filepath.Join(w.root, "portable/3.json"), state, filepath.Join(w.root, "poll-state.json")}},
	} {
		files, err := migrate.Files(migrate.Places{Root: w.root, From: c.from})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "files from "+c.from, c.files, files)
	}
	if _, err := migrate.Files(migrate.Places{Root: w.root, From: filepath.Join(w.root, "nowhere")}); err == nil {
		t.Error("a folder that is not there is no error")
	}
	w.imports(func(o *migrate.ImportOptions) { o.Places.From = state })
	same(t, "seen", "b", w.seen("github:octo/repo#2"))
}

// One file by two ways is read once.
func TestOneFileTwice(t *testing.T) {
	w := newWorld(t)
	w.file("sessions/1.json", handle("github:octo/repo#1", w.root, "active"))
	link := filepath.Join(t.TempDir(), "registry")
	if err := os.Symlink(filepath.Join(w.root, "sessions"), link); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("1.json", filepath.Join(w.root, "sessions", "2.json")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(link, "2.json"), filepath.Join(w.root, "poll-state.json")); err != nil {
		t.Fatal(err)
	}
	files, err := migrate.Files(migrate.Places{Root: w.root, Registry: link})
	if err != nil || len(files) != 1 {
		t.Errorf("%v, %v", files, err)
	}
}

// Files that an earlier release wrote after the import are named.
func TestNewer(t *testing.T) {
	w := newWorld(t)
	old := w.file("portable/1.json", `{"ref":"github:octo/repo#1"}`)
	again := w.file("portable/2.json", `{"ref":"github:octo/repo#2"}`)
	os.Chtimes(old, now, now.Add(-time.Hour))
	os.Chtimes(again, now, now.Add(time.Hour))
	newer, err := migrate.Newer(migrate.Places{Root: w.root}, now)
	if err != nil || !slices.Equal(newer, []string{again}) {
		t.Errorf("%v, %v", newer, err)
	}
}

// Two files for one item in different case: what either has seen, in the order
// of the newer one, whose control wins; both are listed.
func TestTwoFilesForOneItem(t *testing.T) {
	w := newWorld(t)
	newer := w.file("portable/a.json", `{"ref":"github:Octo/Repo#1","control":{"command":"stop"},
		"poll":{"seenComments":["c","a"],"commentAttempts":{"x":1},"lastPolledAt":"2026-08-02T00:00:00Z"}}`)
	older := w.file("portable/b.json", `{"ref":"github:octo/repo#1","control":{"command":"start"},"graph":{"g":1},"sealed":true,
		"poll":{"seenComments":["a","b","x"],"commentAttempts":{"c":1,"y":2},"gaveUp":{"comments":["b"]},"lastPolledAt":"2026-08-01T00:00:00Z"}}`)
	r := w.imports()
	same(t, "listed", []migrate.Merged{{Ref: "github:octo/repo#1", Files: []string{newer, older}}}, r.Merged)
	rec := w.record("github:octo/repo#1")
	if rec.Item.Ref != "github:Octo/Repo#1" || rec.Item.Control.Command != "stop" || string(rec.Item.Graph) != `{"g":1}` || rec.Item.Sealed() {
		t.Errorf("item: %+v", rec.Item)
	}
	var rows []string
	for _, row := range rec.Comments.All() {
		rows = append(rows, row.ID+" "+string(row.State))
	}
	same(t, "rows", []string{"c baselined", "a baselined", "b baselined", "x baselined", "y pending"}, rows)
	if r.Imported != 1 {
		t.Errorf("imported: %d", r.Imported)
	}
	if again := w.imports(); again.Imported != 0 || again.Unchanged != 1 || len(again.Merged) != 1 {
		t.Errorf("again: %+v", again)
	}
}

// What is no file is listed and never opened: reading a pipe would wait.
func TestWhatIsNoFile(t *testing.T) {
	w := newWorld(t)
	if err := os.Mkdir(filepath.Join(w.root, "portable"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(filepath.Join(w.root, "portable")) // the path of a socket is short
	l, err := net.Listen("unix", "s.json")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := w.imports()
	same(t, "invalid", []migrate.Invalid{{File: filepath.Join(w.root, "portable", "s.json"), Reason: "it is not a file"}}, r.Invalid)
}

// Two spellings of one item in one poll state are taken together as well.
func TestTwoSpellingsInOnePollState(t *testing.T) {
	w := newWorld(t)
	path := w.file("poll-state.json", `{"items":{"github:Octo/repo#1":`+poll("a", "b")+`,"github:octo/Repo#1":`+poll("c")+`,"github:octo/repo#1":`+poll("b", "d")+`}}`)
	r := w.imports()
	same(t, "seen", "a b c d", w.seen("github:octo/repo#1"))
	same(t, "listed", []migrate.Merged{{Ref: "github:octo/Repo#1", Files: []string{path}}}, r.Merged)
	if r.Imported != 1 || len(r.Invalid) != 0 {
		t.Errorf("report: %+v", r)
	}
	// Also when something else is known of the item, but what the poll state says.
	known := newWorld(t)
	known.file("portable/1.json", `{"ref":"github:octo/repo#1"}`)
	known.file("local/2.json", handle("github:octo/repo#2", known.root, "active"))
	known.file("poll-state.json", `{"items":{"github:Octo/repo#1":`+poll("a")+`,"github:octo/repo#1":`+poll("b")+
		`,"github:Octo/repo#2":`+poll("c")+`,"github:octo/repo#2":`+poll("d")+`}}`)
	known.imports()
	same(t, "seen beside a record", "a b", known.seen("github:octo/repo#1"))
	same(t, "seen beside a session", "c d", known.seen("github:octo/repo#2"))
	bad := newWorld(t)
	bad.file("poll-state.json", `{"version":1}`)
	if r := bad.imports(); len(r.Invalid) != 1 || r.Invalid[0].Reason != "items: there is no poll state in it: the key items is missing" {
		t.Errorf("no poll state: %+v", r)
	}
}

// What stands where a folder of records should is listed too: a link to a disk that
// is not mounted is not an earlier release that kept nothing.
func TestNoFolder(t *testing.T) {
	w := newWorld(t)
	w.file("poll-state.json", `{"items":{"github:octo/repo#1":`+poll("a")+`}}`)
	w.file("local", "a file")
	link := filepath.Join(w.root, "portable")
	if err := os.Symlink(filepath.Join(w.root, "not-mounted"), link); err != nil {
		t.Fatal(err)
	}
	r := w.imports()
	same(t, "invalid", []migrate.Invalid{
		{File: link, Reason: "it is not a folder"},
		{File: filepath.Join(w.root, "local"), Reason: "it is not a folder"},
	}, r.Invalid)
	if r.Imported != 1 {
		t.Errorf("report: %+v", r)
	}
}

// A place that cannot be read is listed, and is not taken for an empty one.
func TestUnreadablePlace(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(w.root, "portable")
	if err := os.Symlink("portable", dir); err != nil { // to itself
		t.Fatal(err)
	}
	if files, err := migrate.Files(migrate.Places{Root: w.root}); err == nil || !strings.Contains(err.Error(), "read the records in "+dir) {
		t.Errorf("%v, %v", files, err)
	}
	w.file("poll-state.json", `{"items":{"github:octo/repo#1":`+poll("a")+`}}`)
	if files, err := migrate.Files(migrate.Places{Root: w.root}); err != nil || len(files) != 1 {
		t.Errorf("beside another: %v, %v", files, err)
	}
	if r := w.imports(); r.Imported != 1 || len(r.Invalid) != 1 || r.Invalid[0].File != dir {
		t.Errorf("report: %+v", r)
	}
}

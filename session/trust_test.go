package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const claudeFile = `{
  "numStartups": 12,
  "bigNumber": 12345678901234567890.5,
  "tipsHistory": {"new-user": 1},
  "oauthAccount": {"emailAddress": "a<b>&c@example.org"},
  "projects": {
    "/home/octo/other": {"allowedTools": ["Bash(ls:*)"], "hasTrustDialogAccepted": false},
    "@DIR": {"history": [{"display": "h\u00e9llo <b>"}], "hasTrustDialogAccepted": false}
  }
}
`

// D11: the folder is marked, everything else keeps its value, byte for byte.
func TestTrustMarksTheFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".claude.json")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(claudeFile, "@DIR", dir)), 0o640); err != nil {
		t.Fatal(err)
	}
	before := parseTrust(t, file)
	if err := (Trust{File: file}).mark(dir, false); err != nil {
		t.Fatal(err)
	}
	after := parseTrust(t, file)
	project := before["projects"].(map[string]any)[dir].(map[string]any)
	project["hasTrustDialogAccepted"] = true
	if diff := cmp.Diff(before, after); diff != "" {
		t.Error(diff)
	}
	text, _ := os.ReadFile(file)
	for _, exact := range []string{"12345678901234567890.5", "a<b>&c@example.org", `h\u00e9llo <b>`} {
		if !strings.Contains(string(text), exact) {
			t.Errorf("%s is written differently:\n%s", exact, text)
		}
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 1 {
		t.Errorf("left behind: %v", left)
	}
}

func parseTrust(t *testing.T, file string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}

// D11: what is marked, where, and when nothing is written.
func TestTrustCases(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string // of the file; "-": there is none
		root   bool   // the folder is below the workspace root
		bypass bool
		want   string // with @DIR for the folder, @ROOT for the root
		writes bool
	}{
		{"no file", "-", false, false, `{"projects":{"@DIR":{"hasTrustDialogAccepted":true}}}`, true},
		{"an empty file", "", false, false, `{"projects":{"@DIR":{"hasTrustDialogAccepted":true}}}`, true},
		{"below the workspace root", "{}", true, false, `{"projects":{"@ROOT":{"hasTrustDialogAccepted":true}}}`, true},
		{"the bypass notice, too", "{}", false, true, `{"bypassPermissionsModeAccepted":true,"projects":{"@DIR":{"hasTrustDialogAccepted":true}}}`, true},
		{"trusted already", `{"projects":{"@DIR":{"hasTrustDialogAccepted":true}}}`, false, false, `{"projects":{"@DIR":{"hasTrustDialogAccepted":true}}}`, false},
		{"null projects", `{"projects":null}`, false, false, `{"projects":{"@DIR":{"hasTrustDialogAccepted":true}}}`, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			home := t.TempDir()
			root := filepath.Join(home, "workspaces")
			dir := filepath.Join(root, "octo", "repo")
			if err := os.MkdirAll(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			link := filepath.Join(home, "link") // Claude names folders without links
			if err := os.Symlink(dir, link); err != nil {
				t.Fatal(err)
			}
			trust, file := Trust{File: filepath.Join(home, ".claude.json")}, filepath.Join(home, ".claude.json")
			if c.root {
				trust.Root = root
			}
			fill := strings.NewReplacer("@DIR", dir, "@ROOT", root)
			if c.text != "-" {
				if err := os.WriteFile(file, []byte(fill.Replace(c.text)), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			before, _ := os.Stat(file)
			if err := trust.mark(link, c.bypass); err != nil {
				t.Fatal(err)
			}
			after, err := os.Stat(file)
			if err != nil || after.Mode().Perm() != 0o600 {
				t.Fatal(err, after)
			}
			if wrote := !os.SameFile(before, after); wrote != c.writes {
				t.Errorf("written: %v", wrote)
			}
			var want map[string]any
			if err := json.Unmarshal([]byte(fill.Replace(c.want)), &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, parseTrust(t, file)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// D11: a file that is a link stays one.
func TestTrustKeepsLinks(t *testing.T) {
	dir := t.TempDir()
	real, link := filepath.Join(dir, "dotfiles.json"), filepath.Join(dir, ".claude.json")
	if err := os.WriteFile(real, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	if err := (Trust{File: link}).mark(dir, false); err != nil {
		t.Fatal(err)
	}
	if to, err := os.Readlink(link); err != nil || to != real || parseTrust(t, real)["projects"] == nil {
		t.Errorf("the link is %q, %v", to, err)
	}
}

// D11: what cannot be read or is not understood is left as it is, and said.
func TestTrustRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": `{"projects": `, "a list": `[]`, "null": `null`, "projects are a list": `{"projects": [1]}`, "the folder is a text": `{"projects": {"@DIR": "x"}}`,
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, ".claude.json")
		text = strings.ReplaceAll(text, "@DIR", dir)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := (Trust{File: file}).mark(dir, false)
		if now, _ := os.ReadFile(file); err == nil || !strings.Contains(err.Error(), file) || string(now) != text {
			t.Errorf("%s: %v, and the file holds %q", name, err, now)
		}
	}
	if err := (Trust{File: t.TempDir()}).mark(t.TempDir(), false); err == nil {
		t.Error("a folder was taken for the file")
	}
}

// D11: Claude and we write one after the other; a lock that nobody renews is
// taken away; many at once lose nothing.
func TestTrustLock(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, ".claude.json")
	lock := file + ".lock"
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	freed := make(chan struct{})
	go func() {
		defer close(freed)
		<-time.After(100 * time.Millisecond) // another writes meanwhile
		_ = os.WriteFile(file, []byte(`{"theirs": 1}`), 0o600)
		_ = os.Remove(lock)
	}()
	if err := (Trust{File: file}).mark(dir, false); err != nil {
		t.Fatal(err)
	}
	<-freed
	if doc := parseTrust(t, file); doc["theirs"] == nil || doc["projects"] == nil {
		t.Errorf("the file holds %v", doc)
	}
	old := time.Now().Add(-time.Minute)
	if err := os.Mkdir(lock, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(lock, old, old); err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for i := range 8 {
		sub := filepath.Join(dir, string(rune('a'+i)))
		if err := os.Mkdir(sub, 0o700); err != nil {
			t.Fatal(err)
		}
		wait.Go(func() {
			if err := (Trust{File: file}).mark(sub, false); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	if n := len(parseTrust(t, file)["projects"].(map[string]any)); n != 9 {
		t.Errorf("%d of 9 folders are trusted", n)
	}
}

// D11: when the notice of the bypass mode is accepted.
func TestAsksBypass(t *testing.T) {
	for _, c := range []struct {
		argv []string
		want bool
	}{
		{[]string{"claude", "--dangerously-skip-permissions"}, true},
		{[]string{"claude", "--permission-mode", "bypassPermissions"}, true},
		{[]string{"claude", "--permission-mode=bypassPermissions"}, true},
		{[]string{"claude", "--permission-mode", "plan"}, false},
		{[]string{"claude", "--permission-mode"}, false},
		{[]string{"claude", "bypassPermissions"}, false},
	} {
		if asksBypass(c.argv) != c.want {
			t.Errorf("%q", c.argv)
		}
	}
}

// D11: the built-in harness alone asks for it, before it is started, and a
// failure is an event and no failed spawn.
func TestSpawnTrusts(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    func(*world)
		trusted bool
		bypass  bool
		failed  bool
	}{
		{"built in", func(*world) {}, true, false, false},
		{"resumed, too", func(w *world) { w.dead() }, true, false, false},
		{"a harness of that name of the user's own", func(w *world) {
			w.settings.Harnesses = map[string]Harness{"claude": {Command: []string{"claude"}}}
		}, false, false, false},
		{"another", func(w *world) { w.settings.Harness = "cursor" }, false, false, false},
		{"its arguments ask for bypass", func(w *world) {
			w.settings.HarnessArgs = map[string][]string{"claude": {"--dangerously-skip-permissions"}}
		}, true, true, false},
		{"they ask, and it is not to be accepted", func(w *world) {
			w.settings.HarnessArgs = map[string][]string{"claude": {"--dangerously-skip-permissions"}}
			w.settings.Trust.Bypass = "never"
		}, true, false, false},
		{"always", func(w *world) { w.settings.Trust.Bypass = BypassAlways }, true, true, false},
		{"turned off", func(w *world) { w.settings.Trust = Trust{} }, false, false, false},
		{"it cannot be written", func(w *world) { w.settings.Trust.File = "/dev/null/x" }, false, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			file := filepath.Join(t.TempDir(), ".claude.json")
			w.settings.Trust = Trust{File: file, Bypass: BypassAuto}
			c.make(w)
			var doc map[string]any
			at := func() {
				if text, err := os.ReadFile(file); err == nil {
					if err := json.Unmarshal(text, &doc); err != nil {
						t.Error(err)
					}
				}
			}
			w.tmux.on["spawn"], w.tmux.on["respawn"] = at, at
			if got := w.deliver(w.queued("IC_1")); got != Done {
				t.Fatal(got)
			}
			projects, _ := doc["projects"].(map[string]any)
			if _, trusted := projects[w.settings.Workdir]; trusted != c.trusted || (doc[trustBypass] == true) != c.bypass {
				t.Errorf("when it was started the file held %v", doc)
			}
			if w.emitted("workspace.trust_failed") != c.failed {
				t.Errorf("events %v", w.events)
			}
		})
	}
}

package config

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const watching = "polling: {sources: [{provider: inbox, path: inbox}]}\n"

func reloader(t *testing.T, content string) (*Reloader, string) {
	t.Helper()
	path := write(t, content)
	c, _, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return NewReloader(c), path
}

func reload(t *testing.T, r *Reloader) Update {
	t.Helper()
	u, err := r.Reload()
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// R1: edits take effect, by content and not by time.
func TestReloadTakesEdits(t *testing.T) {
	r, path := reloader(t, watching)
	if u := reload(t, r); u.Changed || u.Config.Routing.MaxSessions != 8 {
		t.Errorf("no edit: %+v", u)
	}
	rewrite(t, path, watching)
	if u := reload(t, r); u.Changed {
		t.Error("the same content is a change")
	}
	rewrite(t, path, watching+"routing: {maxSessions: 3}\nnonsense: 1\n")
	u := reload(t, r)
	if !u.Changed || u.Config.Routing.MaxSessions != 3 || len(u.NeedsRestart) != 0 {
		t.Errorf("edit: %+v", u)
	}
	if !slices.ContainsFunc(u.Warnings, func(p Problem) bool { return p.Key == "nonsense" }) {
		t.Errorf("warnings of the new content: %v", u.Warnings)
	}
	if u := reload(t, r); u.Changed || u.Warnings != nil || u.Config.Routing.MaxSessions != 3 {
		t.Errorf("afterwards: %+v", u)
	}
}

// R1: a broken edit keeps all of the last good one and is said once.
func TestReloadKeepsTheLastGoodOne(t *testing.T) {
	r, path := reloader(t, watching+"routing: {maxSessions: 3}\n")
	good := reload(t, r).Config
	broken := func(name string, breakIt func(), why string) {
		t.Helper()
		breakIt()
		for i, want := range []bool{true, false, false} {
			u, err := r.Reload()
			if (err != nil) != want || (err != nil && !strings.Contains(err.Error(), why)) {
				t.Errorf("%s, time %d: error %v", name, i, err)
			}
			if u.Changed || cmp.Diff(good, u.Config) != "" {
				t.Errorf("%s: half of it is in force", name)
			}
		}
	}
	content := func(s string) func() { return func() { rewrite(t, path, s) } }
	broken("a wrong value beside a right one", content(watching+"routing: {maxSessions: 5, announce: 5}\n"), path+":2:37: routing.announce")
	broken("another wrong value", content(watching+"routing: {maxSessions: x}\n"), "routing.maxSessions")
	broken("not YAML", content(watching+"routing: {"), "not YAML")
	broken("no sources", content("routing: {}\n"), "polling.sources is empty")
	broken("empty", content(""), "polling.sources is empty")
	broken("gone", func() { os.Remove(path) }, "no such file")
	broken("the first one again", content(watching+"routing: {maxSessions: 5, announce: 5}\n"), "routing.announce")

	rewrite(t, path, watching+"routing: {maxSessions: 3}\n")
	if u := reload(t, r); u.Changed || u.Warnings != nil {
		t.Errorf("taking a broken edit back is a change: %+v", u)
	}
	rewrite(t, path, watching+"routing: {maxSessions: 4}\n")
	if u := reload(t, r); !u.Changed || u.Config.Routing.MaxSessions != 4 {
		t.Errorf("mended: %+v", u)
	}
}

// Keys that need a restart keep their value until then; each edit of one is
// said once.
func TestReloadNamesWhatNeedsARestart(t *testing.T) {
	r, path := reloader(t, watching)
	was := reload(t, r).Config
	steps := []struct {
		content string
		want    []string
	}{
		{"state: {root: other}\nrouting: {maxSessions: 3}\n", []string{"state.root"}},
		{"state: {root: other}\nrouting: {maxSessions: 4}\n", nil},
		{"state: {root: other}\nrouting: {maxConcurrentDispatches: 1, tmux: {socketName: s}, webTerminal: {port: 1}}\n",
			[]string{"routing.maxConcurrentDispatches", "routing.tmux.socketName", "routing.webTerminal.port"}},
		{"state: {root: third}\neventLog: {path: p}\nmetrics: {listen: 1}\n", []string{"state.root", "eventLog.path", "metrics.listen"}},
		{"routing: {maxSessions: 5}\n", nil}, // back to what is in force
	}
	for i, step := range steps {
		rewrite(t, path, watching+step.content)
		u := reload(t, r)
		if !slices.Equal(u.NeedsRestart, step.want) || !u.Changed {
			t.Errorf("step %d: %q, want %q", i, u.NeedsRestart, step.want)
		}
		if names := Changed(was, u.Config); names != nil || u.Config.EventLog.Path != was.EventLog.Path {
			t.Errorf("step %d: %q took effect", i, names)
		}
	}
	if got := r.running.Routing.MaxSessions; got != 5 {
		t.Errorf("the rest of the edit did not take effect: %d", got)
	}
}

// An editor that writes while the file is read: the half that was read waits.
func TestReloadWaitsForAWriter(t *testing.T) {
	r, _ := reloader(t, watching)
	edit := watching + "routing: {authorizedUsers: [octocat], maxSessions: 3}\n"
	r.read = func(path string) ([]byte, error) {
		rewrite(t, path, edit)
		return []byte(watching + "routing: {}\n"), nil
	}
	if u := reload(t, r); u.Changed {
		t.Error("half of an edit took effect")
	}
	r.read = func(path string) ([]byte, error) { return []byte(watching + "routing: {}\n"), nil }
	if u := reload(t, r); u.Changed {
		t.Error("less than the file took effect")
	}
	r.read = read
	if u := reload(t, r); !u.Changed || u.Config.Routing.MaxSessions != 3 {
		t.Errorf("the whole edit: %+v", u)
	}
}

func TestChangedNamesRestartKeysOnly(t *testing.T) {
	var want []string
	for _, k := range Keys() {
		if k.NeedsRestart {
			want = append(want, k.Path)
		}
	}
	everything, err := os.ReadFile("../testdata/config/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got := Changed(parsed(t, ""), parsed(t, string(everything))); !slices.Equal(got, want) {
		t.Errorf("changed %q, want %q", got, want)
	}
	if got := Changed(parsed(t, ""), parsed(t, "state: {root: x}")); !slices.Equal(got, []string{"state.root"}) {
		t.Errorf("the root alone: %q", got)
	}
}

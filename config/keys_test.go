package config

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The file that earlier releases ship passes unchanged, and says what the
// defaults say but for the two paths it spells out.
func TestShippedFilePasses(t *testing.T) {
	const file = "../testdata/config/cli-config-python-defaults.yaml"
	problems, err := Check(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		if p.Level == LevelError || p.Kind == Unknown {
			t.Error(p)
		}
	}
	got, warnings, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	var unused []string
	for _, w := range warnings {
		if w.Kind == Unused {
			unused = append(unused, w.Message)
		}
	}
	if len(unused) != 1 || !strings.Contains(unused[0], "version, webhooks, routing.enabled") {
		t.Errorf("keys not used here are not named once: %q", unused)
	}
	want := parsed(t, "")
	want.File, want.Digest, want.Polling.SourcesLine = got.File, got.Digest, 79
	want.Routing.PromptTemplate = "skills/the-loop/templates/webhook-event-prompt.md"
	want.Routing.SpawnPromptTemplate = "skills/the-loop/templates/webhook-autoexecute-prompt.md"
	want.Routing.HarnessArgs = map[string][]string{"claude": {}, "cursor": {}}
	want.Polling.Sources = []Source{}
	want.Routing.AuthorizedUsers = []string{}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func parsed(t *testing.T, file string) Config {
	t.Helper()
	c, _, err := Parse("f", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Every documented default, written out.
func TestDefaults(t *testing.T) {
	got := parsed(t, "")
	want := Config{File: "f", Digest: got.Digest}
	want.State.Root = ".the-loop"
	want.Polling = Polling{Interval: time.Minute, MaxRetries: 3, FullResync: time.Hour}
	want.Routing = Routing{
		AutoExecuteLabel: "the-loop: auto-execute", SpawnOnUnmatched: "labeled", MaxSessions: 8,
		Context: Context{"withhold"}, Interaction: Interaction{"work-item"},
		HarnessTrust: HarnessTrust{true, "workspace-root", "auto"},
		Control: Control{true, true, Keywords{"the-loop start", "the-loop do", "the-loop contribute",
			"the-loop stop", "the-loop pause", "the-loop resume", "the-loop cleanup"}},
		DefaultHarness: "claude", SpawnWorkdir: ".", Workspace: Workspace{"", "worktree", "https", false},
		MaxConcurrentDispatches: 4, DispatchTimeout: 30 * time.Minute,
		Tmux: Tmux{Ready: 10 * time.Second, KeepSessionOnClose: true, RemainOnExit: true, ResumeOnRespawn: true,
			ResumeProbe: 2 * time.Second, KillHarnessOnClose: true, HarnessKillGrace: 5 * time.Second},
		WebTerminal: WebTerminal{false, "127.0.0.1", 7681, false},
		Announce:    Announce{true}, Reactions: Reactions{true, "eyes", "hooray", "confused"},
	}
	want.GitHubAPI = GitHubAPI{[]string{"GH_TOKEN", "GITHUB_TOKEN"}, "https://api.github.com"}
	want.EventLog = EventLog{true, ".the-loop/logs/events.jsonl", 64 << 20, 5}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The table's defaults, put into a file as they are printed, are the defaults.
func TestPrintedDefaultsReadBack(t *testing.T) {
	for _, k := range Keys() {
		if strings.Contains(k.Path, "[].") || strings.Contains(k.Path, "<name>.") {
			continue // inside an entry
		}
		path := strings.TrimSuffix(strings.TrimSuffix(k.Path, ".<name>"), "[]")
		file := strings.Repeat("{", strings.Count(path, ".")) // flow style: no indentation to count
		file = "{" + strings.ReplaceAll(path, ".", ": {") + ": " + k.Default + strings.Repeat("}", 1+len(file))
		got, warnings, err := Parse("f", []byte(file))
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		for _, w := range warnings {
			if w.Kind == Unknown {
				t.Error(w)
			}
		}
		want := parsed(t, "")
		got.Digest, got.Polling.SourcesLine = want.Digest, 0
		if diff := cmp.Diff(want, got, cmp.Comparer(sameStrings), cmp.Comparer(func(a, b []Source) bool { return len(a)+len(b) == 0 }),
			cmp.Comparer(func(a, b map[string][]string) bool { return len(a)+len(b) == 0 }),
			cmp.Comparer(func(a, b map[string]Harness) bool { return len(a)+len(b) == 0 })); diff != "" {
			t.Errorf("%s: %s", file, diff)
		}
	}
}

func sameStrings(a, b []string) bool { return slices.Equal(a, b) }

// Every field of a Config, a Source and a Harness is filled by a row of its
// table, but for those that say where something stood.
func TestEveryFieldHasARow(t *testing.T) {
	everyField(t, configRows(), "File", "Digest", "Polling.SourcesLine")
	everyField(t, sourceRows(), "Line")
	everyField(t, harnessRows())
}

func everyField[T any](t *testing.T, rows []key[T], but ...string) {
	var full, got T
	fill(reflect.ValueOf(&full).Elem())
	for _, row := range rows {
		row.keep(&got, &full)
		if row.Doc == "" || row.Allowed == "" || row.Type == "" {
			t.Errorf("row %s is not documented", row.Path)
		}
	}
	var missing []string
	zeroFields(reflect.ValueOf(got), "", &missing)
	slices.Sort(missing)
	slices.Sort(but)
	if !slices.Equal(missing, but) {
		t.Errorf("fields of %T without a row: %q, want %q", got, missing, but)
	}
}

func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
	default:
		v.SetInt(1)
	}
}

func zeroFields(v reflect.Value, path string, missing *[]string) {
	if v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			zeroFields(v.Field(i), join(path, v.Type().Field(i).Name), missing)
		}
		return
	}
	if v.IsZero() {
		*missing = append(*missing, path)
	}
}

// A file with everything set away from its default, and what is made of it.
func TestEverythingSet(t *testing.T) {
	data, err := os.ReadFile("../testdata/config/everything.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got, warnings, err := Parse("f", data)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("%v %v", err, warnings)
	}
	want := Config{File: "f", Digest: got.Digest}
	want.State.Root = "~/state"
	want.Polling = Polling{Interval: 1500 * time.Millisecond, MaxRetries: 5, FullResync: 10 * time.Minute, SourcesLine: 8, Sources: []Source{
		{Provider: "github", Line: 8, Label: "go", Repos: []RepoSpec{{"octo", "repo", 10}, {"big_corp", "foo.js", 11}},
			Monitor: Monitor{Issues: true}, Host: "github.com", BaseURL: "http://localhost:8080"},
		{Provider: "github", Line: 14, Label: "ours", Repos: []RepoSpec{{"octo", "repo", 15}},
			Monitor: Monitor{true, true}, Host: "ghe.corp.example", BaseURL: "https://ghe.corp.example/api/v3"},
		{Provider: "github", Line: 18, Label: "go", Repos: []RepoSpec{{"octo", "third", 18}},
			Monitor: Monitor{true, true}, Host: "github.com", BaseURL: "http://127.0.0.1:8080/api"},
		{Provider: "inbox", Line: 19, Label: "go", Path: "../inbox", Name: "team/box"},
	}}
	want.Routing = Routing{
		AuthorizedUsers: []string{"Octocat", "dependabot[bot]"}, AutoExecuteLabel: "go", SpawnOnUnmatched: "always", MaxSessions: 2,
		Context: Context{"quote"}, Interaction: Interaction{"cli"}, HarnessTrust: HarnessTrust{false, "directory", "never"},
		// Without control nobody could give the command (A4).
		Control:        Control{false, false, Keywords{"go on", "", "help", "halt", "wait", "carry on", "wipe"}},
		DefaultHarness: "mine",
		HarnessArgs:    map[string][]string{"claude": {"--model", "opus"}, "mine": {""}},
		Harnesses: map[string]Harness{
			"mine":   {Command: []string{"./agent", "--say={{prompt}}", "{{workItem}}"}, Resume: []string{"./agent", "--continue", "{{sessionId}}", "{{prompt}}"}},
			"cursor": {Command: []string{"cursor-agent"}},
		},
		SpawnWorkdir: "/srv", Workspace: Workspace{"$HOME/ws", "clone", "ssh", true}, PromptTemplate: "p.md", SpawnPromptTemplate: "s.md",
		MaxConcurrentDispatches: 1, DispatchTimeout: time.Minute,
		Tmux:        Tmux{SocketName: "loop-1", PassEnv: []string{"ANTHROPIC_API_KEY"}, Ready: 20 * time.Second},
		WebTerminal: WebTerminal{true, "::1", 7000, true}, Announce: Announce{false}, Reactions: Reactions{false, "+1", "-1", "heart"},
	}
	want.GitHubAPI = GitHubAPI{[]string{"MY_TOKEN"}, "http://127.0.0.1:8080/api"}
	want.EventLog = EventLog{false, "/var/log/loop.jsonl", 1 << 20, 1}
	want.Metrics.Listen = "127.0.0.1:9090"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// An empty string and a null are as if the key was not there.
func TestEmptyMeansUnset(t *testing.T) {
	got := parsed(t, `state: {root: ''}
polling: {intervalSeconds: '', sources: }
routing: {spawnOnUnmatched: , tmux: '', harnesses: , control: {keywords: {start: , stop: ''}}, reactions: {started: ''}}
eventLog:
metrics: {listen: off}
`)
	want := parsed(t, "")
	want.Digest = got.Digest
	want.Routing.Control.Keywords.Stop = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// P9: plain http goes to loopback only; the port of a metrics endpoint is on
// loopback unless a host is named.
func TestAddresses(t *testing.T) {
	for address, want := range map[string]bool{
		"https://api.github.com": true, "https://ghe.corp:8443/api/v3/": true, "http://localhost:1": true, "http://127.9.9.9": true,
		"http://[::1]:80/x": true, "https://[2001:db8::1]": true, "HTTPS://GHE.corp": true,
		"http://ghe.corp": false, "http://[::2]": false, "http://localhost.evil": false, "ftp://x": false, "https://": false,
		"https://a@b": false, "https://a b": false, "https://a/%2e%2e": false, "https://a:": false, "https://a:70000": false,
		"https://[::1%25eth0]": false, "ghe.corp": false, "https:ghe.corp": false, "//ghe.corp": false, "https://a/..": false, "https://-a": false,
	} {
		if isBaseURL(address) != want {
			t.Errorf("isBaseURL(%q) = %v", address, !want)
		}
	}
	for value, want := range map[string]string{
		"9090": "127.0.0.1:9090", "':9090'": "127.0.0.1:9090", "0.0.0.0:9090": "0.0.0.0:9090", "'[::1]:1'": "[::1]:1", "'off'": "", "false": "",
	} {
		if got := parsed(t, "metrics: {listen: "+value+"}").Metrics.Listen; got != want {
			t.Errorf("listen %s = %q, want %q", value, got, want)
		}
	}
}

func TestNoSourcesIsAnErrorOfItsOwn(t *testing.T) {
	err := parsed(t, "polling:\n  sources: []\n").RequireSources()
	const want = `f:2: polling.sources is empty: there is nothing to watch. Name a repository (or a folder) and whom to obey:

polling:
  sources:
    - provider: github
      repos: [OWNER/REPO]
routing:
  authorizedUsers: [YOUR-LOGIN]
`
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	c := parsed(t, example)
	if err := c.RequireSources(); err != nil {
		t.Errorf("what the error says to paste: %v", err)
	}
}

func TestStarterFilesPass(t *testing.T) {
	for _, inbox := range []bool{true, false} {
		c, warnings, err := Parse("f", []byte(Starter(inbox)))
		if err != nil || (c.RequireSources() == nil) != inbox {
			t.Errorf("inbox %v: %v, %v", inbox, err, c.RequireSources())
		}
		for _, w := range warnings {
			if w.Kind != Advice {
				t.Error(w)
			}
		}
	}
}

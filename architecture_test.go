package theloop_test

import (
	"bytes"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The rules that keep the parts apart. They are held against every source file
// whatever system it is built for, so that none of them holds on Linux alone.

const module = "theloop"

// arrow says what a package may import of ours, and why no more.
type arrow struct {
	to  []string
	why string
}

var arrows = map[string]arrow{
	"lock":      {why: "who runs is asked by everybody, also when nothing else works"},
	"heartbeat": {why: "it outlives the poller and is read without it"},
	"eventlog":  {to: []string{"escape"}, why: "what is logged never decides anything"},
	"config":    {why: "the file is read before anything is made"},
	"escape":    {why: "what hides is asked by whoever shows a text, wherever that is read"},
	"view":      {to: []string{"escape"}, why: "it shows text, whosever it is"},
	"workitem":  {why: "these are the words that all the others use"},

	"source":        {to: []string{"workitem"}, why: "a tracker knows nothing of sessions or ledgers"},
	"source/github": {to: []string{"source", "workitem"}, why: "a tracker knows nothing of sessions or ledgers"},
	"source/inbox":  {to: []string{"source", "workitem"}, why: "a tracker knows nothing of sessions or ledgers"},
	"record":        {to: []string{"workitem"}, why: "what may change is decided without I/O"},
	"policy":        {to: []string{"workitem"}, why: "whom to obey is decided without I/O"},
	"poller":        {to: []string{"record", "policy", "workitem"}, why: "it declares what it needs; ledger, trackers and queues satisfy it unseen"},
	"store":         {to: []string{"record", "workitem"}, why: "a second ledger must be able to stand beside it"},
	"dispatch":      {to: []string{"record", "workitem"}, why: "it runs jobs and knows neither tmux nor ledger"},

	"session":           {to: []string{"escape", "record", "workitem", "session/tmux", "session/workspace"}, why: "it reaches the ledger through an interface of its own"},
	"session/tmux":      {why: "it knows panes, not work items"},
	"session/workspace": {why: "it knows git, not work items"},

	"localapi": {to: []string{"record", "workitem"}, why: "it answers from whoever has the ledger open"},
	"webterm":  {why: "it looks after one program and knows nothing of what that shows"},
	"migrate":  {to: []string{"store", "record", "workitem"}, why: "records are moved while nothing runs"},
	"daemon": {to: []string{
		"config", "dispatch", "escape", "eventlog", "heartbeat", "localapi", "lock", "policy", "poller", "record",
		"session", "session/tmux", "session/workspace", "source", "source/github", "source/inbox", "store", "view", "webterm", "workitem",
	}, why: "it alone wires, and it is below the command line"},
	"cmd/the-loop": {to: []string{
		"config", "daemon", "escape", "eventlog", "heartbeat", "localapi", "lock", "migrate",
		"session", "session/tmux", "store", "view", "workitem",
	}, why: "it parses, calls and prints; what decides is elsewhere"},
}

func TestArrowsPointOneWay(t *testing.T) {
	for _, f := range sources(t) {
		if f.isTest || helpsTests(f.pkg) {
			continue
		}
		a, known := arrows[f.pkg]
		if !known {
			t.Errorf("%s: the package %s has no row in the table of arrows: say what it may import and why", f.path, f.pkg)
			continue
		}
		for _, imported := range f.imports() {
			to, ours := strings.CutPrefix(imported, module+"/")
			if ours && !slices.Contains(a.to, to) {
				t.Errorf("%s imports %s: %s may import %v of ours, since %s", f.path, to, f.pkg, a.to, a.why)
			}
		}
	}
}

// alone says which packages have a tool to themselves.
var alone = []struct {
	what    string
	pkgs    []string
	inTests bool // it holds for tests as well
	why     string
	found   func(source) []token.Pos
}{
	{
		what: "the bbolt library", pkgs: []string{"store"}, inTests: true, found: imports("go.etcd.io/bbolt"),
		why: "its types in no other signature keep a second ledger possible",
	},
	{
		what: "flock", pkgs: []string{"lock"}, found: names("Flock", "FcntlFlock", "LockFileEx"),
		why: "two ways of locking are two locks",
	},
	{
		what: "programs (os/exec)", pkgs: []string{"session/tmux", "session/workspace", "source/github", "store", "webterm"}, found: imports("os/exec"),
		why: "each program has one owner, with a deadline and an environment of its own: tmux session/tmux, git session/workspace, " +
			"ttyd webterm, gh for its login source/github, and our own store, since a damaged page ends whoever maps it",
	},
	{
		what: "an HTTP client", pkgs: []string{"source/github", "localapi"},
		found: names("http.Client", "http.Transport", "http.DefaultClient", "http.DefaultTransport", "http.Get", "http.Post", "http.PostForm", "http.Head"),
		why:   "one transport is the only way out and the only place that sets a token (P9); localapi's dials nothing but the control socket",
	},
	{
		what: "the YAML library", pkgs: []string{"config", "source/inbox"}, found: imports("github.com/goccy/go-yaml"),
		why: "one package knows the keys of the configuration and what is wrong with them; the other one its own front matter",
	},
	{
		what: "the end of the process", pkgs: []string{"cmd/the-loop"}, found: names("os.Exit", "log.Fatal", "log.Fatalf", "log.Fatalln", "syscall.Exit"),
		why: "what is open would stay open; cmd chooses the exit code",
	},
	{
		what: "the terminal", pkgs: []string{"cmd/the-loop"}, found: names("os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println"),
		why: "only cmd prints, through the one function that escapes (A8)",
	},
	{
		what: "init functions", found: initFunctions,
		why: "what runs before main can be neither ordered nor tested",
	},
}

func TestToolsHaveOneOwner(t *testing.T) {
	for _, rule := range alone {
		used := false
		for _, f := range sources(t) {
			if helpsTests(f.pkg) && !rule.inTests || f.isTest && !rule.inTests {
				continue
			}
			at := rule.found(f)
			used = used || len(at) > 0
			for _, pos := range at {
				if !slices.Contains(rule.pkgs, f.pkg) {
					t.Errorf("%s uses %s, which %v may: %s", f.files.Position(pos), rule.what, rule.pkgs, rule.why)
				}
			}
		}
		if !used && len(rule.pkgs) > 0 {
			t.Errorf("nobody uses %s: the rule looks for the wrong thing", rule.what)
		}
	}
}

// What decides rests on its inputs alone: the same gives the same (poller.Decide).
// The clock comes in as a time, and nothing else of the world comes in at all.
func TestDecisionsRestOnTheirInputs(t *testing.T) {
	worldly := []string{"os", "net", "net/http", "syscall", "math/rand", "math/rand/v2", "crypto/rand", "unsafe", "reflect", "sync"}
	clock := names("time.Now", "time.Since", "time.Until", "time.Sleep", "time.After", "time.AfterFunc", "time.Tick", "time.NewTimer", "time.NewTicker", "time.Local")
	decide := map[string]bool{"poller": false, "policy": false, "record": false}
	for _, f := range sources(t) {
		if _, decides := decide[f.pkg]; !decides || f.isTest {
			continue
		}
		decide[f.pkg] = true
		for _, imported := range f.imports() {
			if slices.Contains(worldly, imported) {
				t.Errorf("%s imports %s: two decisions on the same could differ", f.path, imported)
			}
		}
		for _, pos := range clock(f) {
			t.Errorf("%s asks for the time: it comes in with the facts", f.files.Position(pos))
		}
	}
	for pkg, found := range decide {
		if !found {
			t.Errorf("there is no package %s: the rule looks for the wrong thing", pkg)
		}
	}
}

// Help for tests is imported by tests alone.
func TestHelpForTestsStaysInTests(t *testing.T) {
	for _, f := range sources(t) {
		if f.isTest || helpsTests(f.pkg) {
			continue
		}
		for _, imported := range f.imports() {
			if strings.HasPrefix(imported, module+"/") && helpsTests(imported) || imported == "testing" {
				t.Errorf("%s imports %s", f.path, imported)
			}
		}
	}
}

// main only calls run, so that a test can call it too, and the process ends in
// two places that can be found.
func TestMainIsSmall(t *testing.T) {
	const most = 15
	text, err := os.ReadFile("cmd/the-loop/main.go")
	if err != nil {
		t.Fatal(err)
	}
	if lines := bytes.Count(text, []byte("\n")); lines > most {
		t.Errorf("main.go has %d lines, more than %d", lines, most)
	}
	for _, f := range sources(t) {
		ends := names("os.Exit")(f)
		if base := filepath.Base(f.path); !f.isTest && len(ends) > 0 && base != "main.go" && base != "exit.go" {
			t.Errorf("%s calls os.Exit: main.go and exit.go do", f.files.Position(ends[0]))
		}
	}
}

// Every package says what it is for, and no file is too long to be read at once.
func TestPackagesAreDescribed(t *testing.T) {
	const longest = 500
	described := map[string]bool{}
	for _, f := range sources(t) {
		if !f.isTest {
			described[f.pkg] = described[f.pkg] || f.tree.Doc != nil
		}
		if lines := f.files.Position(f.tree.FileEnd).Line; lines > longest {
			t.Errorf("%s has %d lines, more than %d", f.path, lines, longest)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(described)) {
		if !described[pkg] {
			t.Errorf("package %s has no comment that says what it is for", pkg)
		}
	}
}

// helpsTests reports whether a package is there for tests, as its name says.
func helpsTests(pkg string) bool { return strings.HasSuffix(path.Base(pkg), "test") }

package daemon

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"theloop/eventlog"
	"theloop/localapi"
	"theloop/record"
	"theloop/session/leaktest"
	"theloop/store"
	"theloop/store/storetest"
	"theloop/testdata/harness/harnesslog"
	"theloop/workitem"
)

// binEnv is the folder with the programs that the panes run.
const binEnv = "DAEMON_TEST_BIN"

func TestMain(m *testing.M) { os.Exit(prepared(m)) }

// prepared builds the programs and gives the tests a tmux of their own. Nothing
// of the developer's gets in.
func prepared(m *testing.M) int {
	dir, err := os.MkdirTemp("/tmp", "tl") // short: a socket's path has 108 bytes
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	for name, pkg := range map[string]string{"the-loop": "./cmd/the-loop", "agent": "./testdata/harness"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg)
		cmd.Dir = ".."
		if out, err := cmd.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build %s: %v\n%s", pkg, err, out)
			return 1
		}
	}
	// What the tests make and start is below one folder, which must be empty behind
	// them.
	temporary := filepath.Join(dir, "t")
	if err := os.Mkdir(temporary, 0o700); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	for name, value := range map[string]string{
		binEnv: dir, "TMUX_TMPDIR": dir, "TMPDIR": temporary, "HOME": filepath.Join(temporary, "nobody"), "TMUX": "", "GH_TOKEN": "", "GITHUB_TOKEN": "",
		"GH_CONFIG_DIR": dir, "GH_PATH": "/bin/false", "NOTIFY_SOCKET": "", "WATCHDOG_USEC": "",
	} {
		os.Setenv(name, value)
	}
	return leaktest.Run(m, temporary)
}

// world is a folder with an inbox, and pollers in this process on it, one after
// the other.
type world struct {
	t      testing.TB
	dir    string
	log    buffer
	offset time.Duration // of the clock
}

// buffer is a log that may be read while it is written.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-L", w.server(), "kill-server").Run() // none may run
		storetest.Check(t, w.path(".the-loop/ledger.db"))
	})
	return w
}

// server is the name of the world's tmux server.
func (w *world) server() string { return strings.ReplaceAll(w.t.Name(), "/", "-") }

func (w *world) path(name string) string { return filepath.Join(w.dir, name) }

func (w *world) write(name, text string) {
	w.t.Helper()
	path := w.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		w.t.Fatal(err)
	}
}

// configure writes the configuration: the inbox, and what is given as lines of
// its sections.
func (w *world) configure(users, sources, routing string) {
	w.t.Helper()
	w.write("config.yaml", fmt.Sprintf(`polling:
  intervalSeconds: 1
  sources:
    - {provider: inbox, path: inbox}
%s
routing:
  authorizedUsers: [%s]
  defaultHarness: test
  harnesses: {test: {command: [%q, -log, %q, '{{prompt}}']}}
  tmux: {socketName: %q, resumeProbeSeconds: 0}
%s
`, sources, users, filepath.Join(os.Getenv(binEnv), "agent"), w.path("agent.log"), w.server(), routing))
}

// started makes items that octocat has started.
func (w *world) started(numbers ...int) {
	w.t.Helper()
	for _, n := range numbers {
		w.write(fmt.Sprintf("inbox/%d/item.md", n), "---\ntitle: item\nauthor: octocat\nlabels: ['the-loop: auto-execute']\n---\nthe-task\n")
		w.write(fmt.Sprintf("inbox/%d/comments/20260101T000000Z-octocat.md", n), "the-loop start\n")
	}
}

func (w *world) comment(item, second int, author, text string) {
	w.t.Helper()
	w.write(fmt.Sprintf("inbox/%d/comments/20260102T0000%02dZ-%s.md", item, second, author), text+"\n")
}

func (w *world) options() Options {
	return Options{
		Config: w.path("config.yaml"), Version: "1.2.3", Exe: filepath.Join(os.Getenv(binEnv), "the-loop"),
		Cwd: w.dir, Home: w.dir, Env: os.Getenv, Log: slog.New(slog.NewTextHandler(&w.log, nil)), Out: &w.log,
		Now: func() time.Time { return time.Now().Add(w.offset) }, Interval: time.Hour, Drain: 100 * time.Millisecond,
	}
}

// running is a poller that runs.
type running struct {
	w    *world
	stop context.CancelFunc
	done chan error
}

// start runs a poller and returns when it is ready.
func (w *world) start(change func(*Options)) *running {
	w.t.Helper()
	o, ready := w.options(), make(chan struct{})
	o.Ready = func() { close(ready) }
	if change != nil {
		change(&o)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p := &running{w: w, stop: cancel, done: make(chan error, 1)}
	go func() { _, err := Run(ctx, o); p.done <- err }()
	select {
	case <-ready:
	case err := <-p.done:
		w.t.Fatalf("the poller did not start: %v\n%s", err, &w.log)
	}
	w.t.Cleanup(p.end)
	return p
}

// end stops the poller and waits for it. It may be called again.
func (p *running) end() {
	p.w.t.Helper()
	p.stop()
	select {
	case err, more := <-p.done:
		if more {
			close(p.done)
		}
		if err != nil {
			p.w.t.Errorf("the poller: %v", err)
		}
	case <-time.After(time.Minute):
		p.w.t.Fatalf("the poller does not stop\n%s", &p.w.log)
	}
}

func (w *world) once() {
	w.t.Helper()
	o := w.options()
	o.Once = true
	if clean, err := Run(w.t.Context(), o); err != nil || !clean {
		w.t.Fatalf("a cycle: clean %t, %v\n%s", clean, err, &w.log)
	}
}

func (w *world) client() *localapi.Client { return localapi.NewClient(w.path(".the-loop")) }

// kick runs a cycle of the poller.
func (w *world) kick() localapi.Kicked {
	w.t.Helper()
	done, err := w.client().Kick(w.t.Context())
	if err != nil {
		w.t.Fatalf("kick: %v\n%s", err, &w.log)
	}
	return done
}

// until waits for a condition.
func (w *world) until(what string, holds func() bool) {
	w.t.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			w.t.Fatalf("waited for: %s\n%s", what, &w.log)
		}
		<-tick.C
	}
}

// told counts how often the agents were told a text.
func (w *world) told(text string) int {
	w.t.Helper()
	records, err := harnesslog.Read(w.path("agent.log"))
	if err != nil {
		w.t.Fatal(err)
	}
	return strings.Count(strings.Join(harnesslog.Texts(records), "\n"), text)
}

func (w *world) events(name string) (found []eventlog.Entry) {
	w.t.Helper()
	_, err := eventlog.Read(w.path(".the-loop/logs/events.jsonl"), eventlog.Filter{Type: name}, func(e eventlog.Entry) error {
		found = append(found, e)
		return nil
	})
	if err != nil && !os.IsNotExist(err) {
		w.t.Fatal(err)
	}
	return found
}

// record reads what the ledger knows of an item while no poller runs.
func (w *world) record(item int) record.Record {
	w.t.Helper()
	l, err := store.Open(w.t.Context(), store.Options{Path: w.path(".the-loop/ledger.db"), ReadOnly: true})
	if err != nil {
		w.t.Fatal(err)
	}
	defer l.Close()
	rec, err := l.Record(w.t.Context(), ref(item))
	if err != nil {
		w.t.Fatal(err)
	}
	return rec
}

func ref(item int) workitem.Ref {
	return workitem.Ref{Provider: "inbox", Owner: "local", Repo: "demo", Number: item}
}

package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"theloop/eventlog"
	"theloop/lock"
	"theloop/testdata/harness/harnesslog"
)

// The life of the real program, as a process: it is started, stopped and killed
// in every way that happens to it.
func TestLifecycle(t *testing.T) {
	dir := t.TempDir()
	bin := programs{loop: build(t, "./cmd/the-loop", dir), agent: build(t, "./testdata/harness", dir)}
	for name, test := range map[string]func(*life){
		"EightStartsAtOnce":     eightStartsAtOnce,
		"StopThenStart":         stopThenStart,
		"StartDuringStop":       startDuringStop,
		"Kills":                 kills,
		"InsideTmux":            insideTmux,
		"ShellGone":             shellGone,
		"CallerGone":            callerGone,
		"Wrapper":               wrapper,
		"StrangePidfiles":       strangePidfiles,
		"Zombie":                zombie,
		"StopInACycle":          stopInACycle,
		"StopWhileStarting":     stopWhileStarting,
		"ExitTime":              exitTime,
		"Suspended":             suspended,
		"RefusedStartsLeaveAll": refusedStartsLeaveAll,
		"SecondSignalThenKill":  secondSignalThenKill,
		"DamagedMeanwhile":      damagedMeanwhile,
		"HeartbeatIsWhole":      heartbeatIsWhole,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newLife(t, bin))
		})
	}
	for name, test := range systemTests() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(newLife(t, bin))
		})
	}
}

type programs struct{ loop, agent string }

// life is one world of processes: a folder with an inbox and a tmux server.
type life struct {
	testing.TB
	bin programs
	dir string
	env []string
}

func newLife(t testing.TB, bin programs) *life {
	t.Helper()
	l := &life{TB: t, bin: bin, dir: t.TempDir()}
	sockets, err := os.MkdirTemp("", "tl") // short: a socket's path has 108 bytes
	if err != nil {
		t.Fatal(err)
	}
	l.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + l.dir, "TMUX_TMPDIR=" + sockets, "TERM=xterm", "GORACE=atexit_sleep_ms=0",
		"THE_LOOP_CLI_CONFIG=" + l.path("config.yaml"),
	}
	t.Cleanup(func() {
		l.killHolder()
		kill := exec.Command("tmux", "kill-server")
		kill.Env = l.env
		_ = kill.Run() // none may run
		os.RemoveAll(sockets)
	})
	l.configure("")
	l.write("inbox/README.md", "what is to be done\n")
	return l
}

// killHolder ends a poller in the background that a failed test left behind. Its
// number may be somebody else's by the time it is used, so the process is taken
// hold of before the lock is asked again.
func (l *life) killHolder() {
	status, err := lock.Probe(l.pidfile())
	if err != nil || !status.Held || status.PID <= 1 {
		return
	}
	process, err := os.FindProcess(status.PID)
	if err != nil {
		return
	}
	if again, err := lock.Probe(l.pidfile()); err == nil && again.Held && again.PID == status.PID {
		_ = process.Kill()
	}
}

// configure writes the configuration, with lines that are added to routing.
func (l *life) configure(routing string) {
	l.Helper()
	l.write("config.yaml", fmt.Sprintf(`polling:
  sources: [{provider: inbox, path: inbox}]
routing:
  authorizedUsers: [octocat]
  defaultHarness: test
  tmux: {resumeProbeSeconds: 0}
  harnesses: {test: {command: [%q, -log, %q, '{{prompt}}']}}
%s
`, l.bin.agent, l.path("agent.log"), routing))
}

func (l *life) path(name string) string { return filepath.Join(l.dir, name) }

func (l *life) root() string { return l.path(".the-loop") }

func (l *life) pidfile() string { return l.path(".the-loop/poll.pid") }

func (l *life) write(name, text string) {
	l.Helper()
	path := l.path(name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		l.Fatal(err)
	}
	if err := os.WriteFile(path+"~", []byte(text), 0o600); err != nil {
		l.Fatal(err)
	}
	if err := os.Rename(path+"~", path); err != nil {
		l.Fatal(err)
	}
}

// item makes a work item; a started one gets a session.
func (l *life) item(n int, started bool) {
	l.Helper()
	l.write(fmt.Sprintf("inbox/%d/item.md", n), "---\ntitle: item\nauthor: octocat\nlabels: ['the-loop: auto-execute']\n---\nthe-task\n")
	if started {
		l.write(fmt.Sprintf("inbox/%d/comments/20260101T000000Z-octocat.md", n), "the-loop start\n")
	}
}

func (l *life) comment(item, second int, text string) {
	l.Helper()
	at := time.Date(2026, 1, 2, 0, 0, second, 0, time.UTC)
	l.write(fmt.Sprintf("inbox/%d/comments/%s-octocat.md", item, at.Format("20060102T150405Z")), text+"\n")
}

func (l *life) command(name string, args ...string) *exec.Cmd {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = l.dir, l.env
	return cmd
}

// answer is how a process ended.
type answer struct {
	stdout, stderr string
	code           int // -1: by a signal
}

// run runs the program to its end.
func (l *life) run(args ...string) answer {
	l.Helper()
	return l.finish(l.command(l.bin.loop, args...))
}

func (l *life) finish(cmd *exec.Cmd) answer {
	l.Helper()
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		l.Fatal(err)
	}
	return answer{out.String(), complaint.String(), cmd.ProcessState.ExitCode()}
}

// must is run for what has to work.
func (l *life) must(args ...string) string {
	l.Helper()
	a := l.run(args...)
	if a.code != 0 {
		l.Fatalf("%v: exit code %d: %s%s", args, a.code, a.stdout, a.stderr)
	}
	return a.stdout
}

// daemon starts a poller in the background and returns its pid.
func (l *life) daemon(args ...string) int {
	l.Helper()
	out := l.must(append([]string{"poll", "start", "--daemon"}, args...)...)
	var pid int
	if _, err := fmt.Sscanf(out, "poller started (pid %d);", &pid); err != nil || pid <= 1 {
		l.Fatalf("it says %q: %v", out, err)
	}
	return pid
}

// process is a poller in the foreground, a child of the test.
type process struct {
	*exec.Cmd
	l      *life
	stderr output
	ended  bool
}

// output may be read while it is written.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (l *life) start(args ...string) *process {
	l.Helper()
	return l.launch(l.command(l.bin.loop, append([]string{"poll", "start"}, args...)...))
}

func (l *life) launch(cmd *exec.Cmd) *process {
	l.Helper()
	p := &process{Cmd: cmd, l: l}
	cmd.Stderr = &p.stderr
	if err := cmd.Start(); err != nil {
		l.Fatal(err)
	}
	l.Cleanup(func() {
		if !p.ended {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if l.Failed() {
				l.Logf("pid %d, which ran to the end, said: %s", cmd.Process.Pid, &p.stderr)
			}
		}
	})
	return p
}

func (p *process) signal(sig os.Signal) {
	p.l.Helper()
	if err := p.Process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.l.Fatal(err)
	}
}

// wait waits for the end and returns the exit code, -1 for one by a signal.
func (p *process) wait() int {
	p.l.Helper()
	_ = p.Wait() // its state says more
	p.ended = true
	return p.ProcessState.ExitCode()
}

// ready waits until a poller has told of a start and finished a cycle.
func (l *life) ready(pid int) {
	l.Helper()
	l.until(fmt.Sprintf("the poller (pid %d) has run a cycle", pid), func() bool {
		return l.count("poll.cycle", pid) > 0
	})
}

// count is how many events of a name a process wrote; pid 0 is any.
func (l *life) count(name string, pid int) int {
	l.Helper()
	n := 0
	for _, e := range l.events(name) {
		if pid == 0 || strings.Contains(string(e.Raw), fmt.Sprintf(`"pid":%d,`, pid)) {
			n++
		}
	}
	return n
}

func (l *life) events(pattern string) (found []eventlog.Entry) {
	l.Helper()
	_, err := eventlog.Read(l.path(".the-loop/logs/events.jsonl"), eventlog.Filter{Type: pattern}, func(e eventlog.Entry) error {
		found = append(found, e)
		return nil
	})
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		l.Fatal(err)
	}
	return found
}

// until waits for a condition.
func (l *life) until(what string, holds func() bool) {
	l.Helper()
	deadline := time.Now().Add(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		if time.Now().After(deadline) {
			l.Fatalf("waited for: %s", what)
		}
		<-tick.C
	}
}

// told counts how often the agents were told a text.
func (l *life) told(text string) int {
	l.Helper()
	records, err := harnesslog.Read(l.path("agent.log"))
	if err != nil {
		l.Fatal(err)
	}
	return strings.Count(strings.Join(harnesslog.Texts(records), "\n"), text)
}

// settled runs clean cycles until nothing is pending.
func (l *life) settled() {
	l.Helper()
	l.until("nothing is pending", func() bool {
		l.must("poll", "start", "--once")
		return strings.TrimSpace(l.must("ledger", "list", "--pending")) == "no work items"
	})
	if out := l.must("ledger", "check"); !strings.Contains(out, "sound") {
		l.Errorf("the ledger: %s", out)
	}
}

// status is what `poll status` answers.
type status struct {
	Running      bool
	PID          *int
	StalePidfile bool
	RecordedPID  *int
	Health       string
	LastCycle    *struct {
		ItemsSeen, Closures int
		Interrupted         bool
	}
}

func (l *life) status() status {
	l.Helper()
	var s status
	a := l.run("poll", "status", "--format", "json")
	if err := json.Unmarshal([]byte(a.stdout), &s); err != nil || a.code > 1 || a.stderr != "" {
		l.Errorf("poll status: exit code %d, %v: %s%s", a.code, err, a.stdout, a.stderr)
	}
	return s
}

// free demands that nobody holds the lock, now.
func (l *life) free(when string) {
	l.Helper()
	status, err := lock.Probe(l.pidfile())
	if err != nil || status.Held {
		l.Errorf("%s the lock is held by pid %d (%v)", when, status.PID, err)
	}
}

// rounds is short by default; SOAK is the number for the long form.
func (l *life) rounds(short int) int {
	l.Helper()
	text := os.Getenv("SOAK")
	if text == "" {
		return short
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		l.Fatalf("SOAK=%q is not a number of rounds", text)
	}
	return n
}

//go:build unix

package session

import (
	"context"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"theloop/record"
	"theloop/session/leaktest"
	"theloop/session/tmux"
	"theloop/testdata/harness/harnesslog"
	"theloop/workitem"
)

// harnessPath is the test harness, built once.
var harnessPath string

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "session-exec" { // this program, in a pane
		fmt.Fprintln(os.Stderr, "the-loop:", tmux.Exec(context.Background(), os.Args[2]))
		os.Exit(1)
	}
	os.Exit(runTests(m))
}

// temporary holds whatever the tests make; its name is short, since a socket's
// path may have 107 bytes.
var temporary string

func runTests(m *testing.M) int {
	// They wait most of the time: for programs to start, for terminals to settle.
	flag.Parse()
	if err := flag.Set("test.parallel", "4"); err != nil {
		panic(err)
	}
	tools, err := os.MkdirTemp("", "harness")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(tools)
	harnessPath = filepath.Join(tools, "harness")
	if out, err := exec.Command("go", "build", "-o", harnessPath, "theloop/testdata/harness").CombinedOutput(); err != nil {
		fmt.Printf("build the harness: %v\n%s", err, out)
		return 1
	}
	if temporary, err = os.MkdirTemp("/tmp", "ls"); err != nil {
		panic(err)
	}
	return leaktest.Run(m, temporary)
}

// rig is a host on a real tmux server of the test's own, with a harness that
// logs what reaches it, byte for byte.
type rig struct {
	t        testing.TB
	dir      string // short: a socket's path may have 107 bytes
	log      string
	tmux     *tmux.Server
	instance string
	ledger   *memory
	// stored is the ledger when it is a real one.
	stored   Ledger
	host     *Host
	settings Settings
	events   []string
	// warned is what the hosts logged, shown when a test fails.
	warned lines
	at     map[string]func()
	// told is how many texts were compared already.
	told int
	// dies says that harnesses end by themselves at once.
	dies bool
}

func newRig(t testing.TB, flags ...string) *rig {
	t.Helper()
	return newRigWith(t, tmux.Options{}, flags...)
}

func newRigWith(t testing.TB, o tmux.Options, flags ...string) *rig {
	t.Helper()
	dir, err := os.MkdirTemp(temporary, "r")
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if o.Instance == "" {
		o.Instance = testInstance
	}
	o.Exe = self
	o.Environ = append(o.Environ, "PATH="+os.Getenv("PATH"), "TMUX_TMPDIR="+dir, "HOME="+dir, "TERM=xterm",
		"TMUX=/nowhere,1,0", "TMUX_PANE=%7", "GH_TOKEN=a-secret")
	server, err := tmux.New(o)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{
		t: t, dir: dir, log: filepath.Join(dir, "log"), tmux: server, instance: o.Instance,
		ledger: newMemory(t), at: map[string]func(){},
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the host logged:\n%s", r.warned.String())
		}
		_ = r.command("kill-server").Run() // none may run
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	command := slices.Concat([]string{harnessPath, "-log", r.log}, flags)
	r.settings = Settings{
		Harness: "test", Workdir: dir, ReadyWait: 30 * time.Second, ResumeProbe: 300 * time.Millisecond,
		ResumeOnRespawn: true, RemainOnExit: true, KeepSessionOnClose: true, KillHarnessOnClose: true,
		KillGrace: time.Second, MaxRetries: 3,
		Harnesses: map[string]Harness{"test": {
			Command: append(slices.Clone(command), "-session-id", sessionIDArg, promptArg),
			Resume:  append(slices.Clone(command), "-resume", sessionIDArg, promptArg),
		}},
	}
	r.host = r.newHost(testRun)
	r.ledger.put(octoRef, record.Observe{Item: octoItem()}, record.FirstSeen{At: time.Now().Add(-time.Hour)},
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat"}})
	return r
}

// lines is a log that several write.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (r *rig) newHost(run string) *Host {
	r.t.Helper()
	var ledger Ledger = r.ledger
	if r.stored != nil {
		ledger = r.stored
	}
	h, err := New(Options{
		Ledger: ledger, Tmux: r.tmux, Instance: r.instance, Host: testHost, Run: run,
		Settings: func() Settings { return r.settings }, Authorized: members, Admit: admit,
		Emit: func(event string, _ map[string]any) { r.events = append(r.events, event) },
		Failpoint: func(name string) {
			if f := r.at[name]; f != nil {
				delete(r.at, name)
				f()
			}
		},
		Log: slog.New(slog.NewTextHandler(&r.warned, nil)),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	h.pause = func(context.Context, time.Duration) error { r.probe(); return nil }
	return h
}

// command is the real tmux as a user has it, on the rig's server.
func (r *rig) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", args...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + r.dir, "HOME=" + r.dir, "TERM=xterm"}
	return cmd
}

// user runs tmux as a user would and returns what it says.
func (r *rig) user(args ...string) string {
	r.t.Helper()
	out, err := r.command(args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

// probe waits until a harness that was started is up, or gone again: on a busy
// machine that takes longer than a test's patience.
func (r *rig) probe() {
	r.eventually("the harness is up or gone", func() bool {
		l := r.look()
		if l.State == tmux.Dead {
			return l.ExitStatus != ""
		}
		return !r.dies && slices.ContainsFunc(r.records(), func(rec harnesslog.Record) bool {
			return rec.Kind == "raw" && strings.HasSuffix(l.Identity, "/"+strconv.Itoa(rec.PID))
		})
	})
}

// deliver holds, queues and delivers a comment, as a cycle and its queue do.
func (r *rig) deliver(c workitem.Comment) Result {
	r.t.Helper()
	if r.ledger.row(octoRef, c.ID).State == "" {
		r.ledger.put(octoRef, record.Hold{Note: record.NoteOf(c)})
	}
	r.ledger.put(octoRef, record.Queue{Comment: c.ID, DeliveryID: record.CommentDeliveryID(c.ID), Run: r.host.Run})
	return r.host.Deliver(r.t.Context(), Delivery{
		Ref: octoRef, DeliveryID: record.CommentDeliveryID(c.ID), Comment: c, Story: Story{Item: octoItem()},
	})
}

func (r *rig) look() tmux.Look {
	return r.tmux.Look(r.t.Context(), tmux.Target{Owner: octoOwner})
}

func (r *rig) records() []harnesslog.Record {
	r.t.Helper()
	records, err := harnesslog.Read(r.log)
	if err != nil {
		r.t.Fatal(err)
	}
	return records
}

// texts waits until the harness was told n texts, and returns all it was told.
func (r *rig) texts(n int) []string {
	r.t.Helper()
	r.eventually(fmt.Sprintf("%d texts", n), func() bool { return len(harnesslog.Texts(r.records())) >= n })
	return harnesslog.Texts(r.records())
}

func (r *rig) eventually(what string, ok func() bool) {
	r.t.Helper()
	const patience = 20 * time.Second // eight tests at once on a busy machine
	for deadline := time.Now().Add(patience); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			r.t.Fatalf("%s: not within %s; the harnesses' log ends with%s", what, patience, r.lastRecords())
		}
	}
}

// lastRecords is the end of the log, without what was typed.
func (r *rig) lastRecords() (text string) {
	all := r.records()
	for _, rec := range all[max(0, len(all)-10):] {
		text += fmt.Sprintf("\n  %s %d %s, %d bytes", rec.Kind, rec.PID, rec.Text, len(rec.Input)+len(rec.Prompt))
	}
	return text
}

// exits ends the harness as a person would who closes it.
func (r *rig) exits() {
	r.t.Helper()
	identity := strings.Split(r.look().Identity, "/")
	pid, err := strconv.Atoi(identity[2])
	if err != nil {
		r.t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		r.t.Fatal(err)
	}
	r.eventually("the pane is dead", func() bool { return r.look().State == tmux.Dead })
}

func (r *rig) killed(failpoint string, job func()) {
	r.t.Helper()
	r.at[failpoint] = func() { panic(death{}) }
	defer func() {
		if _, ok := recover().(death); !ok {
			r.t.Errorf("the job was not killed at %q", failpoint)
		}
	}()
	job()
}

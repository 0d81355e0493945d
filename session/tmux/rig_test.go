//go:build unix

package tmux

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"theloop/session/leaktest"
	"theloop/testdata/harness/harnesslog"
)

// harnessPath is the test harness, built once; the tests run against the real tmux.
var harnessPath string

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "session-exec" {
		fmt.Fprintln(os.Stderr, "the-loop:", Exec(context.Background(), os.Args[2]))
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
	if temporary, err = os.MkdirTemp("/tmp", "lt"); err != nil {
		panic(err)
	}
	return leaktest.Run(m, temporary)
}

const testInstance = "0a1b2c3d"

// rig is a tmux server of a test's own, in a folder of its own.
type rig struct {
	*Server
	t       *testing.T
	dir     string // short: a socket's path may have 107 bytes
	harness int    // how many harness logs were handed out
}

// newRig makes the server object; no server runs yet. TMUX_TMPDIR must exist, or tmux would fall back to the user's own.
func newRig(t *testing.T, change ...func(*Options)) *rig {
	t.Helper()
	dir, err := os.MkdirTemp(temporary, "r")
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, dir: dir}
	r.Server = r.server(change...)
	t.Cleanup(func() {
		if pid := r.serverPID(); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		_ = r.command("kill-server").Run()
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return r
}

// server makes one more Server on the rig's tmux server.
func (r *rig) server(change ...func(*Options)) *Server {
	r.t.Helper()
	self, err := os.Executable()
	if err != nil {
		r.t.Fatal(err)
	}
	o := Options{Instance: testInstance, Exe: self}
	for _, c := range change {
		c(&o)
	}
	var s *Server
	eventually(r.t, "it can be run", func() bool { // a fork in flight may still hold a script open for writing
		s, err = New(o)
		return !errors.Is(err, syscall.ETXTBSY)
	})
	if err != nil {
		r.t.Fatal(err)
	}
	s.env = append(s.env, "TMUX_TMPDIR="+r.dir, "HOME="+r.dir)
	return s
}

func (r *rig) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", args...)
	cmd.Env = append(withoutEnv(withoutEnv(os.Environ(), "TMUX"), "HOME"), "TMUX_TMPDIR="+r.dir, "HOME="+r.dir)
	return cmd
}

// tmux runs the real tmux as a user would.
func (r *rig) tmux(args ...string) string {
	r.t.Helper()
	out, err := r.command(args...).CombinedOutput()
	if err != nil {
		r.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (r *rig) serverPID() int {
	out, _ := r.command("display-message", "-p", "#{pid}").Output()
	pid, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return pid
}

// alive fails the test when the server is gone or another one.
func (r *rig) alive(pid int) {
	r.t.Helper()
	if now := r.serverPID(); now != pid {
		r.t.Fatalf("the tmux server was %d and is %d", pid, now)
	}
}

func (r *rig) logPath() string {
	r.harness++
	return filepath.Join(r.dir, "harness."+strconv.Itoa(r.harness))
}

// order is one for the test harness.
func (r *rig) order(log string, flags ...string) Order {
	return Order{Dir: r.dir, Argv: slices.Concat([]string{harnessPath, "-log", log}, flags, []string{PromptArg})}
}

// spawned is a session with a harness that is ready.
func (r *rig) spawned(name string, flags ...string) (Look, string) {
	r.t.Helper()
	look, log := r.started(name, flags...)
	if err := r.Ready(r.t.Context(), look, 10*time.Second); err != nil {
		r.t.Fatal(err)
	}
	return look, log
}

func (r *rig) started(name string, flags ...string) (Look, string) {
	r.t.Helper()
	log := r.logPath()
	sp := Spawn{Name: name, Owner: owner(name), HarnessSession: "s-" + name, Retain: true, Order: r.order(log, flags...)}
	look, outcome, err := r.Spawn(r.t.Context(), sp)
	if outcome != OK || err != nil {
		r.t.Fatalf("spawn %s: %v %v", name, outcome, err)
	}
	return look, log
}

func owner(name string) string { return OwnerMark(testInstance, name) }

func (r *rig) lookAt(name string) Look {
	return r.Look(r.t.Context(), Target{Name: name, Owner: owner(name)})
}

// records waits until the log's records satisfy ok.
func records(t *testing.T, path string, ok func([]harnesslog.Record) bool) []harnesslog.Record {
	t.Helper()
	var last []harnesslog.Record
	eventually(t, "log "+path, func() bool {
		var err error
		last, err = harnesslog.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		return ok(last)
	})
	return last
}

// input waits for want at the end of what the harness got, and returns all of it.
func input(t *testing.T, path, want string) string {
	t.Helper()
	got := records(t, path, func(rs []harnesslog.Record) bool {
		return bytes.HasSuffix(harnesslog.Input(rs, 0), []byte(want))
	})
	return string(harnesslog.Input(got, 0))
}

func got(t *testing.T, path string) string {
	t.Helper()
	rs, err := harnesslog.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(harnesslog.Input(rs, 0))
}

// eventually waits for a condition, with a deadline.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline := time.Now().Add(15 * time.Second)
	for !ok() {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not within 15 s", what)
		}
		pause()
	}
}

// pause yields between two looks at a condition.
func pause() { <-time.After(5 * time.Millisecond) }

// dies waits until the session's pane is dead, and tmux knows how it ended.
func (r *rig) dies(name string) Look {
	r.t.Helper()
	var look Look
	eventually(r.t, name+" dies", func() bool {
		look = r.lookAt(name)
		return look.State == Dead && look.ExitStatus != ""
	})
	return look
}

func panePID(l Look) int {
	n, err := identityNumbers(l.Identity)
	if err != nil {
		panic(err)
	}
	return int(n[2])
}

func soak(short int) int {
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 0 {
		return short * n
	}
	return short
}

// recorder is a tmux that writes down its arguments, one process per paragraph, and then is the real one.
func (r *rig) recorder(before string) (binary, log string) {
	r.t.Helper()
	real, err := exec.LookPath("tmux")
	if err != nil {
		r.t.Fatal(err)
	}
	dir := r.t.TempDir()
	binary, log = filepath.Join(dir, "tmux"), filepath.Join(dir, "calls")
	script := "#!/bin/sh\nprintf '%s\\0' \"$@\" >>'" + log + "'\nprintf '\\0' >>'" + log + "'\n" + before + "\nexec '" + real + "' \"$@\"\n"
	if err := os.WriteFile(binary, []byte(script), 0o700); err != nil {
		r.t.Fatal(err)
	}
	return binary, log
}

// calls reads a recorder's log, without the version checks.
func calls(t *testing.T, log string) [][]string {
	t.Helper()
	text, err := os.ReadFile(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var all [][]string
	for call := range strings.SplitSeq(string(text), "\x00\x00") {
		if args := strings.Split(strings.TrimPrefix(call, "\x00"), "\x00"); call != "" && args[0] != "-V" {
			all = append(all, args)
		}
	}
	return all
}

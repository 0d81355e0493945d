//go:build unix

package tmux

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"theloop/testdata/harness/harnesslog"
)

func running(pid int) bool {
	if p, ok := readState(pid); ok {
		return p != "Z"
	}
	return syscall.Kill(pid, 0) == nil
}

// readState is the state letter in /proc, where there is one.
func readState(pid int) (string, bool) {
	text, err := os.ReadFile("/proc/" + strings.TrimSpace(itoa(pid)) + "/stat")
	if err != nil {
		return "", false
	}
	rest := string(text[strings.LastIndexByte(string(text), ')')+2:])
	return rest[:1], true
}

// D9: the harness is ended by TERM, by KILL when it is deaf, and so is what it left on its terminal; the pane stays to be
// read, with its marks, or goes.
func TestD9Close(t *testing.T) {
	for _, c := range []struct {
		name   string
		flags  []string
		grace  time.Duration
		signal string // in the log; empty: it could not log its end
		min    time.Duration
	}{
		{"obeys TERM", nil, 5 * time.Second, "terminated", 0},
		{"ignores TERM", []string{"-ignore-term"}, 400 * time.Millisecond, "", 400 * time.Millisecond},
		{"leaves a child on the terminal", []string{"-child"}, 400 * time.Millisecond, "terminated", 400 * time.Millisecond},
	} {
		for _, keep := range []bool{true, false} {
			t.Run(c.name+map[bool]string{true: ", keep"}[keep], func(t *testing.T) {
				t.Parallel()
				r := newRig(t)
				look, log := r.spawned("loop-a", c.flags...)
				user := r.tmux("split-window", "-d", "-t", look.PaneID, "-P", "-F", "#{pane_id}", "sleep 1000")
				start := time.Now()
				err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true, Keep: keep, Grace: c.grace})
				if took := time.Since(start); err != nil || took < c.min {
					t.Fatalf("%v after %s", err, took)
				}
				if running(panePID(look)) {
					t.Error("the harness still runs")
				}
				now := r.lookAt("loop-a")
				if keep && (now.State != Dead || now.Identity != look.Identity || now.HarnessSession != look.HarnessSession) {
					t.Errorf("kept: %+v", now)
				}
				if !keep && now.Owner != "" {
					t.Errorf("not kept: %+v", now)
				}
				if panes := r.tmux("list-panes", "-s", "-t", "=loop-a:", "-F", "#{pane_id}#{pane_dead}"); !strings.Contains(panes, user+"0") {
					t.Errorf("the user's own pane %s is gone: %q", user, panes)
				}
				rs, _ := harnesslog.Read(log)
				if last := rs[len(rs)-1]; c.signal != "" && (last.Kind != "exit" || last.Text != c.signal) {
					t.Errorf("it ended with %q %q", last.Kind, last.Text)
				}
			})
		}
	}
}

// D9: a stopped harness is woken to obey.
func TestD9StoppedHarness(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	r.signal(panePID(look), syscall.SIGSTOP)
	start := time.Now()
	if err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true, Grace: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 5*time.Second || r.lookAt("loop-a").State != Absent {
		t.Errorf("after %s it is %v", took, r.lookAt("loop-a").State)
	}
}

// D9: a session that somebody renames while it is closed is closed all the same.
func TestD9RenamedMeanwhile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	r.tmux("rename-session", "-t", "=loop-a:", "mine")
	if err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true, Keep: true, Grace: 10 * time.Second}); err != nil {
		t.Fatal(err)
	}
	if now := r.lookAt("loop-a"); now.State != Dead || running(panePID(look)) {
		t.Errorf("it is %v", now.State)
	}
}

// D9: what is not ours, or not what was looked at, is neither signalled nor taken away.
func TestD9NotOurs(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-15")
	other := look
	other.Identity += "1"
	unmarked := Look{}
	r.tmux("new-session", "-d", "-s", "loop-1", "sleep 1000")
	unmarked = r.Look(t.Context(), Target{Name: "loop-1"})
	for name, try := range map[string]func() error{
		"owner":    func() error { return r.Close(t.Context(), look, CloseOptions{Owner: owner("loop-1"), Kill: true}) },
		"identity": func() error { return r.Close(t.Context(), other, CloseOptions{Owner: look.Owner, Kill: true}) },
		"unmarked": func() error { return r.Close(t.Context(), unmarked, CloseOptions{Owner: owner("loop-1"), Kill: true}) },
	} {
		err := try()
		if name == "identity" && err == nil { // that pane is gone, which is what was asked for
			continue
		}
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if !running(panePID(look)) || !running(panePID(unmarked)) || r.lookAt("loop-15").State != Live {
		t.Error("it was touched")
	}
}

// D9: a process number that is a stranger's by now is not signalled.
func TestD9StrangerIsNotSignalled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	strange := look
	strange.Identity = "1/1/" + itoa(os.Getpid())
	if _, err := openHarness(strange); err == nil {
		t.Error("this very process passes for a harness")
	}
	if _, err := openHarness(look); err != nil {
		t.Error(err)
	}
	// A leader of a session of its own, as a pane's process is, but on no terminal.
	leader := exec.Command("sleep", "1000")
	leader.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := leader.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { kill(t, leader.Process.Pid); _ = leader.Wait() }()
	strange.Identity = "1/1/" + itoa(leader.Process.Pid)
	if _, err := openHarness(strange); err == nil && runtime.GOOS == "linux" {
		t.Error("a leader on no terminal passes for a harness")
	}
	for _, bad := range []string{"1/1/1", "1/1/0", "x"} {
		strange.Identity = bad
		if _, err := openHarness(strange); err == nil {
			t.Errorf("%s passes for a harness", bad)
		}
	}
}

// D9: closing what is gone already is no error, nor is closing twice.
func TestD9Gone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	r.tmux("new-session", "-d", "-s", "other")
	o := CloseOptions{Owner: look.Owner, Kill: true, Keep: true, Grace: time.Second}
	for range 2 {
		if err := r.Close(t.Context(), look, o); err != nil {
			t.Fatal(err)
		}
	}
	o.Keep = false
	for range 2 {
		if err := r.Close(t.Context(), look, o); err != nil {
			t.Fatal(err)
		}
		if state := r.lookAt("loop-a").State; state != Absent {
			t.Errorf("it is %v", state)
		}
	}
	r.tmux("kill-server")
	if err := r.Close(t.Context(), look, o); err != nil {
		t.Errorf("without a server: %v", err)
	}
}

// D9: without Kill a kept harness goes on and is let go: nobody's, until it is adopted again; one that is not kept is
// hung up.
func TestD9WithoutKill(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	if err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Keep: true}); err != nil {
		t.Fatal(err)
	}
	if !running(panePID(look)) {
		t.Error("it was ended")
	}
	left := r.Look(t.Context(), Target{Name: look.Name})
	if left.Owner != LeftMark(look.Owner) || left.Identity != look.Identity || !left.Ours() {
		t.Errorf("it is not let go: %+v", left)
	}
	if outcome, err := r.paste(look, "1", "x"); outcome != Skip || err != nil {
		t.Errorf("typed into what was let go: %v %v", outcome, err)
	}
	if err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true}); !errors.Is(err, ErrRefused) {
		t.Errorf("ended what was let go: %v", err)
	}
	if err := r.Adopt(t.Context(), left, owner("loop-b"), "", nil); !errors.Is(err, ErrRefused) {
		t.Errorf("another took it: %v", err)
	}
	if err := r.Adopt(t.Context(), left, look.Owner, look.HarnessSession, nil); err != nil {
		t.Fatal(err)
	}
	user := r.tmux("split-window", "-d", "-t", look.PaneID, "-P", "-F", "#{pane_id}", "sleep 1000")
	if err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner}); err != nil {
		t.Fatal(err)
	}
	if rest := r.tmux("list-panes", "-a", "-F", "#{pane_id}"); rest != user {
		t.Errorf("left: %q, want the user's own pane %s", rest, user)
	}
	eventually(t, "the harness ends", func() bool { return !running(panePID(look)) })
}

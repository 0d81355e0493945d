//go:build unix

package session

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/testdata/harness/harnesslog"
)

// seat is a terminal that somebody sits at: a tmux server of its own, in whose
// pane a client of the rig's server runs.
type seat struct {
	r   *rig
	env []string
}

// sits attaches somebody to the session, and waits until he is there.
func (r *rig) sits(args ...string) *seat {
	r.t.Helper()
	dir, err := os.MkdirTemp(temporary, "o")
	if err != nil {
		r.t.Fatal(err)
	}
	s := &seat{r: r, env: []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + dir, "HOME=" + dir, "TERM=xterm"}}
	r.t.Cleanup(func() {
		_ = s.command("kill-server").Run()
		if err := os.RemoveAll(dir); err != nil {
			r.t.Error(err)
		}
	})
	attach := append([]string{"env", "-u", "TMUX", "TMUX_TMPDIR=" + r.dir, "tmux", "attach-session", "-t", r.look().PaneID}, args...)
	if out, err := s.command(append([]string{"new-session", "-d", "-x", "100", "-y", "30"}, attach...)...).CombinedOutput(); err != nil {
		r.t.Fatalf("%v %s", err, out)
	}
	r.eventually("somebody sits there", func() bool { return r.user("list-clients") != "" })
	return s
}

func (s *seat) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", args...)
	cmd.Env = s.env
	return cmd
}

// keys are pressed at the seat.
func (s *seat) keys(keys ...string) {
	s.r.t.Helper()
	if out, err := s.command(append([]string{"send-keys"}, keys...)...).CombinedOutput(); err != nil {
		s.r.t.Fatalf("%v %s", err, out)
	}
}

// last is what ends the server's last session, and so the server: on its way out
// it answers nothing that can be read, which is unknown (D4).
func (r *rig) last(args ...string) {
	r.t.Helper()
	server := r.server()
	r.user(args...)
	r.eventually("the server is gone", func() bool { return syscall.Kill(server, 0) != nil })
}

// What people do to a session that they look at; what is said afterwards arrives
// in the agent's pane, whole and once (D3, D4, D5).
func TestRealPeople(t *testing.T) {
	for _, c := range []struct {
		name    string
		do      func(*rig)
		resumed bool // in a new life of the harness
	}{
		{"somebody is attached", func(r *rig) { r.sits() }, false},
		{"somebody watches, read-only", func(r *rig) { r.sits("-r") }, false},
		{"somebody scrolls", func(r *rig) {
			r.sits().keys("C-b", "[")
			r.eventually("he is in copy mode", func() bool { return r.user("display-message", "-p", "-t", r.look().PaneID, "#{pane_in_mode}") == "1" })
		}, false},
		{"somebody was attached and has detached", func(r *rig) {
			r.sits().keys("C-b", "d")
			r.eventually("he is gone", func() bool { return r.user("list-clients") == "" })
		}, false},
		{"his terminal was closed", func(r *rig) {
			s := r.sits()
			if err := s.command("kill-server").Run(); err != nil {
				r.t.Error(err)
			}
			r.eventually("he is gone", func() bool { return r.user("list-clients") == "" })
		}, false},
		{"the window is split, and the other pane the current one", func(r *rig) {
			r.sits().keys("C-b", "%")
			r.eventually("it is split", func() bool { return r.look().Panes == 2 })
		}, false},
		{"split, and the keyboard goes to both", func(r *rig) {
			r.user("split-window", "-t", r.look().PaneID, "cat >"+filepath.Join(r.dir, "typed"))
			r.user("set-window-option", "-t", r.look().PaneID, "synchronize-panes", "on")
		}, false},
		{"the window is renamed and another one opened", func(r *rig) {
			r.user("rename-window", "-t", r.look().PaneID, "mine: ##(touch pwned)") // tmux reads what he types as a format
			r.user("new-window", "-t", r.look().Name+":")
		}, false},
		{"the session is renamed", func(r *rig) { r.user("rename-session", "-t", r.look().Name, "my own name") }, false},
		{"the pane is moved into another session", func(r *rig) {
			r.user("new-session", "-d", "-s", "desk")
			r.user("join-pane", "-d", "-s", r.look().PaneID, "-t", "desk:")
		}, false},
		{"a session is grouped with it", func(r *rig) { r.user("new-session", "-d", "-t", r.look().Name, "-s", "aaa") }, false},
		{"the pane is zoomed away", func(r *rig) {
			r.user("split-window", "-t", r.look().PaneID)
			r.user("resize-pane", "-Z")
		}, false},
		{"it is very small", func(r *rig) { r.user("resize-window", "-t", r.look().PaneID, "-x", "5", "-y", "2") }, false},
		{"the pane is killed", func(r *rig) { r.last("kill-pane", "-t", r.look().PaneID) }, true},
		{"the session is killed", func(r *rig) { r.last("kill-session", "-t", r.look().Name) }, true},
		{"the server is killed", func(r *rig) {
			server := r.server()
			r.signal(server, syscall.SIGKILL)
			r.eventually("it is gone", func() bool { return syscall.Kill(server, 0) != nil })
		}, true},
		{"the agent is ended", func(r *rig) { r.exits() }, true},
		{"the pane is respawned as it was", func(r *rig) { // its order is gone, so it ends
			r.user("respawn-pane", "-k", "-t", r.look().PaneID)
			r.eventually("it has ended", func() bool { return r.look().State == tmux.Dead })
		}, true},
		{"the buffers are deleted", func(r *rig) { _ = r.command("delete-buffer").Run() }, false},
		{"a buffer of the user's is on top", func(r *rig) { r.user("set-buffer", "the user's own") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if got := r.deliver(wild("IC_0")); got != Done {
				t.Fatalf("%s, events %v", got, r.events)
			}
			r.texts(1)
			before := r.ledger.get(octoRef).Session
			c.do(r)
			said := wild("IC_1")
			if got := r.deliver(said); got != Done {
				t.Fatalf("%s, events %v", got, r.events)
			}
			texts := r.texts(2)
			if d := data(t, texts[len(texts)-1]); len(texts) != 2 || d.Event.Text != said.Body {
				t.Errorf("told %q", texts)
			}
			if typed := string(harnesslog.Input(r.records(), 0)); !c.resumed && (!strings.HasPrefix(typed, "\x1b[200~") || !strings.HasSuffix(typed, "\x1b[201~\r")) {
				t.Errorf("it lost its brackets: %q", typed)
			}
			if left := r.user("list-buffers", "-F", "#{buffer_name}"); strings.Contains(left, "loop-") {
				t.Errorf("buffers are left: %s", left)
			}
			starts := harnesslog.Starts(r.records())
			if (len(starts) == 2) != c.resumed || c.resumed && starts[1].Resume != before.HarnessSessionID {
				t.Errorf("started %d times, last resuming %q", len(starts), starts[len(starts)-1].Resume)
			}
			if typed, err := os.ReadFile(filepath.Join(r.dir, "typed")); err == nil && len(typed) > 0 {
				t.Errorf("another pane was typed into: %q", typed)
			}
			for _, dir := range []string{r.dir, "."} { // the server's own folder, and where it was started
				if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
					t.Error("something of it was run by a shell")
				}
			}
		})
	}
}

// D3, D5, D9: a pane that somebody made a shell of is neither typed into, nor
// ended, nor doubled: what is said waits until it is taken over.
func TestRealRespawnedAsAShell(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if got := r.deliver(octoComment("IC_0", "octocat", "begin")); got != Done {
		t.Fatal(got)
	}
	r.texts(1)
	r.user("respawn-pane", "-k", "-t", r.look().PaneID, "/bin/sh")
	r.eventually("the shell runs", func() bool { return r.look().CurrentCommand == "sh" })
	shell := r.look()
	canary := filepath.Join(r.dir, "canary")
	said := octoComment("IC_1", "octocat", "touch "+canary)
	if got := r.deliver(said); got != Dropped || r.ledger.row(octoRef, "IC_1").Attempts != 0 {
		t.Errorf("delivered into a shell: %s", got)
	}
	if pane := r.host.Look(t.Context(), octoRef, r.ledger.get(octoRef)); pane.State != record.PaneForeign || !strings.Contains(pane.Holder, "another program") {
		t.Errorf("to those who decide it is %+v", pane)
	}
	if got := r.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done {
		t.Errorf("closed: %s", got)
	}
	if now := r.look(); now.State != tmux.Live || now.Identity != shell.Identity {
		t.Errorf("the shell is %+v", now)
	}
	if _, err := os.Stat(canary); err == nil {
		t.Error("the comment was run by the shell")
	}
	if all := r.user("list-panes", "-a"); strings.Count(all, "\n") != 0 {
		t.Errorf("another was made: %s", all)
	}
	// The shell ends: the session is the item's again.
	r.signal(pid(t, shell), syscall.SIGKILL)
	r.eventually("the pane is dead", func() bool { return r.look().State == tmux.Dead })
	if got := r.deliver(said); got != Done || len(r.texts(2)) != 2 {
		t.Errorf("afterwards: %s", got)
	}
}

func pid(t *testing.T, l tmux.Look) int {
	t.Helper()
	n, err := strconv.Atoi(l.Identity[strings.LastIndexByte(l.Identity, '/')+1:])
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// D7, I11: the server is killed with a delivery on its way: it is sent again, into
// a new session, and says that it may be a repeat; what was never started does
// not.
func TestRealServerKilledInADelivery(t *testing.T) {
	for _, at := range []string{"loaded", "started", "pasted"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if got := r.deliver(wild("IC_0")); got != Done {
				t.Fatal(got)
			}
			r.texts(1)
			server, said := r.server(), wild("IC_1")
			r.killed(at, func() {
				fail := r.at[at]
				r.at[at] = func() {
					r.signal(server, syscall.SIGKILL)
					r.eventually("it is gone", func() bool { return syscall.Kill(server, 0) != nil })
					fail()
				}
				r.deliver(said)
			})
			heard := len(harnesslog.Texts(r.records()))
			rec := r.ledger.get(octoRef)
			row, pane := r.ledger.row(octoRef, "IC_1"), r.host.Look(t.Context(), octoRef, rec)
			switch proof := record.Judge(row.Delivery, pane, row.Until.Add(time.Second)); {
			case at == "loaded" && proof != record.NeverStarted, at != "loaded" && proof != record.Unproved:
				t.Fatalf("%s proves %s, pane %+v", row.Phase(), proof, pane)
			case proof == record.Unproved:
				r.ledger.put(octoRef, record.Fail{Comment: "IC_1", MayRepeat: true})
			}
			r.host = r.newHost("run-2")
			if got := r.deliver(said); got != Done {
				t.Fatalf("%s, events %v", got, r.events)
			}
			texts := r.texts(heard + 1)
			last := texts[len(texts)-1]
			if says := strings.Contains(last, "may be a repeat"); says != (at != "loaded") || data(t, last).Event.Text != said.Body {
				t.Errorf("it says that it may be a repeat: %v\n%s", says, last)
			}
			if len(texts) != heard+1 {
				t.Errorf("%d texts", len(texts))
			}
		})
	}
}

// D4: a program that makes its terminal ready only after two seconds gets the
// first comment whole.
func TestRealSlowStart(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-raw-after", "2s", "-bracket-after", "100ms")
	r.host.pause = func(context.Context, time.Duration) error { return nil }
	if got := r.deliver(wild("IC_0")); got != Done {
		t.Fatal(got)
	}
	said := wild("IC_1")
	if got := r.deliver(said); got != Done {
		t.Fatalf("%s, events %v", got, r.events)
	}
	texts := r.texts(2)
	if d := data(t, texts[1]); len(texts) != 2 || d.Event.Text != said.Body {
		t.Errorf("told %q", texts)
	}
}

// D4: a program that never leaves line mode is waited for, and then gets what
// is said as lines.
func TestRealProgramOfLines(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-cooked")
	r.host.pause = func(context.Context, time.Duration) error { return nil }
	if got := r.deliver(wild("IC_0")); got != Done {
		t.Fatal(got)
	}
	r.settings.ReadyWait = 300 * time.Millisecond
	said := octoComment("IC_1", "octocat", "please do it line by line")
	began := time.Now()
	if got := r.deliver(said); got != Done || time.Since(began) < r.settings.ReadyWait {
		t.Fatalf("%s after %s, events %v", got, time.Since(began), r.events)
	}
	r.eventually("it arrives", func() bool { return strings.Contains(string(harnesslog.Input(r.records(), 0)), said.Body) })
}

// D6: names with dots and names longer than tmux shows.
func TestRealNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.host.pause = func(context.Context, time.Duration) error { return nil }
	for i, repo := range []string{"foo.js", "..-x", strings.Repeat("r", 100), "_-_.-"} {
		ref := octoRef
		ref.Repo, ref.Owner = repo, strings.Repeat("o", 39)
		r.know(ref)
		first, second := wild("IC_"+strconv.Itoa(2*i)), wild("IC_"+strconv.Itoa(2*i+1))
		if a, b := r.deliverTo(t.Context(), ref, first), r.deliverTo(t.Context(), ref, second); a != Done || b != Done {
			t.Errorf("%s: %s, %s, events %v", ref, a, b, r.events)
		}
		r.eventually("both arrive", func() bool { return len(r.heardBy(ref)) == 2 })
		row := r.ledger.get(ref).Session
		if names := strings.Split(r.user("list-sessions", "-F", "#{session_name}"), "\n"); !slices.Contains(names, row.TmuxTarget) {
			t.Errorf("%s is not among %q", row.TmuxTarget, names)
		}
	}
}

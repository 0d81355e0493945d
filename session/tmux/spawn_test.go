//go:build unix

package tmux

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"theloop/testdata/harness/harnesslog"
)

// nasty is what tmux, a shell or a format would make something else of.
const nasty = "it's \"q\" $(touch pwned) `touch pwned` #(touch pwned) #{pid} %s ; \\; | \\ ~ * é \xff;"

// D5, D8: the session is made with its marks, and the harness gets folder, environment, arguments and prompt byte for
// byte, whatever they hold.
func TestD8OrderArrivesExactly(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	dir := filepath.Join(r.dir, "dir "+nasty)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	log := r.logPath()
	prompt := strings.Repeat(nasty+"\n", 1+MaxPrompt/len(nasty))[:MaxPrompt]
	order := Order{Dir: dir, Argv: []string{harnessPath, "-log", log, "-session-id", nasty, "--", "", nasty, PromptArg},
		Env: []string{"NASTY=" + nasty, "LINES2=a\nb", "TMUX_EXTRA=1"}, Prompt: prompt}
	look, outcome, err := r.Spawn(t.Context(), Spawn{Name: "loop-a", Owner: owner("loop-a"), HarnessSession: nasty, Mark: Mark("d1"), Retain: true, Order: order})
	if outcome != OK {
		t.Fatal(outcome, err)
	}
	start := records(t, log, func(rs []harnesslog.Record) bool { return len(rs) > 0 })[0]
	var args []string
	for _, a := range start.Args[1:] {
		args = append(args, string(a))
	}
	want := append(slices.Clone(order.Argv[1:len(order.Argv)-1]), prompt)
	if diff := cmp.Diff(want, args); diff != "" {
		t.Errorf("arguments: %.300s", diff)
	}
	env := strings.Join(start.Env, "\x00") + "\x00"
	for _, kv := range []string{"LINES2=a\nb\x00", "TERM=" + r.tmux("show-options", "-gqv", "default-terminal") + "\x00", "PATH="} {
		if !strings.Contains(env, kv) {
			t.Errorf("environment lacks %q", kv)
		}
	}
	if strings.Contains(env, "TMUX") {
		t.Errorf("a TMUX variable got through: %q", env)
	}
	if start.PID != panePID(look) {
		t.Errorf("the harness is process %d, the pane's is %d", start.PID, panePID(look))
	}
	if look.HarnessSession != nasty || look.Owner != owner("loop-a") || !slices.Equal(look.Ring, []string{"_" + Mark("d1")}) {
		t.Errorf("marks: %+v", look)
	}
	if now := r.lookAt("loop-a"); now.Identity != look.Identity || now.PaneID != look.PaneID || now.State != Live {
		t.Errorf("spawn said %+v, look says %+v", look, now)
	}
	if left := r.tmux("list-buffers"); left != "" {
		t.Errorf("the order was not deleted: %.100s", left)
	}
	if _, err := os.Stat(filepath.Join(dir, "pwned")); err == nil {
		t.Error("something of it was run by a shell")
	}
}

// D8: the path of this program may hold anything that a HOME may.
func TestD8OddProgramPath(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	odd := filepath.Join(r.dir, "o'd \"$(touch pwned)\" #{pid} ; \\", "the-loop;")
	if err := os.MkdirAll(filepath.Dir(odd), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, odd); err != nil {
		t.Fatal(err)
	}
	r.Server = r.server(func(o *Options) { o.Exe = odd })
	r.spawned("loop-a")
}

// D8: what a user has in tmux.conf and in the shell does not come between: other shells, other numbering, hooks that
// split or slow things down, sessions that end when nobody looks.
func TestD8HostileConfig(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	conf := `set -g default-shell /bin/false
set -g default-command 'echo hijacked; exit 1'
set -g base-index 1
setw -g pane-base-index 1
set -g destroy-unattached on
set -g remain-on-exit off
set -g renumber-windows on
set -g history-limit 0
set -g detach-on-destroy off
set-hook -g after-new-session 'split-window -h "exec sleep 1000"'
set-hook -g after-set-option 'run-shell "sleep 0.05"'
set-hook -g after-paste-buffer 'select-pane -d'
set-hook -g after-load-buffer 'run-shell "sleep 0.05"'
set-hook -g session-created 'rename-window mine'
`
	if err := os.WriteFile(filepath.Join(r.dir, ".tmux.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	look, log := r.spawned("loop-a")
	if look.Owner != owner("loop-a") || r.lookAt("loop-a").Panes != 1 {
		t.Errorf("%+v", look)
	}
	if outcome, err := r.paste(look, "1", "one\ntwo"); outcome != OK {
		t.Fatal(outcome, err)
	}
	same(t, log, bracketed("one\ntwo"))
	kill(t, panePID(look))
	if dead := r.dies("loop-a"); dead.ExitStatus != "signal 9" || !dead.Proves(Mark("1")) {
		t.Errorf("%+v", dead)
	}
}

// D2: twenty at once: one session. The name and the owner mark each refuse a second one.
func TestD2OneSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	var ok atomic.Int32
	var wait sync.WaitGroup
	order := r.order(r.logPath())
	for range 20 {
		wait.Go(func() {
			_, outcome, err := r.Spawn(t.Context(), Spawn{Name: "loop-a", Owner: owner("loop-a"), Order: order})
			if outcome == Unknown || outcome == Skip && err != nil {
				t.Error(outcome, err)
			}
			if outcome == OK {
				ok.Add(1)
			}
		})
	}
	wait.Wait()
	if ok.Load() != 1 {
		t.Errorf("%d were made", ok.Load())
	}
	r.tmux("rename-session", "-t", "=loop-a:", "renamed by the user")
	if _, outcome, err := r.Spawn(t.Context(), Spawn{Name: "loop-a", Owner: owner("loop-a"), Order: order}); outcome != Skip || err != nil {
		t.Errorf("with a renamed session of ours: %v %v", outcome, err)
	}
	r.tmux("new-session", "-d", "-s", "loop-b")
	if _, outcome, err := r.Spawn(t.Context(), Spawn{Name: "loop-b", Owner: owner("loop-b"), Order: order}); outcome != Skip || err != nil {
		t.Errorf("with a session of the user's of that name: %v %v", outcome, err)
	}
	if _, outcome, err := r.Spawn(t.Context(), Spawn{Name: "loop", Owner: owner("loop"), Order: order}); outcome != OK {
		t.Errorf("a name that is the start of another: %v %v", outcome, err)
	}
	if left := r.tmux("list-buffers"); strings.Contains(left, "the-loop") {
		t.Errorf("buffers left: %s", left)
	}
}

// D5: a client killed at any instant leaves no session, or one with all its marks.
func TestD5KilledSpawn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	tally := map[State]int{}
	for i := range soak(40) {
		name := fmt.Sprint("loop-", i)
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(16_000))*time.Microsecond)
		_, outcome, _ := r.Spawn(ctx, Spawn{Name: name, Owner: owner(name), HarnessSession: "s", Mark: Mark(name), Retain: true, Order: r.order(r.logPath())})
		cancel()
		var look Look
		eventually(t, "tmux answers", func() bool { // a server may be on its way out
			look = r.Look(t.Context(), Target{Name: name})
			return look.State != Silent
		})
		tally[look.State]++
		if outcome == OK && look.State == Absent || outcome == Skip && look.State != Absent {
			t.Errorf("%s: %v, but it is %v", name, outcome, look.State)
		}
		if look.State != Absent && (look.Owner != owner(name) || look.HarnessSession != "s" || len(look.Ring) != 1) {
			t.Errorf("a session without its marks: %+v", look)
		}
	}
	t.Logf("%v", tally)
}

// D8: what cannot be started says so in the pane, by name and with where it was looked for.
func TestD8CannotStart(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct {
		name  string
		order Order
		says  []string
	}{
		{"no program", Order{Dir: r.dir, Argv: []string{"no-such-agent"}, Env: []string{"PATH=/nowhere:/bin"}}, []string{`"no-such-agent"`, "PATH=/nowhere:/bin"}},
		{"no program at a path", Order{Dir: r.dir, Argv: []string{"/no/such/agent"}}, []string{"/no/such/agent"}},
		{"no folder", Order{Dir: "/no/such/folder", Argv: []string{"true"}}, []string{"/no/such/folder"}},
		{"not a program", Order{Dir: r.dir, Argv: []string{filepath.Join(r.dir, "text")}}, []string{"text", r.dir}},
	} {
		if err := os.WriteFile(filepath.Join(r.dir, "text"), []byte("\x01"), 0o700); err != nil {
			t.Fatal(err)
		}
		name := "loop-" + strings.ReplaceAll(c.name, " ", "-")
		_, outcome, err := r.Spawn(t.Context(), Spawn{Name: name, Owner: owner(name), Retain: true, Order: c.order})
		if outcome != OK {
			t.Fatal(c.name, outcome, err)
		}
		dead := r.dies(name)
		text, err := r.Capture(t.Context(), dead)
		if err != nil || dead.ExitStatus != "exit 1" {
			t.Errorf("%s: %q %v", c.name, dead.ExitStatus, err)
		}
		for _, want := range c.says {
			if !strings.Contains(strings.ReplaceAll(text, "\n", ""), want) {
				t.Errorf("%s: the pane says %q, want %q in it", c.name, text, want)
			}
		}
	}
}

// D8: a program is looked for in absolute folders of PATH alone: a session's folder is full of other people's files.
func TestD8RelativePATH(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "agent"), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	for path, found := range map[string]bool{".": false, "": false, ":/bin": false, dir: true, "/bin:" + dir: true} {
		if got, err := findProgram("agent", path); (err == nil) != found || found && got != filepath.Join(dir, "agent") {
			t.Errorf("PATH=%s: %q %v", path, got, err)
		}
	}
}

// D8: an order that is gone (swept, or taken before) is said in the pane; session-exec outside of tmux refuses.
func TestD8OrderGone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	body := "new-session -d -s loop-a -- " + bootstrap("00000000000000000000000000000000") + " ; set-option -p -t =loop-a: remain-on-exit on"
	r.tmux("start-server", ";", "set-option", "-g", "@x", string(body), ";", "set-hook", "-R", "@x")
	dead := r.dies("loop-a")
	if text, err := r.Capture(t.Context(), dead); err != nil || !strings.Contains(text, "the order for this pane is gone") {
		t.Errorf("%q %v", text, err)
	}
	for _, bad := range []string{"", "../x", "$(x)"} {
		if err := Exec(t.Context(), bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// D5, D8: what is refused before tmux is called.
func TestSpawnRefusesBadOrders(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	good := Order{Dir: "/", Argv: []string{"true", PromptArg}}
	for name, change := range map[string]func(*Spawn){
		"session name":        func(s *Spawn) { s.Name = "loop-a:b" },
		"owner":               func(s *Spawn) { s.Owner = "#{pid}" },
		"mark":                func(s *Spawn) { s.Mark = "c1" },
		"no program":          func(s *Spawn) { s.Order.Argv = nil },
		"relative folder":     func(s *Spawn) { s.Order.Dir = "x" },
		"NUL":                 func(s *Spawn) { s.Order.Env = []string{"A=b\x00c"} },
		"prompt too long":     func(s *Spawn) { s.Order.Prompt = strings.Repeat("x", MaxPrompt+1) },
		"nowhere to put it":   func(s *Spawn) { s.Order.Prompt, s.Order.Argv = "x", []string{"true"} },
		"too much":            func(s *Spawn) { s.Order.Env = []string{"A=" + strings.Repeat("x", 2*maxOrder)} },
		"session id too long": func(s *Spawn) { s.HarnessSession = strings.Repeat("é", 300) },
	} {
		sp := Spawn{Name: "loop-a", Owner: "o", Order: good}
		change(&sp)
		if _, outcome, err := r.Spawn(t.Context(), sp); outcome != Skip || err == nil {
			t.Errorf("%s: %v %v", name, outcome, err)
		}
	}
	if pid := r.serverPID(); pid != 0 {
		t.Error("a server was started")
	}
}

// D5: without Retain the session goes with its program.
func TestD5NotRetained(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	sp := Spawn{Name: "loop-a", Owner: owner("loop-a"), Order: r.order(r.logPath(), "-exit-after", "1ms")}
	if _, outcome, err := r.Spawn(t.Context(), sp); outcome != OK {
		t.Fatal(outcome, err)
	}
	eventually(t, "the session goes", func() bool { return r.lookAt("loop-a").State == Absent })
}

// D6: the longest names that hosts, owners and repositories can make fit.
func TestD6LongNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	name := SessionName("github-" + strings.Repeat("h", 250) + "-" + strings.Repeat("o", 39) + "-" + strings.Repeat("r", 100) + "-1234567890")
	sp := Spawn{Name: name, Owner: owner(name), HarnessSession: strings.Repeat("é", 120), Mark: Mark("1"), Retain: true, Order: r.order(r.logPath())}
	look, outcome, err := r.Spawn(t.Context(), sp)
	if outcome != OK || look.Name != name || look.HarnessSession != sp.HarnessSession {
		t.Errorf("%v %v: %+v", outcome, err, look)
	}
}

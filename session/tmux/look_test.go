//go:build unix

package tmux

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
)

// D4: absent is what tmux said.
func TestD4Absent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if l := r.lookAt("loop-a"); l.State != Absent || l.Err != nil {
		t.Errorf("no server ever: %v %v", l.State, l.Err)
	}
	if all, err := r.LookAll(t.Context()); all != nil || err != nil {
		t.Errorf("no server ever: %v %v", all, err)
	}
	r.tmux("new-session", "-d", "-s", "other", ";", "set-option", "-g", "exit-empty", "off")
	if l := r.lookAt("loop-a"); l.State != Absent || l.Err != nil {
		t.Errorf("no such session: %v %v", l.State, l.Err)
	}
	r.tmux("kill-session", "-t", "=other:")
	if l := r.lookAt("loop-a"); l.State != Absent || l.Err != nil {
		t.Errorf("a server without sessions: %v %v", l.State, l.Err)
	}
	server := r.serverPIDBySession()
	kill(t, server)
	eventually(t, "the server is gone", func() bool { return !running(server) })
	if l := r.lookAt("loop-a"); l.State != Absent || l.Err != nil {
		t.Errorf("a killed server, its socket left: %v %v", l.State, l.Err)
	}
}

func (r *rig) serverPIDBySession() int {
	r.t.Helper()
	r.tmux("new-session", "-d", "-s", "z")
	return r.serverPID()
}

// D4: anything else that goes wrong is unknown, and says why.
func TestD4Unknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawned("loop-a")
	socket := filepath.Join(r.dir, "tmux-"+itoa(os.Getuid()), "default")
	server := r.serverPID()
	if err := os.Chmod(filepath.Dir(socket), 0o777); err != nil {
		t.Fatal(err)
	}
	if l := r.lookAt("loop-a"); l.State != Silent || !strings.Contains(l.Err.Error(), "unsafe permissions") {
		t.Errorf("open socket folder: %v %v", l.State, l.Err)
	}
	if err := os.Chmod(filepath.Dir(socket), 0o700); err != nil {
		t.Fatal(err)
	}
	s := r.server()
	s.binary = filepath.Join(r.dir, "no-tmux-any-more")
	if l := s.Look(t.Context(), Target{Name: "loop-a"}); l.State != Silent || l.Err == nil {
		t.Errorf("tmux was uninstalled: %v %v", l.State, l.Err)
	}
	r.alive(server)
}

// D4: a socket's path that is too long is said, by tmux, and no server is started in another place.
func TestD4SocketPathTooLong(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.spawned("loop-a")
	long := filepath.Join(r.dir, strings.Repeat("a-long-name/", 12))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	s := r.server()
	s.env = append(withoutEnv(s.env, "TMUX_TMPDIR"), "TMUX_TMPDIR="+long)
	if l := s.Look(t.Context(), Target{Name: "loop-a"}); l.State != Silent || !strings.Contains(l.Err.Error(), "too long") {
		t.Errorf("%v %v", l.State, l.Err)
	}
	_, outcome, err := s.Spawn(t.Context(), Spawn{Name: "loop-b", Owner: owner("loop-b"), Order: r.order(r.logPath())})
	if outcome == OK || err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("spawn: %v %v", outcome, err)
	}
	if all := r.tmux("list-sessions", "-F", "#{session_name}"); all != "loop-a" {
		t.Errorf("sessions: %q", all)
	}
}

// D4, D2: a server whose socket was deleted is not gone, nor is one beside which a second was started.
func TestD4LostSocket(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux shows when a process was started")
	}
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	server := r.serverPID()
	stored := Target{Name: "loop-a", Owner: look.Owner, PaneID: look.PaneID, Identity: look.Identity}
	if err := os.Remove(filepath.Join(r.dir, "tmux-"+itoa(os.Getuid()), "default")); err != nil {
		t.Fatal(err)
	}
	if l := r.Look(t.Context(), stored); l.State != Silent || !strings.Contains(l.Err.Error(), "kill -USR1") {
		t.Errorf("no socket: %v %v", l.State, l.Err)
	}
	second := r.serverPIDBySession()
	if l := r.Look(t.Context(), stored); l.State != Silent {
		t.Errorf("a second server: %v %v", l.State, l.Err)
	}
	r.tmux("kill-server")
	eventually(t, "the second server is gone", func() bool { return !running(second) })
	r.signal(server, syscall.SIGUSR1)
	eventually(t, "the socket is back", func() bool { return r.Look(t.Context(), stored).State == Live })
	kill(t, server)
	eventually(t, "the server is gone", func() bool { return !running(server) })
	if l := r.Look(t.Context(), stored); l.State != Absent {
		t.Errorf("after its end: %v %v", l.State, l.Err)
	}
	stored.Identity = itoa(r.serverPIDBySession()) + "/1/1"
	if l := r.Look(t.Context(), stored); l.State != Absent {
		t.Errorf("the number of an older server, now another's: %v %v", l.State, l.Err)
	}
}

// D6: "loop-1" is not "loop-15", to no call.
func TestD6PrefixIsNotTheName(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	long, log := r.spawned("loop-15")
	if l := r.lookAt("loop-1"); l.State != Absent {
		t.Fatalf("%+v", l)
	}
	short, shortLog := r.spawned("loop-1")
	if short.PaneID == long.PaneID {
		t.Fatal("the same pane")
	}
	if outcome, err := r.paste(short, "1", "for loop-1"); outcome != OK {
		t.Fatal(outcome, err)
	}
	same(t, shortLog, bracketed("for loop-1"))
	if err := r.Close(t.Context(), short, CloseOptions{Owner: short.Owner, Kill: true, Grace: time.Second}); err != nil {
		t.Fatal(err)
	}
	if now := r.lookAt("loop-15"); now.State != Live || now.Identity != long.Identity || got(t, log) != "" {
		t.Errorf("loop-15: %+v, it got %q", now, got(t, log))
	}
}

// D2, D3: a user splits, renames, moves and groups; the pane is still found, and pasted into, and the user's is not.
func TestD3PaneIsFoundAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	want := ""
	stored := Target{Name: "loop-a", PaneID: look.PaneID, Owner: look.Owner, Identity: look.Identity}
	second := time.Now().Unix()
	eventually(t, "a session made from now on has another creation time", func() bool { return time.Now().Unix() > second })
	for i, change := range [][]string{
		{"split-window", "-b", "-t", look.PaneID, "sleep 1000"},
		{"new-window", "-t", "=loop-a:", "sleep 1000"},
		{"new-session", "-d", "-s", "aaa", "-t", "=loop-a"},
		{"rename-session", "-t", "=loop-a", "mine: of the day"},
		{"break-pane", "-d", "-s", look.PaneID, "-n", "moved"},
		{"kill-session", "-t", "=mine_ of the day"},
		{"new-session", "-d", "-s", "loop-a", "sleep 1000"},
	} {
		r.tmux(change...)
		now := r.Look(t.Context(), stored)
		if now.State != Live || now.PaneID != look.PaneID || now.Owner != look.Owner || panePID(now) != panePID(look) {
			t.Fatalf("after %q: %+v", change, now)
		}
		if i < 5 && now.Identity != look.Identity { // of several sessions that show it the first one counts
			t.Errorf("after %q it is %s, and was %s", change, now.Identity, look.Identity)
		}
		text := strings.Join(change, " ")
		if outcome, err := r.paste(now, itoa(i), text); outcome != OK {
			t.Fatalf("after %q: %v %v", change, outcome, err)
		}
		want += bracketed(text)
	}
	same(t, log, want)
	if l := r.Look(t.Context(), Target{Name: "loop-a", PaneID: look.PaneID}); l.Owner != "" || l.Panes != 1 {
		t.Errorf("the user's session of that name: %+v", l)
	}
	all, err := r.LookAll(t.Context())
	if err != nil || len(all) != 1 || all[0].PaneID != look.PaneID {
		t.Errorf("%+v %v", all, err)
	}
}

// D2: of two panes with the item's mark the one that lives is it.
func TestD2TheLivingOneIsIt(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	kill(t, panePID(look))
	r.dies("loop-a")
	r.tmux("new-session", "-d", "-s", "other", "sleep 1000", ";", "set-option", "-p", "-t", "=other:", "@the_loop_owner", look.Owner)
	if now := r.Look(t.Context(), Target{Name: "loop-a", PaneID: look.PaneID, Owner: look.Owner}); now.Name != "other" || now.State != Live {
		t.Errorf("%+v", now)
	}
}

// D4: a server that has not noticed how a pane's program ended (tmux 3.3a misses one in forty) is made to look, once.
// Here a script answers for it, and a process that waits for the signal is the server.
func TestD4ServerIsNudged(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	seen := filepath.Join(r.dir, "seen")
	server := exec.Command("/bin/sh", "-c", "trap 'echo x >>"+seen+"' CHLD; echo; read x")
	stdin, err := server.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	ready, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	binary, _ := r.recorder("[ \"$1\" = -V ] || { printf 'loop-pane\\t$1\\t@1\\t%%1\\t" + itoa(server.Process.Pid) +
		"/1/1\\t1\\t\\t\\t0\\t/dev/none\\t\\t\\t\\tloop-a\\tx\\tx\\n'; exit 0; }")
	if l := r.server(func(o *Options) { o.Binary = binary }).Look(t.Context(), Target{Name: "loop-a"}); l.State != Dead || l.Err != nil {
		t.Errorf("%+v", l)
	}
	_ = stdin.Close()
	_ = server.Wait() // its read has ended, by the signal or by the end of the file
	if text, err := os.ReadFile(seen); err != nil || string(text) != "x\n" {
		t.Errorf("the server saw %q: %v", text, err)
	}
}

// D3: pane ids start again with a new server; the identity does not.
func TestD3PaneIDsReused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	r.tmux("kill-server")
	eventually(t, "the server is gone", func() bool { return r.lookAt("loop-a").State == Absent })
	again, log := r.spawned("loop-a")
	if again.PaneID != look.PaneID {
		t.Fatalf("%s is not reused: %s", look.PaneID, again.PaneID)
	}
	if outcome, err := r.paste(look, "1", "for the old one"); outcome != Skip || err != nil {
		t.Errorf("%v %v", outcome, err)
	}
	if outcome, err := r.paste(again, "1", "for the new one"); outcome != OK {
		t.Errorf("%v %v", outcome, err)
	}
	same(t, log, bracketed("for the new one"))
}

// D4: the first paste waits for raw mode.
func TestD4Ready(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.started("loop-a", "-raw-after", "700ms", "-bracket-after", "120ms")
	if err := r.Ready(t.Context(), look, 100*time.Millisecond); !errors.Is(err, ErrNotReady) {
		t.Errorf("too early: %v", err)
	}
	if err := r.Ready(t.Context(), look, 10*time.Second); err != nil {
		t.Fatal(err)
	}
	if outcome, err := r.paste(look, "1", "one\ntwo"); outcome != OK {
		t.Fatal(outcome, err)
	}
	same(t, log, bracketed("one\ntwo"))
	cooked, _ := r.started("loop-b", "-cooked")
	if err := r.Ready(t.Context(), cooked, 300*time.Millisecond); !errors.Is(err, ErrNotReady) {
		t.Errorf("never: %v", err)
	}
	kill(t, panePID(look))
	dead := r.dies("loop-a")
	dead.TTY += "-is-gone" // its number may be another terminal's by now
	if err := r.Ready(t.Context(), dead, time.Minute); !errors.Is(err, ErrNotReady) {
		t.Errorf("dead: %v", err)
	}
}

// D4: a terminal that goes back to line mode is not ready; the quarter of a second begins anew.
func TestD4ReadyBeginsAnew(t *testing.T) {
	t.Parallel()
	for range 10 {
		r := newRig(t)
		script := "stty raw; >raw; sleep 0.1; stty cooked; >cooked; sleep 1.2; >again; stty raw; exec sleep 1000"
		flips := Order{Dir: r.dir, Argv: []string{"/bin/sh", "-c", script}}
		look, outcome, err := r.Spawn(t.Context(), Spawn{Name: "loop-a", Owner: owner("loop-a"), Order: flips})
		if outcome != OK {
			t.Fatal(outcome, err)
		}
		if err := r.Ready(t.Context(), look, 10*time.Second); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		again, ok := stamp(r, "again")
		if ok && now.Sub(again) >= readySettle-readyEvery {
			return
		}
		eventually(t, "the program collects lines again", func() bool { _, ok := stamp(r, "cooked"); return ok })
		raw, _ := stamp(r, "raw")
		if cooked, _ := stamp(r, "cooked"); cooked.Sub(raw) < readySettle-readyEvery {
			t.Fatalf("it was ready %s after it collected lines again", now.Sub(cooked))
		} // a busy machine: the first time was long enough to settle
	}
	t.Error("this machine is too busy for a program that leaves line mode for a tenth of a second")
}

// stamp is when a program made a file.
func stamp(r *rig, name string) (time.Time, bool) {
	info, err := os.Stat(filepath.Join(r.dir, name))
	if err != nil {
		return time.Time{}, false
	}
	return info.ModTime(), true
}

func TestCapture(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	eventually(t, "the pane shows it", func() bool {
		text, err := r.Capture(t.Context(), look)
		return err == nil && strings.Contains(text, "harness is ready")
	})
	look.Identity += "1"
	if text, err := r.Capture(t.Context(), look); !errors.Is(err, ErrRefused) {
		t.Errorf("%q %v", text, err)
	}
}

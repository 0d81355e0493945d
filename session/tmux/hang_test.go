//go:build unix

package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// stopBefore is a tmux that stops the server right before the process with that word among its arguments.
func (r *rig) stopBefore(word string, server int) *Server {
	binary, _ := r.recorder(fmt.Sprintf("case \" $* \" in *' %s '*) kill -STOP %d;; esac", word, server))
	return r.server(func(o *Options) { o.Binary, o.CallTimeout = binary, time.Second })
}

func (r *rig) signal(pid int, sig syscall.Signal) {
	r.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		r.t.Fatal(err)
	}
}

// inSeconds is a span whose deadline falls n whole seconds from now on; a second may be as short as nothing.
func inSeconds(n int) Span {
	now := time.Now()
	return Span{Start: now, Until: now.Truncate(time.Second).Add(time.Duration(n) * time.Second)}
}

// D4: a server that hangs is unknown, after the deadline of one call, whatever is asked.
func TestD4HangingServerIsUnknown(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	server := r.serverPID()
	hasty := r.server(func(o *Options) { o.CallTimeout = 200 * time.Millisecond })
	r.signal(server, syscall.SIGSTOP)
	start := time.Now()
	if l := hasty.Look(t.Context(), Target{Name: "loop-a"}); l.State != Silent || !errors.Is(l.Err, ErrNoAnswer) {
		t.Errorf("look: %v %v", l.State, l.Err)
	}
	if _, err := hasty.LookAll(t.Context()); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("look at all: %v", err)
	}
	_, outcome, err := hasty.Spawn(t.Context(), Spawn{Name: "loop-b", Owner: owner("loop-b"), Order: r.order(r.logPath())})
	if outcome != Unknown || !errors.Is(err, ErrNoAnswer) {
		t.Errorf("spawn: %v %v", outcome, err)
	}
	// The text could not even be loaded: that proves that nothing was sent.
	if outcome, err := hasty.Paste(t.Context(), Paste{Look: look, Owner: look.Owner, Mark: Mark("1"), Text: []byte("x")}); outcome != Skip || !errors.Is(err, ErrNoAnswer) {
		t.Errorf("paste: %v %v", outcome, err)
	}
	if err := hasty.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true}); !errors.Is(err, ErrNoAnswer) {
		t.Errorf("close: %v", err)
	}
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("five calls took %s", took)
	}
	binary, log := r.recorder("")
	recording := r.server(func(o *Options) { o.Binary, o.CallTimeout = binary, 200*time.Millisecond })
	if err := recording.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true}); !errors.Is(err, ErrNoAnswer) || len(calls(t, log)) != 1 {
		t.Errorf("a server that has not answered was asked again: %v, %q", err, calls(t, log))
	}
	r.signal(server, syscall.SIGCONT)
	if l := r.lookAt("loop-a"); l.State != Live || len(l.Ring) != 0 {
		t.Errorf("after it went on: %v %q", l.State, l.Ring)
	}
}

// D3: no call outlasts the deadline of its sequence by more than a second, however long calls may take.
func TestD3NoCallOutlastsItsDeadline(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	server := r.serverPID()
	r.signal(server, syscall.SIGSTOP)
	defer r.signal(server, syscall.SIGCONT)
	start := time.Now()
	outcome, err := r.Paste(t.Context(), Paste{Look: look, Owner: look.Owner, Mark: Mark("1"), Text: []byte("x"), Span: inSeconds(2)})
	if outcome != Skip || !errors.Is(err, ErrNoAnswer) { // it could not be loaded
		t.Errorf("paste: %v %v", outcome, err)
	}
	_, outcome, err = r.Spawn(t.Context(), Spawn{Name: "loop-b", Owner: owner("loop-b"), Order: r.order(r.logPath()), Span: inSeconds(2)})
	if outcome != Unknown || !errors.Is(err, ErrNoAnswer) {
		t.Errorf("spawn: %v %v", outcome, err)
	}
	if took := time.Since(start); took > 8*time.Second {
		t.Errorf("they took %s", took)
	}
}

// D3: a paste whose client was killed while the server hung does not land once its deadline has passed. Without the
// deadline it would: before the deadline it does, which is why it is unknown and not refused.
func TestD3NothingLandsLate(t *testing.T) {
	for _, late := range []bool{true, false} {
		t.Run(fmt.Sprint("late=", late), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			look, log := r.spawned("loop-a")
			server := r.serverPID()
			span := inSeconds(3)
			if !late {
				span.Until = span.Until.Add(time.Minute)
			}
			p := Paste{Look: look, Owner: look.Owner, Mark: Mark("1"), Text: []byte("one"), Span: span}
			outcome, err := r.stopBefore("set-hook", server).Paste(t.Context(), p)
			if outcome != Unknown || !errors.Is(err, ErrNoAnswer) {
				t.Fatalf("%v %v", outcome, err)
			}
			if late {
				<-time.After(time.Until(span.Until))
			}
			r.signal(server, syscall.SIGCONT)
			if landed := r.lookAt("loop-a").Proves(p.Mark); landed == late {
				t.Errorf("landed: %v", landed)
			}
			if outcome, err := r.paste(look, "2", "two"); outcome != OK {
				t.Fatal(outcome, err)
			}
			want := bracketed("two")
			if !late {
				want = bracketed("one") + want
			}
			same(t, log, want)
			if left := r.tmux("list-buffers"); left != "" {
				t.Errorf("buffers left: %s", left)
			}
		})
	}
}

// D3, D4: a spawn and a respawn whose client was killed while the server hung start nothing late.
func TestD3NoLateSpawn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	server := r.serverPID()
	span := inSeconds(3)
	stopping := r.stopBefore("start-server", server)
	_, outcome, err := stopping.Spawn(t.Context(), Spawn{Name: "loop-b", Owner: owner("loop-b"), Order: r.order(r.logPath()), Span: span})
	if outcome != Unknown || !errors.Is(err, ErrNoAnswer) {
		t.Fatalf("%v %v", outcome, err)
	}
	<-time.After(time.Until(span.Until))
	r.signal(server, syscall.SIGCONT)
	if l := r.lookAt("loop-b"); l.State != Absent {
		t.Errorf("loop-b is %v", l.State)
	}
	// The guard alone: the client lives on, the server's clock has passed the deadline.
	kill(t, panePID(look))
	look = r.dies("loop-a")
	slow := r.server(func(o *Options) { o.Now = func() time.Time { return time.Now().Add(-time.Hour) } })
	for name, spawn := range map[string]func(Spawn) (Look, Outcome, error){
		"spawn":   func(sp Spawn) (Look, Outcome, error) { return slow.Spawn(t.Context(), sp) },
		"respawn": func(sp Spawn) (Look, Outcome, error) { return slow.Respawn(t.Context(), look, sp) },
	} {
		sp := Spawn{Name: "loop-c", Owner: look.Owner, Order: r.order(r.logPath())}
		if name == "spawn" {
			sp.Owner = owner("loop-c")
		}
		if _, outcome, err := spawn(sp); outcome != Skip || err != nil {
			t.Errorf("%s after its deadline: %v %v", name, outcome, err)
		}
	}
	if all := r.tmux("list-sessions", "-F", "#{session_name}"); all != "loop-a" {
		t.Errorf("sessions: %q", all)
	}
	if left := r.tmux("list-buffers"); left != "" {
		t.Errorf("buffers left: %s", left)
	}
}

// D3: a server without @loop_now (or with another) refuses, and each sequence sets it.
func TestD3ClockOption(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	guard := string(within(time.Now(), time.Now().Add(time.Minute)))
	r.tmux("set-option", "-gu", "@loop_now")
	if answer := r.tmux("display-message", "-p", guard); answer != "0" {
		t.Errorf("without a clock the guard says %q", answer)
	}
	r.tmux("set-option", "-g", "@loop_now", "4000000000")
	if answer := r.tmux("display-message", "-p", guard); answer != "0" {
		t.Errorf("with a clock in the future the guard says %q", answer)
	}
	if outcome, err := r.paste(look, "1", "x"); outcome != OK {
		t.Error(outcome, err)
	}
}

// D12: a call that takes too long is killed with all that it started.
func TestKilledWithItsGroup(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	pidFile := filepath.Join(r.dir, "child")
	binary, _ := r.recorder("if [ \"$1\" = -u ]; then sleep 1000 & echo $! >'" + pidFile + "'; wait; fi")
	s := r.server(func(o *Options) { o.Binary, o.CallTimeout = binary, 500*time.Millisecond })
	if l := s.Look(t.Context(), Target{Name: "loop-a"}); l.State != Silent || !errors.Is(l.Err, ErrNoAnswer) {
		t.Fatalf("%v %v", l.State, l.Err)
	}
	text, err := os.ReadFile(pidFile)
	if err != nil {
		t.Fatal(err)
	}
	child, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	eventually(t, "the child is gone", func() bool { return !running(child) })
}

// A complete answer is one although somebody else still holds the pipe it came through (the server does, for a moment).
func TestAnswerBeforeEndOfFile(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	binary, _ := r.recorder("sleep 4 &")
	s := r.server(func(o *Options) { o.Binary = binary })
	begun := time.Now()
	if now := s.Look(t.Context(), Target{Name: "loop-a"}); now.Identity != look.Identity || time.Since(begun) > 3500*time.Millisecond {
		t.Errorf("%v %v after %s", now.State, now.Err, time.Since(begun))
	}
}

// A caller that gives up is told so, and not that tmux is to blame.
func TestCancelledCall(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if l := newRig(t).Look(ctx, Target{Name: "loop-a"}); l.State != Silent || !errors.Is(l.Err, context.Canceled) {
		t.Errorf("%v %v", l.State, l.Err)
	}
}

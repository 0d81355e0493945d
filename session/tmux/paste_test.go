//go:build unix

package tmux

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"theloop/testdata/harness/harnesslog"
)

func (r *rig) paste(l Look, mark, text string) (Outcome, error) {
	return r.Paste(r.t.Context(), Paste{Look: l, Owner: l.Owner, Mark: Mark(mark), Text: []byte(text)})
}

func bracketed(text string) string { return "\x1b[200~" + text + "\x1b[201~\r" }

// D3: a body and its mark take two tmux processes.
func TestD3TwoProcesses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	binary, recorded := r.recorder("")
	recording := r.server(func(o *Options) { o.Binary = binary })
	p := Paste{Look: look, Owner: look.Owner, Mark: Mark("1"), Text: []byte("hello")}
	if outcome, err := recording.Paste(t.Context(), p); outcome != OK {
		t.Fatal(outcome, err)
	}
	input(t, log, bracketed("hello"))
	if n := len(calls(t, recorded)); n != 2 {
		t.Errorf("%d tmux processes, want 2", n)
	}
	if ring := r.lookAt("loop-a").Ring; len(ring) != 1 || ring[0] != Mark("1") {
		t.Errorf("ring %q", ring)
	}
	for line := range strings.Lines(r.tmux("show-options", "-g")) { // a server lives for months
		if strings.HasPrefix(line, "@loop_") && !strings.HasPrefix(line, "@loop_now ") {
			t.Errorf("a script is left in the server: %s", line)
		}
	}
}

// D3: every part of the guard, each broken alone: SKIP, and nothing arrives.
func TestD3GuardRefuses(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	if outcome, err := r.paste(look, "seen", "first"); outcome != OK {
		t.Fatal(outcome, err)
	}
	r.tmux("set-option", "-p", "-t", look.PaneID, "@the_loop_ring", "|"+Mark("seen")+"||_"+Mark("unproved")+"|")
	now := time.Now()
	for _, c := range []struct {
		name string
		p    Paste
	}{
		{"owner", Paste{Owner: owner("loop-b")}},
		{"owner is a prefix", Paste{Owner: look.Owner[:len(look.Owner)-1]}},
		{"identity", Paste{Look: Look{PaneID: look.PaneID, Identity: look.Identity + "1"}}},
		{"mark in the ring", Paste{Mark: Mark("seen")}},
		{"unproved mark in the ring", Paste{Mark: Mark("unproved")}},
		{"not yet", Paste{Span: Span{Start: now.Add(time.Hour), Until: now.Add(2 * time.Hour)}}},
		{"no such pane", Paste{Look: Look{PaneID: "%99", Identity: look.Identity}}},
		{"pane of another window", Paste{Look: Look{PaneID: look.PaneID, Identity: look.Identity, session: look.session, window: "@99"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.p.Text = []byte("must not arrive: " + c.name)
			if c.p.Look.PaneID == "" {
				c.p.Look = look
			}
			if c.p.Owner == "" {
				c.p.Owner = look.Owner
			}
			if c.p.Mark == "" {
				c.p.Mark = Mark("new")
			}
			if outcome, err := r.Paste(t.Context(), c.p); outcome != Skip || err != nil {
				t.Errorf("%v %v, want skip", outcome, err)
			}
		})
	}
	t.Run("input off", func(t *testing.T) {
		r.tmux("select-pane", "-d", "-t", look.PaneID)
		if l := r.lookAt("loop-a"); !l.InputOff {
			t.Error("Look does not show it")
		}
		if outcome, err := r.paste(look, "off", "must not arrive"); outcome != Skip || err != nil {
			t.Errorf("%v %v, want skip", outcome, err)
		}
		r.tmux("select-pane", "-e", "-t", look.PaneID)
	})
	if outcome, err := r.paste(look, "last", "last"); outcome != OK {
		t.Fatal(outcome, err)
	}
	if all := input(t, log, bracketed("last")); all != bracketed("first")+bracketed("last") {
		t.Errorf("the pane got %q", all)
	}
	if left := r.tmux("list-buffers"); left != "" {
		t.Errorf("buffers left: %s", left)
	}
}

// D3: a deadline that has passed is not even tried; the last gate of D3 against texts that would type keys.
func TestD3RefusedBeforeTmux(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	past := Span{Start: time.Now().Add(-time.Minute), Until: time.Now().Add(-time.Second)}
	look := Look{PaneID: "%0", Identity: "1/1/1"}
	outcome, err := r.Paste(t.Context(), Paste{Look: look, Owner: "o", Mark: Mark("1"), Span: past})
	if outcome != Skip || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("late: %v %v", outcome, err)
	}
	for _, text := range []string{"\x1b[201~", "\r", "\x03", "\x00", "\x7f", "\u0085", "\u009b", "\xff", "a\xc3"} {
		outcome, err := r.Paste(t.Context(), Paste{Look: look, Owner: "o", Mark: Mark("1"), Text: []byte(text)})
		if outcome != Skip || !errors.Is(err, ErrControl) {
			t.Errorf("%q: %v %v", text, outcome, err)
		}
	}
	for _, p := range []Paste{
		{Look: look, Owner: "o", Mark: "c1"},
		{Look: look, Owner: "o'", Mark: Mark("1")},
		{Look: Look{PaneID: "loop-1", Identity: "1/1/1"}, Owner: "o", Mark: Mark("1")},
		{Look: Look{PaneID: "%0", Identity: "1/1/#{pid}"}, Owner: "o", Mark: Mark("1")},
	} {
		if outcome, err := r.Paste(t.Context(), p); outcome != Skip || err == nil {
			t.Errorf("%+v: %v %v", p, outcome, err)
		}
	}
	if outcome, err := r.paste(look, "1", "no server"); outcome != Skip || err == nil {
		t.Errorf("no server: %v %v", outcome, err)
	}
}

// D3, D7: a step that stops in the middle, because somebody deleted the text's buffer, leaves no mark of what was not
// sent, and the next try sends it.
func TestD3NothingSentNothingMarked(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	binary, _ := r.recorder("case \" $* \" in *' set-hook '*) for b in $(tmux list-buffers -F '#{buffer_name}'); do tmux delete-buffer -b $b; done;; esac")
	p := Paste{Look: look, Owner: look.Owner, Mark: Mark("1"), Text: []byte("hello")}
	outcome, err := r.server(func(o *Options) { o.Binary = binary }).Paste(t.Context(), p)
	if outcome != Unknown || err == nil {
		t.Errorf("%v %v", outcome, err)
	}
	if now := r.lookAt("loop-a"); len(now.Ring) != 0 {
		t.Errorf("the ring has %q", now.Ring)
	}
	if outcome, err := r.Paste(t.Context(), p); outcome != OK {
		t.Error(outcome, err)
	}
	same(t, log, bracketed("hello"))
}

// D3: a text is loaded on the way when it may be pasted and tmux answers, and is gone when it is dropped.
func TestD3LookAndLoad(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	target := Target{Name: "loop-a", Owner: look.Owner}
	for text, loads := range map[string]bool{"hello": true, "": false, "\x1b[201~": false, "\xff": false} {
		now, loaded := r.LookAndLoad(t.Context(), target, []byte(text))
		left := r.tmux("list-buffers", "-F", "#{buffer_name}")
		if now.State != Live || (loaded != Loaded{}) != loads || (left != "") != loads {
			t.Errorf("%q: %v, loaded %v, buffers %q", text, now.State, loaded, left)
		}
		r.Drop(t.Context(), loaded)
		if left := r.tmux("list-buffers"); left != "" {
			t.Errorf("%q is left: %s", text, left)
		}
	}
	_, loaded := r.LookAndLoad(t.Context(), target, []byte("hello"))
	if outcome, err := r.Paste(t.Context(), Paste{Look: look, Owner: owner("loop-b"), Mark: Mark("1"), Text: []byte("hello"), Loaded: loaded}); outcome != Skip || err != nil {
		t.Errorf("another's: %v %v", outcome, err)
	}
	_, loaded = r.LookAndLoad(t.Context(), target, []byte("hello"))
	if outcome, err := r.Paste(t.Context(), Paste{Look: look, Owner: look.Owner, Mark: "c1", Text: []byte("hello"), Loaded: loaded}); outcome != Skip || err == nil {
		t.Errorf("a mark that is none: %v %v", outcome, err)
	}
	if left := r.tmux("list-buffers"); left != "" {
		t.Errorf("what was not pasted is left: %s", left)
	}
	if text := got(t, log); text != "" {
		t.Errorf("it got %q", text)
	}
	server := r.serverPID()
	r.signal(server, syscall.SIGSTOP)
	hasty := r.server(func(o *Options) { o.CallTimeout = 300 * time.Millisecond })
	if now, loaded := hasty.LookAndLoad(t.Context(), target, []byte("hello")); now.State != Silent || loaded != (Loaded{}) {
		t.Errorf("a server that hangs: %v, loaded %v", now.State, loaded)
	}
	r.signal(server, syscall.SIGCONT)
}

// D3: a user who scrolls is in copy mode, where a paste would lose its brackets.
func TestD3CopyMode(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	want := ""
	for i, mode := range []string{"copy-mode", "clock-mode", "choose-tree"} {
		r.tmux(mode, "-t", look.PaneID)
		text := fmt.Sprintf("one\ntwo\nthree %d", i)
		if outcome, err := r.paste(look, mode, text); outcome != OK {
			t.Fatal(mode, outcome, err)
		}
		want += bracketed(text)
		same(t, log, want)
	}
}

// D3: a program that was stopped gets what was pasted once it goes on (tmux wakes it by itself), each once.
func TestD3StoppedProgram(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	r.signal(panePID(look), syscall.SIGSTOP)
	want := ""
	for i := range 3 {
		text := strings.Repeat(fmt.Sprintf("line %d\n", i), 10_000)
		if outcome, err := r.paste(look, fmt.Sprint(i), text); outcome != OK {
			t.Fatal(outcome, err)
		}
		want += bracketed(text)
	}
	same(t, log, want)
}

// D3: tmux 3.3a dies, with every session, of a paste into a dead pane. The same again with panes that die between the
// look and the paste.
func TestD3DeadPane(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	server := r.serverPID()
	look.State = Live
	r.tmux("run-shell", fmt.Sprintf("kill -9 %d", panePID(look)))
	r.dies("loop-a")
	if outcome, err := r.paste(look, "1", "text"); outcome != Skip || err != nil {
		t.Errorf("%v %v", outcome, err)
	}
	r.alive(server)
	tally, done := map[Outcome]int{}, []string(nil)
	for i := range soak(150) {
		name := fmt.Sprint("loop-d", i)
		r.tmux(append(done, "new-session", "-d", "-s", name, "sleep", "1000", ";", "set-option", "-p", "-t", "="+name+":", "remain-on-exit", "on",
			";", "set-option", "-p", "-t", "="+name+":", "@the_loop_owner", owner(name))...)
		l := r.lookAt(name)
		var wait sync.WaitGroup
		wait.Go(func() {
			<-time.After(time.Duration(rand.IntN(12)) * time.Millisecond)
			kill(t, panePID(l))
		})
		outcome, err := r.paste(l, name, "text")
		wait.Wait()
		if err != nil {
			t.Fatalf("round %d: %v %v", i, outcome, err)
		}
		if ring := r.lookAt(name).Ring; (len(ring) == 1) != (outcome == OK) {
			t.Errorf("round %d: %v but ring %q", i, outcome, ring)
		}
		tally[outcome]++
		done = []string{"kill-session", "-t", "=" + name + ":", ";"}
	}
	r.alive(server)
	if tally[OK] == 0 || tally[Skip] == 0 {
		t.Errorf("the race was not met: %v", tally)
	}
	t.Logf("%d pastes, %d refused", tally[OK], tally[Skip])
}

// D7: the same delivery from many at once arrives once; different ones arrive whole, each once.
func TestD7Concurrent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	var ok, skip atomic.Int32
	var wait sync.WaitGroup
	for i := range 30 {
		wait.Go(func() {
			outcome, err := r.paste(look, "same", "the same text")
			if outcome == Unknown {
				t.Error(err)
			}
			if outcome == OK {
				ok.Add(1)
			} else {
				skip.Add(1)
			}
			if i%2 == 0 {
				text := fmt.Sprintf("text %d\nof its own", i)
				if outcome, err := r.paste(look, fmt.Sprint(i), text); outcome != OK {
					t.Error(outcome, err)
				}
			}
		})
	}
	wait.Wait()
	if ok.Load() != 1 || skip.Load() != 29 {
		t.Errorf("%d arrived, %d refused", ok.Load(), skip.Load())
	}
	rs := records(t, log, func(rs []harnesslog.Record) bool { return len(harnesslog.Texts(rs)) >= 16 })
	count := map[string]int{}
	for _, text := range harnesslog.Texts(rs) {
		count[text]++
	}
	if len(count) != 16 || count["the same text"] != 1 {
		t.Errorf("%v", count)
	}
}

// D7, D3: clients killed at any instant: what arrived is what the ring says; a second try sends only what is missing.
func TestD7KilledClients(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, log := r.spawned("loop-a")
	cut, again := 0, 0
	for i := range soak(60) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rand.IntN(14_000))*time.Microsecond)
		p := Paste{Look: look, Owner: look.Owner, Mark: Mark(fmt.Sprint(i)), Text: []byte(fmt.Sprint("text ", i))}
		outcome, _ := r.Paste(ctx, p)
		cancel()
		if outcome == OK {
			continue
		}
		cut++
		if second, err := r.Paste(t.Context(), p); second == OK {
			again++
		} else if second != Skip || err != nil || !r.lookAt("loop-a").Proves(p.Mark) {
			t.Fatalf("delivery %d: %v, then %v %v", i, outcome, second, err)
		}
	}
	n := soak(60)
	rs := records(t, log, func(rs []harnesslog.Record) bool { return len(harnesslog.Texts(rs)) >= n })
	for i, text := range harnesslog.Texts(rs) {
		if text != fmt.Sprint("text ", i) {
			t.Fatalf("place %d has %q", i, text)
		}
	}
	t.Logf("%d of %d cut off, %d of them sent again", cut, n, again)
}

// D3: the ring keeps the last 20.
func TestD3RingIsTrimmed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a")
	for i := range 24 {
		if outcome, err := r.paste(look, fmt.Sprint(i), "x"); outcome != OK {
			t.Fatal(outcome, err)
		}
	}
	l := r.lookAt("loop-a")
	if len(l.Ring) != RingSize || l.Ring[0] != Mark("4") || l.Ring[RingSize-1] != Mark("23") {
		t.Errorf("%d in the ring: %q", len(l.Ring), l.Ring)
	}
	if raw := r.tmux("show-options", "-pqv", "-t", look.PaneID, "@the_loop_ring"); len(raw) > 21*19 {
		t.Errorf("it grows: %d characters", len(raw))
	}
	if outcome, _ := r.paste(look, "4", "again"); outcome != Skip {
		t.Error("the oldest in the ring was sent again")
	}
}

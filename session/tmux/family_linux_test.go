package tmux

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childOf waits for the one child of a process that has made a session of its own, and for a child of it.
func childOf(t *testing.T, parent int) (child int) {
	t.Helper()
	eventually(t, "it has a child with a child", func() bool {
		all := processes()
		for pid, p := range all {
			if p.parent == parent && p.session == pid {
				child = pid
			}
		}
		for _, p := range all {
			if p.parent == child && child != 0 {
				return true
			}
		}
		return false
	})
	return child
}

// D9: what the harness has started and what has left its terminal for a session of its own is ended with it, also when
// only KILL does it and its parent is gone by then; the user's processes in other panes are not.
func TestD9ChildInItsOwnSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a", "-away")
	user := r.tmux("split-window", "-d", "-t", look.PaneID, "-P", "-F", "#{pane_pid}", "sleep 1000")
	child := childOf(t, panePID(look))
	start := time.Now()
	if err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true, Keep: true, Grace: 400 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took < 400*time.Millisecond {
		t.Errorf("it was not given its time: %s", took)
	}
	if running(child) || running(panePID(look)) {
		t.Error("the harness, or what it has started, still runs")
	}
	if !strings.Contains(r.tmux("list-panes", "-s", "-t", "=loop-a:", "-F", "#{pane_pid}#{pane_dead}"), user+"0") {
		t.Error("the user's own pane is gone")
	}
}

// D9: a process on a pane's terminal that does not lead its session is not what tmux started there.
func TestD9OnlyALeaderIsAHarness(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	look, _ := r.spawned("loop-a", "-child")
	for pid, p := range processes() {
		if p.session != panePID(look) || pid == p.session {
			continue
		}
		strange := look
		strange.Identity = "1/1/" + itoa(pid)
		if _, err := openHarness(strange); err == nil && running(pid) {
			t.Errorf("%s passes for a harness", p.command)
		}
	}
	if _, err := openHarness(look); err != nil {
		t.Error(err)
	}
	if err := r.Close(t.Context(), look, CloseOptions{Owner: look.Owner, Kill: true}); err != nil {
		t.Error(err)
	}
}

// D9: a process number that was found once and is somebody else's by now is left alone, and so is what has never been
// seen below the harness.
func TestD9FamilyByNumberAndStart(t *testing.T) {
	t.Parallel()
	child := exec.Command("/bin/sh", "-c", "sleep 1000 & wait")
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { kill(t, child.Process.Pid); _ = child.Wait() }()
	pid := child.Process.Pid
	started, ok := startOf(pid)
	if !ok {
		t.Fatal(errors.New("it does not run"))
	}
	for _, c := range []struct {
		name   string
		leader int
		known  map[int]int64
		in     bool
	}{
		{"its own session", pid, nil, true},
		{"known", 0, map[int]int64{pid: started}, true},
		{"another of that number", 0, map[int]int64{pid: started + 1}, false},
		{"nobody's", 0, nil, false},
	} {
		if _, in := family(c.leader, c.known)[pid]; in != c.in {
			t.Errorf("%s: %v", c.name, in)
		}
	}
	later := &harness{leader: pid, started: started + 1}
	if all := later.members(); len(all) != 0 || !later.gone() {
		t.Errorf("a later leader of that number passes for the harness: %v", all)
	}
	below := func() (found int) {
		for pid, p := range processes() {
			if p.parent == child.Process.Pid {
				found = pid
			}
		}
		return found
	}
	eventually(t, "it has a child", func() bool { return below() != 0 })
	defer kill(t, below())
	kin := family(0, map[int]int64{pid: started})
	if _, in := kin[below()]; !in {
		t.Error("a child is not found below its parent")
	}
	if _, in := kin[os.Getpid()]; in {
		t.Error("a parent is taken for a child")
	}
}

// D9: who closes a session from within its terminal ends neither itself nor what it has started.
func TestD9NeverItself(t *testing.T) {
	t.Parallel()
	child := exec.Command("sleep", "1000")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { kill(t, child.Process.Pid); _ = child.Wait() }()
	parent, ok := startOf(os.Getppid())
	if !ok {
		t.Fatal("its parent does not run")
	}
	kin := family(0, map[int]int64{os.Getppid(): parent})
	for _, pid := range []int{os.Getpid(), child.Process.Pid} {
		if _, in := kin[pid]; in {
			t.Errorf("process %d would be ended", pid)
		}
	}
	if _, in := kin[os.Getppid()]; !in {
		t.Error("what started it is spared, too")
	}
}

package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"theloop/lock"
)

// L5, L6: however the poller dies, the lock is free at that moment, although tmux
// and a long-running agent that it started live on; the next start says whose
// place it takes, and sends nothing twice.
func kills(l *life) {
	l.item(1, true)
	first := l.start("--interval", "1h")
	l.until("the session", func() bool { return l.told("the-task") == 1 })
	l.ready(first.Process.Pid)
	l.nothingInherited()
	for round, sig := range []syscall.Signal{syscall.SIGKILL, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGSEGV, syscall.SIGKILL} {
		p := first
		if round > 0 {
			p = l.start("--interval", "1h")
			l.ready(p.Process.Pid)
		}
		l.comment(1, round, fmt.Sprintf("word-%d-end", round))
		l.must("poll", "kick")
		l.until("the comment arrives", func() bool { return l.told(fmt.Sprintf("word-%d-end", round)) == 1 })
		p.signal(sig)
		p.wait()
		l.free(sig.String() + ":")
		if s := l.status(); s.Running || !s.StalePidfile || s.RecordedPID == nil || *s.RecordedPID != p.Process.Pid {
			l.Errorf("%s: status %+v", sig, s)
		}
	}
	p := l.start("--interval", "1h")
	l.ready(p.Process.Pid)

	// A stopped process holds its lock: nobody else starts, and a stop says that it
	// has not happened.
	p.signal(syscall.SIGSTOP)
	if a := l.run("poll", "start"); a.code != 1 || !strings.Contains(a.stderr, fmt.Sprintf("(pid %d,", p.Process.Pid)) {
		l.Errorf("a start beside a stopped poller: exit code %d: %s", a.code, a.stderr)
	}
	if a := l.run("poll", "stop", "--timeout", "0.2"); a.code != 1 || !strings.Contains(a.stderr, "did not stop within 200ms") {
		l.Errorf("a stop of a stopped poller: exit code %d: %s", a.code, a.stderr)
	}
	p.signal(syscall.SIGKILL)
	p.wait()
	l.free("SIGKILL while stopped:")
	l.settled()
	for round := range 6 {
		if n := l.told(fmt.Sprintf("word-%d-end", round)); n != 1 {
			l.Errorf("comment %d arrived %d times", round, n)
		}
	}
	if n := l.told("the-task"); n != 1 {
		l.Errorf("%d sessions", n)
	}
}

// nothingInherited demands that tmux and the agents have no file of the state
// root open, whatever the poller has.
func (l *life) nothingInherited() {
	l.Helper()
	if runtime.GOOS != "linux" {
		return // nothing tells there; that the lock is free is seen all the same
	}
	pids := l.tmux("list-panes", "-a", "-F", "#{pane_pid} #{pid}")
	for pid := range strings.FieldsSeq(pids) {
		open, err := filepath.Glob("/proc/" + pid + "/fd/*")
		if err != nil || len(open) == 0 {
			l.Errorf("pid %s has nothing open (%v)", pid, err)
		}
		for _, fd := range open {
			if to, err := os.Readlink(fd); err == nil && strings.HasPrefix(to, l.root()) {
				l.Errorf("pid %s has inherited %s", pid, to)
			}
		}
	}
}

func (l *life) tmux(args ...string) string {
	l.Helper()
	out, err := l.command("tmux", args...).CombinedOutput()
	if err != nil {
		l.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return string(out)
}

// A poller that was started inside tmux polls, and ends with its pane like with a
// terminal that is closed (SIGHUP); the lock is free then, and the sessions, which
// are on the same server, live on.
func insideTmux(l *life) {
	l.item(1, true)
	l.tmux("new-session", "-d", "-s", "mine", "exec "+l.bin.loop+" poll start --interval 1h -c "+l.path("config.yaml"))
	l.until("the session", func() bool { return l.told("the-task") == 1 })
	s := l.status()
	if !s.Running || s.PID == nil {
		l.Fatalf("%+v", s)
	}
	l.ready(*s.PID)
	l.tmux("kill-session", "-t", "=mine")
	l.until("it is gone", func() bool { return syscall.Kill(*s.PID, 0) != nil })
	l.free("its terminal is closed:")
	if got := l.tmux("list-sessions", "-F", "#{session_name}"); got != "loop-inbox-local-demo-1\n" {
		l.Errorf("sessions: %q", got)
	}
	l.settled()
	if n := l.told("the-task"); n != 1 {
		l.Errorf("%d sessions", n)
	}
}

// The shell that started it in its background is gone, and so is the caller of
// --daemon: it polls on, and is stopped as ever. What it starts has the umask that
// its user has.
func shellGone(l *life) {
	l.item(1, true)
	a := l.finish(l.command("sh", "-c", "umask 027; "+l.bin.loop+" poll start --interval 1h >out 2>&1 & echo $!"))
	pid, err := strconv.Atoi(strings.TrimSpace(a.stdout))
	if err != nil {
		l.Fatalf("%+v", a)
	}
	l.ready(pid)
	l.must("poll", "kick")
	l.until("the session", func() bool { return l.told("the-task") == 1 })
	if runtime.GOOS == "linux" { // nothing tells elsewhere
		pane := strings.TrimSpace(l.tmux("list-panes", "-a", "-F", "#{pane_pid}"))
		if text, err := os.ReadFile("/proc/" + pane + "/status"); err != nil || !strings.Contains(string(text), "Umask:\t0027\n") {
			l.Errorf("the agent's umask: %v\n%s", err, text)
		}
	}
	if a := l.run("poll", "stop"); a.stdout != fmt.Sprintf("poll process (pid %d) stopped\n", pid) {
		l.Errorf("%+v", a)
	}
	l.free("after a stop")
}

// Whoever started a poller in the background may be told to stop, or be killed,
// before that is ready: told, it tells the poller as well; killed, it is no reason
// for the poller not to run.
func callerGone(l *life) {
	l.must("poll", "start", "--once")
	ledger, err := os.Open(l.path(".the-loop/ledger.db"))
	if err != nil {
		l.Fatal(err)
	}
	defer ledger.Close()
	begin := func() (caller *process, poller int) { // waits for the ledger
		if err := syscall.Flock(int(ledger.Fd()), syscall.LOCK_EX); err != nil {
			l.Fatal(err)
		}
		caller = l.start("--daemon", "--interval", "1h")
		l.until("it has the lock", func() bool {
			status, err := lock.Probe(l.pidfile())
			poller = status.PID
			return err == nil && status.Held && poller > 0
		})
		return caller, poller
	}
	starts := l.count("poller.started", 0)
	caller, poller := begin()
	caller.signal(syscall.SIGINT)
	want := fmt.Sprintf("told to stop before the poller (pid %d) was ready: it was told as well", poller)
	if code := caller.wait(); code != 1 || !strings.Contains(caller.stderr.String(), want) {
		l.Errorf("exit code %d: %s", code, &caller.stderr)
	}
	l.until("the poller is gone", func() bool { return syscall.Kill(poller, 0) != nil })
	l.free("told to stop on its way up:")
	if out := l.read(".the-loop/logs/poller.out"); !strings.Contains(out, "told to stop while it was starting") {
		l.Errorf("it ended by itself: %s", out)
	}
	if n := l.count("poller.started", 0); n != starts {
		l.Errorf("%d starts", n-starts)
	}

	caller, poller = begin()
	caller.signal(syscall.SIGKILL)
	caller.wait()
	if err := syscall.Flock(int(ledger.Fd()), syscall.LOCK_UN); err != nil {
		l.Fatal(err)
	}
	l.ready(poller)
	l.must("poll", "kick")
	l.must("poll", "stop")
}

// L6: what a wrapper left open in the poller, `flock FILE the-loop …` say, is not
// handed on to the tmux server, which would hold that lock for its whole life.
func wrapper(l *life) {
	l.item(1, true)
	outer := l.path("outer.lock")
	f, err := os.Create(outer)
	if err != nil {
		l.Fatal(err)
	}
	defer f.Close()
	take := func(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) }
	if err := take(f); err != nil {
		l.Fatal(err)
	}
	for _, args := range [][]string{{"--once"}, {"--daemon", "--interval", "1h"}} {
		cmd := l.command(l.bin.loop, append([]string{"poll", "start"}, args...)...)
		cmd.ExtraFiles = []*os.File{nil, f} // descriptor 4
		if a := l.finish(cmd); a.code != 0 {
			l.Fatalf("%+v", a)
		}
	}
	l.until("the session", func() bool { return l.told("the-task") == 1 })
	l.must("poll", "stop")
	f.Close()
	again, err := os.Open(outer)
	if err != nil {
		l.Fatal(err)
	}
	defer again.Close()
	if err := take(again); err != nil {
		l.Errorf("something that the poller started has the wrapper's lock: %v", err)
	}
}

// T1, T3: whatever stands in a pidfile that nobody holds, nobody is signalled,
// and a start takes it over.
func strangePidfiles(l *life) {
	victim := l.launch(l.command("sleep", "600"))
	for name, text := range map[string]string{
		"a stranger": strconv.Itoa(victim.Process.Pid) + "\n", "a stranger as a poller": strconv.Itoa(victim.Process.Pid) + "\npoll start\n",
		"this process": strconv.Itoa(os.Getpid()) + "\n", "pid 1": "1\npoll start\n", "a negative one": "-1\npoll start\n",
		"no number": "who knows\n", "nothing": "",
	} {
		l.write(".the-loop/poll.pid", text)
		if s := l.status(); s.Running || s.PID != nil || !s.StalePidfile {
			l.Errorf("%s: %+v", name, s)
		}
		if a := l.run("poll", "stop"); a.code != 1 || !strings.Contains(a.stderr, "removed a stale pidfile") {
			l.Errorf("%s: stop: exit code %d: %s", name, a.code, a.stderr)
		}
		l.write(".the-loop/poll.pid", text)
		if a := l.run("poll", "start", "--once"); a.code != 0 {
			l.Errorf("%s: start: exit code %d: %s", name, a.code, a.stderr)
		}
		if _, err := os.Lstat(l.pidfile()); !os.IsNotExist(err) {
			l.Errorf("%s: the pidfile is left behind: %v", name, err)
		}
	}
	if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
		l.Errorf("the stranger: %v", err)
	}
}

// T2: a stop waits for the lock and not for the pid: one whose parent has not
// asked for its end is a zombie and still there by its number.
func zombie(l *life) {
	p := l.start("--interval", "1h")
	l.ready(p.Process.Pid)
	begun := time.Now()
	if a := l.run("poll", "stop", "--timeout", "20s"); a.code != 0 {
		l.Errorf("exit code %d: %s", a.code, a.stderr)
	}
	if err := syscall.Kill(p.Process.Pid, 0); err != nil {
		l.Fatalf("it is no zombie: %v", err)
	}
	if took := time.Since(begun); took > 10*time.Second {
		l.Errorf("it took %s", took)
	}
	if a := l.run("poll", "stop"); a.code != 1 || !strings.Contains(a.stderr, "no pidfile at") {
		l.Errorf("a second stop: exit code %d: %s", a.code, a.stderr)
	}
	p.wait()

	killed := l.start("--interval", "1h")
	l.ready(killed.Process.Pid)
	killed.signal(syscall.SIGKILL)
	l.until("the lock is free", func() bool { s, err := lock.Probe(l.pidfile()); return err == nil && !s.Held })
	if a := l.run("poll", "stop"); a.code != 1 || !strings.Contains(a.stderr, fmt.Sprintf("removed a stale pidfile %s (pid %d)", l.pidfile(), killed.Process.Pid)) {
		l.Errorf("a zombie's pidfile: exit code %d: %s", a.code, a.stderr)
	}
	killed.wait()
}

// C4: a second signal ends it at once; a kill behind that changes nothing, and
// the next start needs nobody's help.
func secondSignalThenKill(l *life) {
	l.item(1, true)
	l.write("config.yaml", strings.Replace(l.read("config.yaml"), "resumeProbeSeconds: 0", "resumeProbeSeconds: 60", 1))
	p := l.start("--interval", "1h")
	l.until("a job runs", func() bool { return l.told("the-task") == 1 })
	begun := time.Now()
	p.signal(syscall.SIGTERM)
	p.signal(syscall.SIGINT)
	if code := p.wait(); code != 130 {
		l.Errorf("exit code %d, want 130: %s", code, &p.stderr)
	}
	if took := time.Since(begun); took > 8*time.Second {
		l.Errorf("the second signal took %s", took)
	}
	p.signal(syscall.SIGKILL)
	l.free("after the second signal")
	l.write("config.yaml", strings.Replace(l.read("config.yaml"), "resumeProbeSeconds: 60", "resumeProbeSeconds: 0", 1))
	l.settled()
	if n := l.told("the-task"); n != 1 {
		l.Errorf("%d sessions", n)
	}
}

func (l *life) read(name string) string {
	l.Helper()
	text, err := os.ReadFile(l.path(name))
	if err != nil {
		l.Fatal(err)
	}
	return string(text)
}

// After an unclean stop the whole ledger is looked at before it is used: one that
// was damaged meanwhile refuses the start, by name, and stays as it is.
func damagedMeanwhile(l *life) {
	for n := 1; n <= 40; n++ {
		l.item(n, false)
		l.comment(n, 1, "said before")
	}
	l.must("poll", "start", "--once")
	p := l.start("--interval", "1h")
	l.ready(p.Process.Pid)
	p.signal(syscall.SIGKILL)
	p.wait()
	sound := l.read(".the-loop/ledger.db")
	harmed := l.harm(sound)
	a := l.run("poll", "start", "--once")
	if a.code != 1 || a.stdout != "" || !strings.Contains(a.stderr, "the-loop: the ledger "+l.path(".the-loop/ledger.db")+" ") {
		l.Errorf("exit code %d: %s%s", a.code, a.stdout, a.stderr)
	}
	if n := l.count("poller.started", 0); n != 2 {
		l.Errorf("%d starts, want the two before", n)
	}
	if l.read(".the-loop/ledger.db") != harmed {
		l.Error("the damaged ledger was changed")
	}
	l.write(".the-loop/ledger.db", sound)
	l.settled()
}

// harm damages a page of a ledger that is in use and that neither opening it nor
// listing the items meets.
func (l *life) harm(sound string) (harmed string) {
	l.Helper()
	const page = 4096
	stale := l.read(".the-loop/poll.pid")
	for at := len(sound) - page; at >= 4*page; at -= page {
		harmed = sound[:at] + strings.Repeat("\xff", 16) + sound[at+16:]
		l.write(".the-loop/ledger.db", harmed)
		if l.run("ledger", "check").code == 1 && l.run("ledger", "list").code == 0 {
			l.write(".the-loop/poll.pid", stale) // whatever the check did
			return harmed
		}
	}
	l.Fatal("there is no such page")
	return ""
}

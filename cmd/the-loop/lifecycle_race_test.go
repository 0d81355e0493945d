package main_test

import (
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"

	"theloop/lock"
)

// L1, L2: of eight starts at once exactly one runs, and seven say who.
func eightStartsAtOnce(l *life) {
	const starts = 8
	for round := range l.rounds(30) {
		var all []*process
		for range starts {
			all = append(all, l.start("--interval", "1h"))
		}
		ends := make(chan *process, starts)
		var waiting sync.WaitGroup
		for _, p := range all {
			waiting.Go(func() { p.wait(); ends <- p })
		}
		refused := map[*process]bool{}
		for range starts - 1 {
			refused[<-ends] = true
		}
		var winner *process
		for _, p := range all {
			if !refused[p] {
				winner = p
			}
		}
		for p := range refused {
			want := fmt.Sprintf("the-loop: another poller is already running (pid %d, pidfile %s): not starting a second one", winner.Process.Pid, l.pidfile())
			if p.ProcessState.ExitCode() != 1 || !strings.HasPrefix(p.stderr.String(), want) {
				l.Errorf("round %d: exit code %d, want one line that names pid %d: %s", round, p.ProcessState.ExitCode(), winner.Process.Pid, &p.stderr)
			}
		}
		l.until("the one that runs is ready", func() bool { return l.count("poller.started", 0) == round+1 })
		winner.signal(syscall.SIGTERM) // not by its number, which may be somebody else's by now
		waiting.Wait()
		if last := <-ends; last.ProcessState.ExitCode() != 0 {
			l.Errorf("round %d: the one that ran: exit code %d: %s", round, last.ProcessState.ExitCode(), &last.stderr)
		}
		l.free("after a stop")
	}
	l.alternates()
}

// alternates demands that no two pollers ran at once: what they told is start,
// stop, start, stop, each pair by one process.
func (l *life) alternates() {
	l.Helper()
	running := ""
	for _, e := range l.events("poller.*") {
		_, rest, _ := strings.Cut(string(e.Raw), `"pid":`)
		pid, _, _ := strings.Cut(rest, ",")
		switch {
		case e.Name == "poller.started" && running != "":
			l.Errorf("pid %s started while pid %s ran", pid, running)
		case e.Name == "poller.started":
			running = pid
		case e.Name == "poller.stopped" && running != pid:
			l.Errorf("pid %s stopped while pid %q ran", pid, running)
		case e.Name == "poller.stopped":
			running = ""
		}
	}
}

// phase is what a status may answer at the moment: anything while it changes.
type phase struct {
	n        int
	changing bool
	pid      int // 0: nobody runs
}

// T2, U1: `stop && start` back to back never overlap and never lose the pidfile,
// while others ask for the status all the time and never get a wrong answer.
func stopThenStart(l *life) {
	var now atomic.Pointer[phase]
	var right atomic.Int64 // answers while nothing changed
	now.Store(&phase{})
	changing := func() { now.Store(&phase{n: now.Load().n + 1, changing: true}) }
	stays := func(pid int) {
		l.Helper()
		before := right.Load()
		now.Store(&phase{n: now.Load().n + 1, pid: pid})
		l.until("the status was asked", func() bool { return right.Load() > before+20 || l.Failed() })
	}
	stop := make(chan struct{})
	var hammers sync.WaitGroup
	for i := range 2 {
		hammers.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				before := now.Load()
				held, pid := l.ask(i == 0)
				if before.changing || before != now.Load() {
					continue
				}
				right.Add(1)
				if held != (before.pid != 0) || held && pid != before.pid {
					l.Errorf("status: running %t, pid %d; want pid %d", held, pid, before.pid)
				}
			}
		})
	}
	for range l.rounds(30) {
		changing()
		pid := l.daemon("--interval", "1h")
		stays(pid)
		changing()
		out := l.finish(l.command("sh", "-c", l.bin.loop+" poll stop && "+l.bin.loop+" poll start --daemon --interval 1h"))
		if out.code != 0 || !strings.HasPrefix(out.stdout, fmt.Sprintf("poll process (pid %d) stopped\npoller started (pid ", pid)) {
			l.Errorf("exit code %d: %s%s", out.code, out.stdout, out.stderr)
			break
		}
		status, err := lock.Probe(l.pidfile())
		if err != nil || !status.Held || status.PID == pid {
			l.Errorf("behind stop and start: %+v, %v", status, err)
			break
		}
		stays(status.PID)
		changing()
		l.must("poll", "stop")
		stays(0)
	}
	close(stop)
	hammers.Wait()
	l.Logf("%d answers while nothing changed, all right", right.Load())
	l.alternates()
}

// ask asks for the status: with a process of its own, or directly.
func (l *life) ask(byProcess bool) (held bool, pid int) {
	if byProcess {
		s := l.status()
		if s.PID != nil {
			pid = *s.PID
		}
		return s.Running, pid
	}
	s, err := lock.Probe(l.pidfile())
	if err != nil {
		l.Errorf("probe: %v", err)
	}
	return s.Held, s.PID
}

// L7: starts that meet a stop run, or name the one that was there; none is lost
// and none overlaps.
func startDuringStop(l *life) {
	for range l.rounds(30) {
		pid := l.daemon("--interval", "1h")
		var both sync.WaitGroup
		var stopped, started answer
		both.Go(func() { stopped = l.run("poll", "stop") })
		both.Go(func() { started = l.run("poll", "start", "--once") })
		both.Wait()
		if stopped.code != 0 || !strings.Contains(stopped.stdout, fmt.Sprintf("(pid %d) stopped", pid)) {
			l.Errorf("stop: exit code %d: %s%s", stopped.code, stopped.stdout, stopped.stderr)
		}
		named := strings.Contains(started.stderr, fmt.Sprintf("another poller is already running (pid %d,", pid))
		if started.code != 0 && !(started.code == 1 && named) {
			l.Errorf("start: exit code %d: %s%s", started.code, started.stdout, started.stderr)
		}
		l.free("after both")
	}
	l.alternates()
}

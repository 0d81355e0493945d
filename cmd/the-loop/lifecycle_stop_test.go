package main_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"theloop/localapi"
)

// C1, C2, C3, P8: a stop in the middle of a thousand items leaves those below
// alone, closes nothing, and says so in log, event and heartbeat; the next start
// deals with the rest.
func stopInACycle(l *life) {
	const items = 1000
	for n := 1; n <= 3; n++ {
		l.item(n, false)
	}
	l.must("poll", "start", "--once")
	if err := os.RemoveAll(l.path("inbox/2")); err != nil {
		l.Fatal(err)
	}
	for n := 4; n <= items; n++ {
		l.item(n, false)
	}
	p := l.start("--interval", "1h")
	var out strings.Builder
	l.until("it is among the items", func() bool { return l.count("poll.first_seen", 0) > 50 })
	begun := time.Now()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		l.Errorf("exit code %d: %s", code, &p.stderr)
	}
	took := time.Since(begun)
	l.Logf("busy with items: %s from the signal to the end", took.Round(time.Millisecond))
	if took > 5*time.Second {
		l.Errorf("it took %s", took)
	}
	out.WriteString(l.must("ledger", "list"))
	seen := strings.Count(out.String(), "inbox:local/demo#")
	if seen < 50 || seen >= items {
		l.Errorf("%d of %d items were dealt with: that shows nothing", seen, items)
	}
	if item := l.must("ledger", "inspect", "inbox:local/demo#2"); !strings.Contains(item, "state:       open") {
		l.Errorf("an interrupted cycle closed something: %s", item)
	}
	s := l.status()
	if s.LastCycle == nil || !s.LastCycle.Interrupted || s.LastCycle.Closures != 0 || s.LastCycle.ItemsSeen >= items {
		l.Errorf("the heartbeat: %+v", s.LastCycle)
	}
	cycles := l.events("poll.cycle")
	if last := cycles[len(cycles)-1]; !strings.Contains(string(last.Raw), `"interrupted":true`) {
		l.Errorf("the event: %s", last.Raw)
	}
	a := l.run("poll", "start", "--once")
	if want := fmt.Sprintf("cycle: %d items seen", items-1); a.code != 0 || !strings.HasPrefix(a.stdout, want) || !strings.Contains(a.stdout, "1 item ended") {
		l.Errorf("the next cycle: exit code %d: %s%s", a.code, a.stdout, a.stderr)
	}
	if n := l.count("poll.first_seen", 0); n != items {
		l.Errorf("%d items were seen for the first time, want each of %d once", n, items)
	}
}

// C4: a stop while it is starting ends it soon, wherever it is, and leaves nothing
// that a start has to be helped over.
func stopWhileStarting(l *life) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range l.rounds(12) {
		p := l.start("--interval", "1h")
		<-time.After(time.Duration(rng.IntN(40)) * time.Millisecond) // the random moment
		begun := time.Now()
		p.signal(syscall.SIGTERM)
		code := p.wait()
		if took := time.Since(begun); took > 3*time.Second {
			l.Errorf("it took %s", took)
		}
		// Stopped, told to stop before it had started, or not yet listening.
		if code == 1 && !strings.Contains(p.stderr.String(), "told to stop while it was starting") || code > 1 {
			l.Errorf("exit code %d: %s", code, &p.stderr)
		}
		l.free("after a stop")
	}
	l.settled()
}

// An idle poller is gone soon after the signal (aim: 100 ms).
func exitTime(l *life) {
	var took []time.Duration
	var ready []time.Duration
	for range l.rounds(5) {
		begun := time.Now()
		l.daemon("--interval", "1h")
		ready = append(ready, time.Since(begun))
		l.must("poll", "kick")
		begun = time.Now()
		l.must("poll", "stop")
		took = append(took, time.Since(begun))
	}
	slices.Sort(took)
	slices.Sort(ready)
	l.Logf("start to ready %s, `poll stop` of an idle one %s (medians)", ready[len(ready)/2].Round(time.Millisecond), took[len(took)/2].Round(time.Millisecond))
	if took[len(took)/2] > 2*time.Second {
		l.Errorf("an idle poller needs %s to stop", took)
	}
}

// A poller that was suspended for a while shows as stalled, and goes on with one
// cycle, not with all that it missed (U6).
func suspended(l *life) {
	const interval = 200 * time.Millisecond
	p := l.start("--interval", interval.String())
	l.ready(p.Process.Pid)
	p.signal(syscall.SIGSTOP)
	l.until("it shows as stalled", func() bool { return l.status().Health == "stalled" })
	<-time.After(10 * interval) // ten cycles are missed
	before := l.count("poll.cycle", 0)
	resumed := time.Now()
	p.signal(syscall.SIGCONT)
	l.until("it goes on", func() bool { return l.count("poll.cycle", 0) >= before+8 })
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		l.Errorf("exit code %d: %s", code, &p.stderr)
	}
	cycles := l.events("poll.cycle")[before:]
	// One was due, one may have been under way, and the time rounds up.
	took := cycles[len(cycles)-1].Time.Sub(resumed)
	if most := 3 + int(took/interval); len(cycles) > most {
		l.Errorf("a burst: %d cycles within %s", len(cycles), took)
	}
}

// L1: a start that is refused leaves every byte below the state root as it was,
// but for one event, and takes back a root that it made.
func refusedStartsLeaveAll(l *life) {
	l.item(1, true)
	pid := l.daemon("--interval", "1h")
	l.until("the session", func() bool { return l.told("the-task") == 1 })
	l.ready(pid)
	socket, err := os.Lstat(localapi.SocketPath(l.root()))
	if err != nil {
		l.Fatal(err)
	}
	for _, args := range [][]string{{}, {"--once"}, {"--daemon"}, {"--fresh"}, {"--beside-webhook"}} {
		before, lines := l.hashes(), strings.Count(l.read(".the-loop/logs/events.jsonl"), "\n")
		a := l.run(append([]string{"poll", "start"}, args...)...)
		if a.code != 1 || a.stdout != "" || !strings.Contains(a.stderr, fmt.Sprintf("another poller is already running (pid %d,", pid)) {
			l.Errorf("%v: exit code %d: %s%s", args, a.code, a.stdout, a.stderr)
		}
		if after := l.hashes(); after != before {
			l.Errorf("%v: a refused start changed something:\n%s\nwas\n%s", args, after, before)
		}
		if n := strings.Count(l.read(".the-loop/logs/events.jsonl"), "\n") - lines; n != 1 {
			l.Errorf("%v: %d events, want one", args, n)
		}
	}
	if now, err := os.Lstat(localapi.SocketPath(l.root())); err != nil || !os.SameFile(socket, now) {
		l.Errorf("a refused start took the socket: %v", err)
	}
	l.must("poll", "stop")

	l.write("tokenless.yaml", "state: {root: new/root}\npolling: {sources: [{provider: github, repos: [octo/repo]}]}\n")
	if a := l.run("poll", "start", "-c", "tokenless.yaml"); a.code != 1 || !strings.Contains(a.stderr, "no token for github.com") {
		l.Errorf("without a token: exit code %d: %s", a.code, a.stderr)
	}
	if _, err := os.Lstat(l.path("new")); !os.IsNotExist(err) {
		l.Errorf("a refused start left a root: %v", err)
	}
}

// hashes names every file below the state root but the event log, with its mode,
// time and content.
func (l *life) hashes() string {
	l.Helper()
	var b strings.Builder
	err := filepath.WalkDir(l.root(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) == "events.jsonl" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %s %d", path, info.Mode(), info.ModTime().UnixNano())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %x", sha256.Sum256(data))
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		l.Fatal(err)
	}
	return b.String()
}

// U3: whoever reads the heartbeat in a tight loop, while a cycle follows the other
// and the poller is killed and started again, finds it whole and there.
func heartbeatIsWhole(l *life) {
	p := l.start("--interval", "0.01")
	l.ready(p.Process.Pid)
	reads, path := 0, l.path(".the-loop/poll-status.json")
	for round := range 3 {
		for before := l.count("poll.cycle", 0); l.count("poll.cycle", 0) < before+20; {
			for range 500 {
				text, err := os.ReadFile(path)
				if err != nil || !json.Valid(text) || len(text) < 100 {
					l.Fatalf("read %d: %v: %q", reads, err, text)
				}
				reads++
			}
		}
		p.signal(syscall.SIGKILL)
		p.wait()
		if round < 2 {
			p = l.start("--interval", "0.01")
		}
	}
	l.must("poll", "start", "--once")
	left, err := filepath.Glob(l.path(".the-loop/.poll-status.json.*"))
	if err != nil || len(left) > 0 {
		l.Errorf("left behind: %v, %v", left, err)
	}
	l.Logf("%d reads", reads)
}

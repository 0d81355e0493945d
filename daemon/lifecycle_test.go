package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"theloop/localapi"
	"theloop/lock"
	"theloop/poller"
	"theloop/record"
	"theloop/store/storetest"
	"theloop/workitem"
)

// A kick runs a cycle at once and answers with what it did.
func TestKick(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.started(1)
	p := w.start(nil)
	w.until("the first session", func() bool { return w.told("the-task") == 1 && len(w.events("dispatch.succeeded")) == 1 })
	w.comment(1, 1, "octocat", "hello there")
	if done := w.kick(); done.ItemsSeen != 1 || done.CommentsForwarded != 1 || done.Errors != 0 {
		t.Errorf("%+v", done)
	}
	w.until("the comment", func() bool { return w.told("hello there") == 1 })

	s, err := w.client().Status(t.Context())
	if err != nil || s.PID != os.Getpid() || s.Busy || s.Version != "1.2.3" || time.Until(s.NextCycleAt.Time) < 50*time.Minute {
		t.Errorf("status %+v, %v", s, err)
	}

	// many at once are answered by few cycles
	before := len(w.events("poll.cycle"))
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := w.client().Kick(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if n := len(w.events("poll.cycle")) - before; n < 1 || n > 20 {
		t.Errorf("%d cycles for 20 kicks", n)
	}
	p.end()
	if _, err := w.client().Kick(t.Context()); !errors.Is(err, localapi.ErrNoAnswer) {
		t.Errorf("a kick of nobody: %v", err)
	}
}

// Those who ask while a cycle runs get the next one, all of them the same, and
// those whom no cycle will answer are told.
func TestKicksShareACycle(t *testing.T) {
	k := newKicks()
	ask := func() <-chan localapi.Kicked {
		t.Helper()
		place, err := k.wait()
		if err != nil {
			t.Fatal(err)
		}
		return place
	}
	cycle := func(n int) localapi.Kicked { return localapi.Kicked{Cycle: localapi.Cycle{ItemsSeen: n}} }
	first := ask()
	<-k.rung
	under := k.take()
	second, third := ask(), ask()
	under.answer(cycle(1))
	if got := <-first; got.ItemsSeen != 1 {
		t.Errorf("the first got %+v", got)
	}
	next := k.take()
	select {
	case <-k.rung:
		t.Error("kicks that are taken ring still")
	default:
	}
	next.answer(cycle(2))
	if a, b := <-second, <-third; a.ItemsSeen != 2 || b.ItemsSeen != 2 {
		t.Errorf("the others got %+v and %+v", a, b)
	}

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.ask(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("who goes away: %v", err)
	}
	k.take().answer(cycle(3)) // nobody is there any more

	late := ask()
	k.end()
	if _, more := <-late; more {
		t.Error("an answer without a cycle")
	}
	if _, err := k.ask(t.Context()); !errors.Is(err, errStopping) {
		t.Errorf("after the end: %v", err)
	}
}

// B4, B5: three stops, each with a job that hangs and others that wait behind it,
// spend nothing, and what was abandoned is found again.
func TestStopsSpendNothing(t *testing.T) {
	w := newWorld(t)
	// One job at a time, and each spawn is watched for a minute.
	w.configure("octocat", "", "  maxConcurrentDispatches: 1")
	w.started(1, 2, 3)
	slow := func(o *Options) { o.Interval = 50 * time.Millisecond }
	w.write("config.yaml", strings.Replace(w.read("config.yaml"), "resumeProbeSeconds: 0", "resumeProbeSeconds: 60", 1))
	for round := range 3 {
		p := w.start(slow)
		w.until("the sessions are queued", func() bool { return w.held(3) })
		p.end()
		released := len(w.events("poll.attempts_released"))
		if released == 0 {
			t.Fatalf("round %d: nothing was given back\n%s", round, &w.log)
		}
		spent := 0
		for n := 1; n <= 3; n++ {
			rec := w.record(n)
			if rec.Item.Spawn.GaveUp {
				t.Errorf("round %d: item %d was given up by a stop", round, n)
			}
			if rec.Item.Spawn.Attempts > 0 && rec.Item.Spawn.StartedOn == "" && rec.Session == nil {
				spent++
			}
		}
		if spent > 0 {
			t.Errorf("round %d: %d attempts were spent on what never started", round, spent)
		}
	}
	w.write("config.yaml", strings.Replace(w.read("config.yaml"), "resumeProbeSeconds: 60", "resumeProbeSeconds: 0", 1))
	w.start(slow)
	w.until("every session is up, once", func() bool { return w.told("the-task") >= 3 })
	if n := w.told("the-task"); n != 3 {
		t.Errorf("%d sessions for 3 items", n)
	}
}

// held says whether the poller has put the spawn of an item into its queue.
func (w *world) held(item int) bool {
	doc, err := w.client().Item(w.t.Context(), ref(item))
	return err == nil && doc.Spawn.Attempts == 1
}

func (w *world) read(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(w.path(name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// R1: an edit whose trackers cannot be opened keeps all of the last good one, is
// said once, is tried again, and is no longer there when it was taken back.
func TestAnEditThatCannotBeUsed(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.started(1)
	p := w.start(nil)
	w.until("the session", func() bool { return w.told("the-task") == 1 })
	rejected := func() int { return len(w.events("config.rejected")) }

	const noToken = "    - {provider: github, repos: [octo/repo], baseUrl: 'http://127.0.0.1:9'}"
	for range 2 { // edited, taken back, edited again
		before := rejected()
		w.configure("octocat, mallory", noToken, "")
		w.comment(1, 1, "mallory", "listen to me")
		for range 3 {
			w.kick()
		}
		if n := rejected() - before; n != 1 {
			t.Errorf("it was said %d times, want once\n%s", n, &w.log)
		}
		if w.told("listen to me") > 0 {
			t.Error("a part of the edit is in force")
		}
		w.configure("octocat", "", "")
		w.kick()
	}
	if n := len(w.events("config.reloaded")); n != 0 {
		t.Errorf("%d reloads of what never changed", n)
	}

	// what it needed is there now: no further edit is necessary
	w.configure("octocat, mallory", noToken, "")
	w.kick()
	t.Setenv("GH_TOKEN", "a-token")
	w.kick() // nobody answers at the address, which is an error of the cycle alone
	if n := len(w.events("config.reloaded")); n != 1 {
		t.Errorf("%d reloads\n%s", n, &w.log)
	}
	w.comment(1, 2, "mallory", "and now")
	w.kick()
	w.until("the new user is heard", func() bool { return w.told("and now") == 1 })
	p.end()
}

// R1: a flag wins over the file until the process ends.
func TestFlagsWinOverEdits(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	p := w.start(func(o *Options) { o.Interval, o.MaxRetries = 2*time.Hour, 7 })
	w.write("config.yaml", strings.Replace(w.read("config.yaml"), "intervalSeconds: 1", "intervalSeconds: 1\n  maxRetries: 2", 1))
	w.kick()
	if len(w.events("config.reloaded")) != 1 {
		t.Fatalf("it was not reloaded\n%s", &w.log)
	}
	s, err := w.client().Status(t.Context())
	if err != nil || time.Until(s.NextCycleAt.Time) < 100*time.Minute {
		t.Errorf("the interval of the file: %+v, %v", s, err)
	}
	p.end()
	o := w.options()
	o.MaxRetries = 7
	cfg, _, err := load(o.Config)
	if err != nil {
		t.Fatal(err)
	}
	now, err := settingsOf(o, cfg)
	if err != nil || now.poller.Policy.MaxRetries() != 7 || now.session.MaxRetries != 7 {
		t.Errorf("maxRetries %d, %d, %v", now.poller.Policy.MaxRetries(), now.session.MaxRetries, err)
	}
}

// C5: a fault of ours ends neither the loop nor the process.
func TestACycleThatPanicsIsAnError(t *testing.T) {
	w := newWorld(t)
	s := &service{o: w.options(), poller: poller.New(poller.Options{Now: time.Now})} // no ledger at all
	report := s.cycle(t.Context())
	if len(report.Errors) != 1 || !strings.Contains(report.Errors[0], "internal fault") || report.At.IsZero() {
		t.Errorf("%+v", report)
	}
	if !strings.Contains(w.log.String(), "internal fault") {
		t.Errorf("it is not in the log: %s", &w.log)
	}
}

// P8: what ended 90 days ago is removed with the first cycle of a day, and that
// is asked for once a day.
func TestChores(t *testing.T) {
	var sweeps int
	var before []time.Time
	day := time.Date(2026, 5, 1, 23, 59, 0, 0, time.UTC)
	c := newChores(nil, day)
	c.log = newWorld(t).options().Log
	c.sweep = func(context.Context) error { sweeps++; return errors.New("tmux does not answer") }
	c.expire = func(_ context.Context, b time.Time) (int, error) { before = append(before, b); return 1, nil }
	for n := range 24 * 60 * 6 { // a day and a cycle each ten seconds
		c.do(t.Context(), day.Add(time.Duration(n)*10*time.Second))
	}
	if sweeps != 24*60 {
		t.Errorf("%d sweeps in a day", sweeps)
	}
	want := time.Date(2026, 5, 2, 0, 0, 0, 0, time.UTC).Add(-90 * 24 * time.Hour)
	if len(before) != 1 || !before[0].Equal(want) {
		t.Errorf("expired %v, want once, before %v", before, want)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	c.do(over, day.Add(72*time.Hour))
	if len(before) != 1 {
		t.Error("a stop waits for chores")
	}
}

// P8: the tombstone of an item that ended goes after 90 days, also when the
// poller runs from cron.
func TestTombstonesGo(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.write("inbox/none", "")
	w.once()
	w.bury(1)
	for _, day := range []int{1, 89} {
		w.offset = time.Duration(day) * 24 * time.Hour
		w.once()
		if !w.record(1).Item.Sealed() {
			t.Fatalf("the tombstone is gone after %d days", day)
		}
	}
	w.offset = 92 * 24 * time.Hour
	w.once()
	if rec := w.record(1); rec.Item.Ref != "" {
		t.Errorf("it is still there: %+v", rec.Item)
	}
}

// bury leaves the tombstone of an item that ended just now.
func (w *world) bury(item int) {
	w.t.Helper()
	l := storetest.OpenAt(w.t, w.path(".the-loop/ledger.db"))
	seen := workitem.Item{Ref: ref(item), Kind: workitem.Issue, Source: "inbox:local/demo"}
	now := time.Now()
	_, err := l.Commit(w.t.Context(), ref(item), 0, []record.Change{
		record.Observe{Item: seen, ReadAt: now}, record.FirstSeen{At: now}, record.End{At: now}, record.Forget{},
	})
	if err := errors.Join(err, l.Close()); err != nil {
		w.t.Fatal(err)
	}
}

// The service manager hears of readiness, of life, also between two cycles that
// are far apart, and of the stop.
func TestServiceManager(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.write("inbox/none", "")
	socket := w.path("notify")
	if len(socket) > 100 {
		socket = os.Getenv(binEnv) + "/notify"
	}
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", socket)
	t.Setenv("WATCHDOG_USEC", "100000")
	hear := func() string {
		t.Helper()
		b := make([]byte, 256)
		if err := l.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		n, err := l.Read(b)
		if err != nil {
			t.Fatalf("the service manager hears nothing: %v\n%s", err, &w.log)
		}
		return string(b[:n])
	}
	p := w.start(nil)
	if got := hear(); got != "READY=1" {
		t.Errorf("first %q", got)
	}
	for range 3 { // one of them for the only cycle of this hour
		if got := hear(); got != "WATCHDOG=1" {
			t.Errorf("then %q", got)
		}
	}
	p.end()
	got := hear()
	for got == "WATCHDOG=1" {
		got = hear()
	}
	if got != "STOPPING=1" {
		t.Errorf("at the end %q", got)
	}

	// once for each cycle, however patient the service manager is
	t.Setenv("WATCHDOG_USEC", "7200000000")
	p = w.start(nil)
	for _, want := range []string{"READY=1", "WATCHDOG=1"} {
		if got := hear(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	for range 2 {
		w.kick()
		if got := hear(); got != "WATCHDOG=1" {
			t.Errorf("behind a cycle %q", got)
		}
	}
	p.end()
	if got := hear(); got != "STOPPING=1" {
		t.Errorf("at the end %q", got)
	}
}

// The lock is let go last of all: behind the ledger, the socket and the last
// event (stop order).
func TestTheLockGoesLast(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.write("inbox/none", "")
	p := w.start(nil)
	p.stop()
	for held := true; held; {
		status, err := lock.Probe(w.path(".the-loop/" + lock.File))
		if err != nil {
			t.Fatal(err)
		}
		held = status.Held
	}
	// From here on another poller may run: nothing of the first one is left.
	if _, err := os.Lstat(localapi.SocketPath(w.path(".the-loop"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the socket: %v", err)
	}
	if len(w.events("poller.stopped")) != 1 {
		t.Error("the last event comes behind the lock")
	}
	w.record(1) // opens the ledger, which nobody has
	p.end()
}

package daemon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"theloop/dispatch"
	"theloop/localapi"
	"theloop/record"
	"theloop/session"
	"theloop/store/storetest"
	"theloop/testdata/harness/harnesslog"
	"theloop/workitem"
)

// A decision whose record changed before its commit is refused by the ledger, made
// again on what is true then, and only that one is acted on (F7): the operator's
// pause comes between a cycle's decision to deliver and its commit.
func TestAStaleDecisionIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.started(1)
	var armed atomic.Bool
	var decided atomic.Int32
	p := w.start(func(o *Options) {
		o.Failpoint = func(name string) {
			if name != "decided" {
				return
			}
			decided.Add(1)
			if armed.CompareAndSwap(true, false) {
				if _, err := w.client().Order(t.Context(), localapi.Order{Ref: ref(1), Command: "pause"}); err != nil {
					t.Errorf("pause: %v", err)
				}
			}
		}
	})
	w.until("the session", func() bool { return w.told("the-task") == 1 })
	w.comment(1, 1, "octocat", "too late by a moment")
	decided.Store(0)
	armed.Store(true)
	if done := w.kick(); done.CommentsForwarded != 0 || done.Errors != 0 || decided.Load() != 2 {
		t.Errorf("%d decisions, %+v", decided.Load(), done)
	}
	p.end()
	rec := w.record(1)
	row, _ := rec.Comments.Get("20260102T000001Z-octocat.md")
	if rec.Item.Control.Command != "pause" || row.State != record.Settled || row.Outcome != record.SessionPaused || w.told("too late by a moment") != 0 {
		t.Errorf("control %q, the comment is %s %s and was told %d times", rec.Item.Control.Command, row.State, row.Outcome, w.told("too late by a moment"))
	}
}

// An item that was forgotten and cleaned up has no row of the session before. A pane
// that was kept proves nothing of the next start, which runs (D5), and what was said of
// the first session on the item does not stand for the second (D12).
func TestAStartAfterForgetAndCleanup(t *testing.T) {
	w := newWorld(t)
	w.configure("octocat", "", "")
	w.started(1)
	p := w.start(nil)
	w.until("the session", func() bool { return w.told("the-task") == 1 })
	order := func(word string) {
		t.Helper()
		if _, err := w.client().Order(t.Context(), localapi.Order{Ref: ref(1), Command: word}); err != nil {
			t.Fatalf("%s: %v", word, err)
		}
	}
	if _, err := w.client().Forget(t.Context(), localapi.Forget{Refs: []workitem.Ref{ref(1)}}); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(w.path("inbox/1/comments/20260101T000000Z-octocat.md")); err != nil { // nobody starts it the second time
		t.Fatal(err)
	}
	w.kick()
	order("cleanup")
	order("start")
	w.until("the session of the second life", func() bool { return w.told("the-task") == 2 })
	w.until("both are announced", func() bool { return len(w.events("session.announced")) == 2 })
	p.end()
	posts, err := filepath.Glob(w.path("inbox/1/comments/*-the-loop.md"))
	if err != nil || len(posts) != 2 {
		t.Errorf("posted: %q, %v", posts, err)
	}
}

// A forget waits for whatever the item's session has in its queue, which may be paid
// for by a comment on a pull request, and may bring a session up (P3).
func TestForgetWaitsForTheQueue(t *testing.T) {
	l, q := storetest.Open(t), dispatch.New(dispatch.Options{})
	observe := record.Observe{Item: workitem.Item{Ref: ref(1), Source: "inbox:local/demo"}}
	if _, err := l.Commit(t.Context(), ref(1), 0, []record.Change{observe, record.FirstSeen{At: time.Now()}}); err != nil {
		t.Fatal(err)
	}
	running, held := make(chan struct{}), make(chan struct{})
	q.Put(dispatch.Job{Ref: ref(1), Item: ref(2), ID: "poll-comment-1", Run: func(context.Context) error {
		close(running)
		<-held
		return nil
	}})
	<-running
	done := make(chan error, 1)
	go func() {
		_, err := forgetter{ledger: l, queue: q}.forget(t.Context(), localapi.Forget{Refs: []workitem.Ref{ref(1)}})
		done <- err
	}()
	for len(q.Held(ref(1))) < 2 {
		select {
		case err := <-done:
			t.Fatalf("it did not wait: %v", err)
		default:
			runtime.Gosched()
		}
	}
	close(held)
	if err := <-done; err != nil {
		t.Error(err)
	}
	q.Stop(time.Minute)
}

// What a process that was killed had begun may still reach tmux: until its deadline
// nothing of the item is forgotten (D3).
func TestForgetWaitsForADeadline(t *testing.T) {
	until := time.Now().Add(time.Hour)
	for name, begun := range map[string][]record.Change{
		"a start": {record.QueueSpawn{DeliveryID: "spawn", Run: "killed"}, record.Start{On: record.OnNewPane, Until: until}},
		"a close": {record.PutSession{Session: record.Session{Status: record.Shut, Until: until}}},
	} {
		l, q := storetest.Open(t), dispatch.New(dispatch.Options{})
		changes := append([]record.Change{record.Observe{Item: workitem.Item{Ref: ref(1), Source: "inbox:local/demo"}}, record.FirstSeen{At: time.Now()}}, begun...)
		if _, err := l.Commit(t.Context(), ref(1), 0, changes); err != nil {
			t.Fatal(err)
		}
		host := &session.Host{Options: session.Options{Ledger: l, Now: time.Now}}
		if names, err := (forgetter{ledger: l, queue: q, host: host}).forget(t.Context(), localapi.Forget{Refs: []workitem.Ref{ref(1)}}); err == nil {
			t.Errorf("%s: %v is forgotten", name, names)
		}
		q.Stop(time.Minute)
	}
}

// Everybody writes at once: cycles, the sessions' jobs, people on the tracker, an
// operator for each item, and those who only read (F7, B8, D7, X4). Afterwards the
// ledger is what their histories say: the last command that was answered is the
// recorded one, each comment was delivered as often as its row says, in order, and
// nothing is pending. Items that were forgotten meanwhile have no more history than
// that nothing was told them twice.
func TestWritersTogether(t *testing.T) {
	g := newTogether(t)
	p := g.start(nil)
	g.until("the sessions are up", func() bool { return g.told("the-task") == togetherItems })
	ctx, stop := context.WithCancel(t.Context())
	var operators, others sync.WaitGroup
	for n := 1; n <= togetherItems; n++ {
		operators.Go(func() { g.operate(n) })
	}
	others.Go(func() { g.people(ctx) })
	others.Go(func() { g.cycles(ctx) })
	for _, read := range g.readers() {
		others.Go(func() {
			g.often(ctx, func() bool {
				err := read(t.Context())
				if err != nil {
					t.Errorf("a reader: %v", err)
				}
				return err == nil
			})
		})
	}
	operators.Wait()
	stop()
	others.Wait()
	g.kick()
	p.end()
	g.settled()
	for n := 1; n <= togetherItems; n++ {
		g.judge(n)
	}
}

// judge holds one item's rows against its history.
func (g *together) judge(n int) {
	g.t.Helper()
	rec := g.record(n)
	if g.last[n] != "" && (rec.Item.Control == nil || rec.Item.Control.Command != g.last[n]) {
		g.t.Errorf("item %d: the last command answered was %q, recorded is %+v", n, g.last[n], rec.Item.Control)
	}
	delivered, order := g.deliveries(n)
	if !slices.IsSorted(order) {
		g.t.Errorf("item %d: not in the thread's order: %q", n, order)
	}
	for _, id := range g.said[n] {
		row, known := rec.Comments.Get(id)
		told := delivered[id]
		switch {
		case told > 1:
			g.t.Errorf("item %d: comment %s was told %d times", n, id, told)
		case !known:
			g.t.Errorf("item %d: comment %s has no row", n, id)
		case row.State == record.Delivered && told != 1, row.State != record.Delivered && told != 0 && !g.forgotten[n]:
			g.t.Errorf("item %d: comment %s is %s %s and was told %d times", n, id, row.State, row.Outcome, told)
		}
	}
	stopped := g.last[n] == "stop" || g.last[n] == "cleanup"
	if live := g.lives(n); stopped && live || rec.Session.Open() != live {
		g.t.Errorf("item %d: last command %q, session row %+v, a live pane: %t", n, g.last[n], rec.Session, live)
		for _, e := range g.events("*") {
			if e.Fields["work_item"] == ref(n).String() {
				g.t.Logf("%s", e.Raw)
			}
		}
	}
}

// deliveries counts what the item's agents were told as news, and in which order.
func (g *together) deliveries(n int) (times map[string]int, order []string) {
	g.t.Helper()
	records, err := harnesslog.Read(g.path("agent.log"))
	if err != nil {
		g.t.Fatal(err)
	}
	times = map[string]int{}
	for _, text := range harnesslog.Texts(records) {
		_, rest, ok := strings.Cut(text, "delivery poll-comment-")
		if id, _, _ := strings.Cut(rest, ")"); ok && slices.Contains(g.said[n], id) {
			times[id]++
			order = append(order, id)
		}
	}
	return times, order
}

// lives reports whether the item has a pane in which something runs.
func (g *together) lives(n int) bool {
	out, _ := exec.Command("tmux", "-L", g.server(), "list-panes", "-a", "-F", "#{session_name} #{pane_dead}").Output() // no server, no panes
	return slices.Contains(strings.Split(string(out), "\n"), fmt.Sprintf("loop-inbox-local-demo-%d 0", n))
}

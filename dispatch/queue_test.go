package dispatch

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"theloop/record"
	"theloop/workitem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func ref(n int) workitem.Ref {
	return workitem.Ref{Provider: "inbox", Owner: "local", Repo: "demo", Number: n}
}

// gate is a job that says when it runs and ends when it is told to, or when it
// is cut.
type gate struct {
	running, open chan struct{}
	cut           bool
}

func newGate() *gate { return &gate{running: make(chan struct{}), open: make(chan struct{})} }

func (g *gate) run(ctx context.Context) error {
	close(g.running)
	select {
	case <-g.open:
	case <-ctx.Done():
		g.cut = true
	}
	return nil
}

func await(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatalf("waited 10s for %s", what)
	}
}

// D1: one FIFO for each session.
func TestJobsOfOneSessionRunInOrderAndOneAtATime(t *testing.T) {
	q := New(Options{Concurrency: 4})
	defer q.Stop(time.Minute)
	var mu sync.Mutex
	busy, got := map[int]bool{}, map[int][]int{}
	for i := range 200 {
		n := i % 5
		q.Put(Job{Ref: ref(n), ID: fmt.Sprint(i), Run: func(context.Context) error {
			mu.Lock()
			if busy[n] {
				t.Errorf("two jobs of session %d at once", n)
			}
			busy[n] = true
			mu.Unlock()
			mu.Lock()
			busy[n] = false
			got[n] = append(got[n], i)
			mu.Unlock()
			return nil
		}})
	}
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	for n, order := range got {
		if !slices.IsSorted(order) || len(order) != 40 {
			t.Errorf("session %d ran %v", n, order)
		}
	}
}

// D1: sessions side by side, up to the number and no more.
func TestSessionsRunSideBySideUpToTheirNumber(t *testing.T) {
	q := New(Options{Concurrency: 2})
	defer q.Stop(time.Minute)
	a, b, c := newGate(), newGate(), newGate()
	q.Put(Job{Ref: ref(1), ID: "a", Run: a.run})
	q.Put(Job{Ref: ref(2), ID: "b", Run: b.run})
	await(t, a.running, "the first session")
	await(t, b.running, "the second session")
	q.Put(Job{Ref: ref(3), ID: "c", Run: c.run})
	select {
	case <-c.running:
		t.Fatal("a third session ran beside two")
	default:
	}
	close(a.open)
	await(t, c.running, "the third session once the first had ended")
	close(b.open)
	close(c.open)
}

// F7: a queue refuses an id it already holds, queued or running.
func TestAnIdThatIsHeldIsRefused(t *testing.T) {
	q := New(Options{})
	defer q.Stop(time.Minute)
	g := newGate()
	if !q.Put(Job{Ref: ref(1), ID: "x", Run: g.run}) {
		t.Fatal("the first was refused")
	}
	await(t, g.running, "x")
	nop := func(context.Context) error { return nil }
	if q.Put(Job{Ref: ref(1), ID: "x", Run: nop}) {
		t.Error("a running id was taken again")
	}
	if !q.Put(Job{Ref: ref(1), ID: "y", Run: nop}) || q.Put(Job{Ref: ref(1), ID: "y", Run: nop}) {
		t.Error("a queued id was taken again")
	}
	if !q.Put(Job{Ref: ref(2), ID: "x", Run: nop}) {
		t.Error("another session's id was refused")
	}
	if diff := cmp.Diff([]string{"x", "y"}, q.Held(ref(1))); diff != "" {
		t.Error(diff)
	}
	close(g.open)
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if held := q.Held(ref(1)); held != nil {
		t.Errorf("still holds %v", held)
	}
}

// D1: a session's queue is bounded; what it refuses is taken once there is room.
func TestAFullQueueRefuses(t *testing.T) {
	q := New(Options{Bound: 2})
	defer q.Stop(time.Minute)
	g, nop := newGate(), func(context.Context) error { return nil }
	q.Put(Job{Ref: ref(1), ID: "a", Run: g.run})
	await(t, g.running, "a")
	if !q.Put(Job{Ref: ref(1), ID: "b", Run: nop}) || q.Put(Job{Ref: ref(1), ID: "c", Run: nop}) {
		t.Error("the bound does not hold")
	}
	if !q.Put(Job{Ref: ref(2), ID: "c", Run: nop}) {
		t.Error("another session's queue was full as well")
	}
	close(g.open)
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !q.Put(Job{Ref: ref(1), ID: "c", Run: nop}) {
		t.Error("an empty queue refused")
	}
}

// workers are the goroutines that work on queues, of this test and of those that
// have just ended.
func workers() int {
	stacks := make([]byte, 1<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "dispatch.(*Queue).work(")
}

func awaitWorkers(t *testing.T, want int) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); workers() != want; runtime.Gosched() {
		if time.Now().After(deadline) {
			t.Fatalf("%d goroutines, not %d", workers(), want)
		}
	}
}

// One goroutine for each queue that holds something, none for an idle one.
func TestAnIdleQueueHasNoGoroutine(t *testing.T) {
	awaitWorkers(t, 0)
	q := New(Options{Concurrency: 3})
	gates := make([]*gate, 20)
	for i := range gates {
		gates[i] = newGate()
		for _, id := range []string{"a", "b", "c"} {
			run := func(context.Context) error { return nil }
			if id == "a" {
				run = gates[i].run
			}
			q.Put(Job{Ref: ref(i), ID: id, Run: run})
		}
	}
	if n := workers(); n > len(gates) {
		t.Errorf("%d goroutines for %d queues", n, len(gates))
	}
	awaitWorkers(t, len(gates)) // none runs before it was scheduled once
	for _, g := range gates {
		close(g.open)
	}
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	awaitWorkers(t, 0)
	q.Stop(0)
}

// B4: what was accepted and never began comes back; what runs is waited for.
func TestStopHandsBackWhatNeverBegan(t *testing.T) {
	q := New(Options{Concurrency: 1})
	g, never := newGate(), func(context.Context) error { t.Error("a job began after the stop"); return nil }
	q.Put(Job{Ref: ref(1), ID: "a", Run: g.run})
	await(t, g.running, "a")
	q.Put(Job{Ref: ref(1), ID: "b", Run: never})
	q.Put(Job{Ref: ref(2), ID: "c", Run: never})
	stopped := make(chan []record.Held, 1)
	go func() { stopped <- q.Stop(time.Minute) }()
	for i := 0; q.Put(Job{Ref: ref(9), ID: fmt.Sprint("probe", i), Run: never}); i++ {
		runtime.Gosched() // until the stop has taken hold
	}
	close(g.open)
	held := <-stopped
	var ids []string
	for _, h := range held {
		if !strings.HasPrefix(h.DeliveryID, "probe") {
			ids = append(ids, h.Ref+" "+h.DeliveryID)
		}
	}
	slices.Sort(ids)
	if diff := cmp.Diff([]string{"inbox:local/demo#1 b", "inbox:local/demo#2 c"}, ids); diff != "" {
		t.Error(diff)
	}
	if g.cut {
		t.Error("the running job was cut within the drain")
	}
}

// C7: who waits for the queue to be empty waits for the last of its sessions.
func TestWaitIsForAllSessions(t *testing.T) {
	q := New(Options{Concurrency: 2})
	g := newGate()
	q.Put(Job{Ref: ref(1), ID: "a", Run: g.run})
	q.Put(Job{Ref: ref(2), ID: "b", Run: func(context.Context) error { return nil }})
	for deadline := time.Now().Add(10 * time.Second); q.Held(ref(2)) != nil && time.Now().Before(deadline); {
		runtime.Gosched()
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	if err := q.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("with a job that runs: %v", err)
	}
	close(g.open)
	if err := q.Wait(t.Context()); err != nil {
		t.Error(err)
	}
	q.Stop(time.Minute)
}

// C4: past the drain the running jobs are cut, and waited for.
func TestStopCutsWhatOutlastsTheDrain(t *testing.T) {
	q := New(Options{})
	g := newGate()
	q.Put(Job{Ref: ref(1), ID: "a", Run: g.run})
	await(t, g.running, "a")
	q.Stop(time.Millisecond)
	if !g.cut {
		t.Error("the job was not cut")
	}
	if again := q.Stop(time.Millisecond); len(again) != 0 {
		t.Errorf("a second stop handed back %v", again)
	}
}

// C5, C7: a job that panics or fails is counted and the lane goes on.
func TestFailuresAreCountedAndTheLaneGoesOn(t *testing.T) {
	var told []string
	q := New(Options{OnError: func(j Job, err error) { told = append(told, j.ID) }})
	ran := false
	q.Put(Job{Ref: ref(1), ID: "panics", Run: func(context.Context) error { panic("boom") }})
	q.Put(Job{Ref: ref(1), ID: "fails", Run: func(context.Context) error { return errors.New("no") }})
	q.Put(Job{Ref: ref(1), ID: "works", Run: func(context.Context) error { ran = true; return nil }})
	if err := q.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	q.Stop(time.Minute)
	if !ran || q.Failed() != 2 {
		t.Errorf("ran %v, failed %d", ran, q.Failed())
	}
	if diff := cmp.Diff([]string{"panics", "fails"}, told); diff != "" {
		t.Error(diff)
	}
}

// D12, R1: a timeout ends the job; it is the one that holds when the job begins.
func TestAJobHasItsTime(t *testing.T) {
	var limit atomic.Int64
	q := New(Options{Timeout: func() time.Duration { return time.Duration(limit.Load()) }})
	for i, when := range []time.Duration{time.Millisecond, 0, time.Millisecond} {
		limit.Store(int64(when))
		g := newGate()
		q.Put(Job{Ref: ref(1), ID: "a", Run: g.run})
		await(t, g.running, "the job")
		if when == 0 { // none
			close(g.open)
		}
		if err := q.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		if g.cut != (when > 0) {
			t.Errorf("job %d was cut: %v", i, g.cut)
		}
	}
	q.Stop(time.Minute)
}

// B4, P3: what never began goes back to the item that paid for it, whosever session
// it was for.
func TestAStopNamesTheItemThatPays(t *testing.T) {
	q := New(Options{Concurrency: 1})
	g := newGate()
	q.Put(Job{Ref: ref(1), ID: "running", Run: g.run})
	await(t, g.running, "the first job")
	q.Put(Job{Ref: ref(1), Item: ref(7), ID: "of a pull request", Run: g.run})
	q.Put(Job{Ref: ref(1), ID: "its own", Run: g.run})
	want := []record.Held{{Ref: ref(7).String(), DeliveryID: "of a pull request"}, {Ref: ref(1).String(), DeliveryID: "its own"}}
	if diff := cmp.Diff(want, q.Stop(0)); diff != "" {
		t.Error(diff)
	}
}

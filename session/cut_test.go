package session

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"theloop/record"
	"theloop/session/tmux"
)

// B4, B5, story 21: a worker that a stop cuts before its tmux call takes start and
// attempt back; one that is cut later goes on to its outcome.
func TestStopCutsAWorker(t *testing.T) {
	for _, c := range []struct {
		name string
		at   string // failpoint, or a call of tmux
		want want
	}{
		{"while it waits for the terminal", "ready", want{Unknown, record.Queued, 1, false, 0}},
		{"between start and tmux", "started", want{Dropped, record.Idle, 0, false, 0}},
		{"in the tmux call", "paste", want{Done, record.IsDone, 1, false, 1}},
		{"before the outcome", "pasted", want{Done, record.IsDone, 1, false, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.live()
			comment := w.queued("IC_1")
			ctx, stop := context.WithCancel(t.Context())
			w.at[c.at], w.tmux.on[c.at] = stop, stop
			w.expect(comment, w.host.Deliver(ctx, w.delivery(comment)), c.want)
		})
	}
	for _, c := range []struct {
		at   string
		want want
	}{
		{"respawn", want{Unknown, record.Running, 1, false, 1}}, // it has not proved itself
		{"prove", want{Done, record.IsDone, 1, false, 1}},
	} {
		t.Run("in the tmux call: "+c.at, func(t *testing.T) {
			w := newWorld(t)
			w.dead()
			comment := w.queued("IC_1")
			ctx, stop := context.WithCancel(t.Context())
			w.tmux.on[c.at] = stop
			w.expect(comment, w.host.Deliver(ctx, w.delivery(comment)), c.want)
		})
	}
	t.Run("in the tmux call: close", func(t *testing.T) {
		w := newWorld(t)
		w.live()
		ctx, stop := context.WithCancel(t.Context())
		w.tmux.on["close"] = stop
		if got := w.host.Close(ctx, Close{Ref: octoRef}); got != Done || w.ledger.get(octoRef).Session.Open() {
			t.Errorf("closed: %s", got)
		}
	})
	t.Run("in the tmux call: adopt", func(t *testing.T) {
		w := newWorld(t)
		w.live().look.Owner = tmux.LeftMark(octoOwner)
		ctx, stop := context.WithCancel(t.Context())
		w.tmux.on["adopt"] = stop
		if got, err := w.host.Adopt(ctx, Adoption{Ref: octoRef}); got != Done || err != nil {
			t.Errorf("adopted: %s %v", got, err)
		}
	})
	t.Run("before a close has begun", func(t *testing.T) {
		w := newWorld(t)
		w.live()
		ctx, stop := context.WithCancel(t.Context())
		w.host.Settings = func() Settings { stop(); return w.settings }
		commits := w.ledger.commits
		if got := w.host.Close(ctx, Close{Ref: octoRef}); got != Unknown || w.tmux.count("close") != 0 || w.ledger.commits != commits {
			t.Errorf("closed: %s, calls %v, %d commits", got, w.tmux.calls, w.ledger.commits-commits)
		}
	})
	t.Run("before anything", func(t *testing.T) {
		w := newWorld(t)
		w.live()
		comment := w.queued("IC_1")
		ctx, stop := context.WithCancel(t.Context())
		stop()
		commits := w.ledger.commits
		w.expect(comment, w.host.Deliver(ctx, w.delivery(comment)), want{Unknown, record.Queued, 1, false, 0})
		if w.ledger.commits != commits {
			t.Error("a stopped worker committed something")
		}
	})
}

// late is a context whose time is up when it is told so.
type late struct {
	context.Context
	up bool
}

func (l *late) Err() error {
	if l.up {
		return context.DeadlineExceeded
	}
	return l.Context.Err()
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(b []byte) (int, error) { return f(b) }

// D12: an attempt whose time is up before anything was sent has failed, so that it
// comes to an end; one that is on its way has its answer first, and a tmux that
// has not answered decides nothing (B9).
func TestTimeIsUp(t *testing.T) {
	for _, c := range []struct {
		name string
		at   string // failpoint, or a call of tmux
		dead bool
		want want
	}{
		{"while it waits for the terminal", "ready", false, want{Failed, record.Idle, 1, false, 0}},
		{"between start and tmux", "started", false, want{Failed, record.Idle, 1, false, 0}},
		{"in the tmux call", "paste", false, want{Done, record.IsDone, 1, false, 1}},
		{"before the outcome", "pasted", false, want{Done, record.IsDone, 1, false, 1}},
		{"when tmux is to answer", "look", false, want{Unknown, record.Queued, 1, false, 0}},
		{"while a new harness proves itself", "pasted", true, want{Unknown, record.Running, 1, false, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			if w.live(); c.dead {
				w.tmux.die(w.tmux.panes[0], "exit 0", true)
			}
			comment := w.queued("IC_1")
			ctx := &late{Context: t.Context()}
			w.at[c.at] = func() { ctx.up = true }
			w.tmux.on[c.at] = w.at[c.at]
			w.host.pause = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
			w.expect(comment, w.host.Deliver(ctx, w.delivery(comment)), c.want)
			if f := w.fields["dispatch.failed"]; (f != nil) != (c.want.result == Failed) || f != nil && !strings.Contains(fmt.Sprint(f["error"]), "dispatchTimeoutSeconds") {
				t.Errorf("the event is %v", f)
			}
		})
	}
	t.Run("of a fresh conversation after a resumed one that died", func(t *testing.T) {
		w := newWorld(t)
		w.dead()
		comment := w.queued("IC_1")
		w.tmux.exit = []string{"exit 1"}
		ctx := &late{Context: t.Context()}
		w.host.Random = readerFunc(func(b []byte) (int, error) { ctx.up = true; return len(b), nil }) // as its id is made
		w.host.pause = func(context.Context, time.Duration) error { w.tmux.probe(); return nil }
		w.expect(comment, w.host.Deliver(ctx, w.delivery(comment)), want{Failed, record.Idle, 1, true, 1})
	})
}

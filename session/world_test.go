package session

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/workitem"
)

const (
	testInstance = "0a1b2c3d"
	testRun      = "run-1"
	testHost     = "machine-1"
	sessionID    = "6f1f0c2e-8a0e-4f0b-9f0d-0c1b2a3d4e5f"
)

var octoOwner = tmux.OwnerMark(testInstance, octoRef.Key())

// world is a host with a ledger, a tmux and a clock of the test's.
type world struct {
	t        *testing.T
	clock    *clock
	ledger   *memory
	tmux     *fakeTmux
	host     *Host
	settings Settings
	events   []string
	fields   map[string]map[string]any // of the last event of a name
	admitted []Admission
	// at is run at a failpoint, once.
	at map[string]func()
	// posts is what was put off, postIDs what it is named.
	posts   []func(context.Context) error
	postIDs []string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{
		t: t, clock: &clock{now: noon.Add(300 * time.Millisecond)}, ledger: newMemory(t),
		fields: map[string]map[string]any{}, at: map[string]func(){},
		settings: Settings{
			Harness: "claude", Workdir: t.TempDir(), ReadyWait: time.Second, ResumeProbe: 2 * time.Second,
			ResumeOnRespawn: true, RemainOnExit: true, KeepSessionOnClose: true, KillHarnessOnClose: true,
			KillGrace: 5 * time.Second, MaxRetries: 3,
		},
	}
	w.tmux = newFakeTmux(w.clock)
	w.host = w.newHost(testRun)
	w.ledger.put(octoRef,
		record.Observe{Item: octoItem()}, record.FirstSeen{At: noon.Add(-time.Hour)},
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat"}})
	return w
}

// newHost is a process that works on the world.
func (w *world) newHost(run string) *Host {
	w.t.Helper()
	h, err := New(Options{
		Ledger: w.ledger, Tmux: w.tmux, Instance: testInstance, Host: testHost, Run: run, Now: w.clock.Now,
		Settings:   func() Settings { return w.settings },
		Authorized: members,
		Admit: func(a Admission) ([]record.Change, bool) {
			w.admitted = append(w.admitted, a)
			return admit(a)
		},
		Emit: func(event string, fields map[string]any) {
			w.events = append(w.events, event)
			w.fields[event] = fields
		},
		Failpoint: func(name string) {
			if f := w.at[name]; f != nil {
				delete(w.at, name)
				f()
			}
		},
		Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		w.t.Fatal(err)
	}
	h.pause = func(ctx context.Context, d time.Duration) error {
		w.tmux.probe()
		w.clock.advance(d)
		return ctx.Err()
	}
	return h
}

// queued makes a comment pending, with an attempt spent on it.
func (w *world) queued(id string) workitem.Comment {
	w.t.Helper()
	c := octoComment(id, "octocat", "please do "+id)
	w.ledger.put(octoRef, record.Hold{Note: record.NoteOf(c)}, queue(id))
	return c
}

func queue(id string) record.Change {
	return record.Queue{Comment: id, DeliveryID: record.CommentDeliveryID(id), Run: testRun}
}

func (w *world) delivery(c workitem.Comment) Delivery {
	return Delivery{
		Ref: octoRef, DeliveryID: record.CommentDeliveryID(c.ID), Comment: c,
		Story: Story{Item: octoItem()},
	}
}

func (w *world) deliver(c workitem.Comment) Result {
	return w.host.Deliver(w.t.Context(), w.delivery(c))
}

// killed runs a job that is killed at a failpoint.
func (w *world) killed(failpoint string, job func()) {
	w.t.Helper()
	type death struct{}
	w.at[failpoint] = func() { panic(death{}) }
	defer func() {
		if _, ok := recover().(death); !ok {
			w.t.Errorf("the job was not killed at %q", failpoint)
		}
	}()
	job()
}

// live is a session of the item that runs, with its row.
func (w *world) live() *fakePane {
	w.t.Helper()
	p := w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: octoOwner, HarnessSession: sessionID})
	w.ledger.put(octoRef, record.PutSession{Session: record.Session{
		Harness: "claude", HarnessSessionID: sessionID, TmuxTarget: p.look.Name, Pane: p.look.PaneID,
		Identity: p.look.Identity, Status: record.Active, Host: testHost, CreatedAt: noon.Add(-time.Minute),
	}}, record.Serve{})
	return p
}

// dead is a session of the item whose harness has ended and whose pane is kept.
func (w *world) dead() *fakePane {
	w.t.Helper()
	p := w.live()
	w.tmux.die(p, "exit 0", true)
	return p
}

// told is how often a text reached any pane life.
func (w *world) told(text string) int {
	n := 0
	for _, p := range w.tmux.panes {
		for _, life := range append(slices.Clone(p.lives), p.told) {
			for _, prompt := range life {
				n += strings.Count(prompt, text)
			}
		}
	}
	return n
}

// want is what a job should leave.
type want struct {
	result   Result
	phase    record.Phase
	attempts int
	repeat   bool // mayRepeat
	told     int
}

func (w *world) expect(c workitem.Comment, got Result, x want) {
	w.t.Helper()
	row := w.ledger.row(octoRef, c.ID)
	have := want{got, row.Phase(), row.Attempts, row.MayRepeat, w.told(c.Body)}
	if have != x {
		w.t.Errorf("got %+v\nwant %+v\nevents %v\ncalls %v", have, x, w.events, w.tmux.calls)
	}
}

func (x want) String() string {
	return fmt.Sprintf("{%s %s, %d attempts, mayRepeat %v, told %d times}", x.result, x.phase, x.attempts, x.repeat, x.told)
}

func (w *world) emitted(event string) bool { return slices.Contains(w.events, event) }

package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"theloop/session/tmux"
)

// fakePane is a pane of fakeTmux.
type fakePane struct {
	look tmux.Look
	// told is what the harness of this life was told: first prompt, then pastes.
	told []string
	argv []string
	dir  string
	// lives is what earlier harnesses in the pane were told.
	lives [][]string
}

// fakeTmux keeps tmux's promises on a clock of the test: guards, marks,
// deadlines. Its hooks break them. It is a model to script faults with; what the
// real one does is proved with the real one.
type fakeTmux struct {
	clock  *clock
	mu     sync.Mutex
	panes  []*fakePane
	gone   []*fakePane
	serial int
	calls  []string
	// silent makes Look not answer.
	silent bool
	// script answers the next calls of a kind instead of the model:
	// "" lets it, "skip" refuses, "lost" does it without an answer, "never" does
	// not do it and does not answer, "late" does not answer and does it when the
	// server goes on, if the guard still holds then.
	script map[string][]string
	late   []func()
	// on runs at the beginning of a call of a kind.
	on map[string]func()
	// missing is why no harness can be found.
	missing error
	// exit is how the next spawned harnesses end during their probe; "" for not.
	exit []string
	// survivor is a process that has outlived its pane; ends says that it does when it
	// is waited for.
	survivor int
	ends     bool
}

var errHang = fmt.Errorf("%w (killed)", tmux.ErrNoAnswer)

func newFakeTmux(c *clock) *fakeTmux {
	return &fakeTmux{clock: c, script: map[string][]string{}, on: map[string]func(){}}
}

func (f *fakeTmux) enter(call string) string {
	if hook := f.on[call]; hook != nil {
		hook()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, call)
	next := f.script[call]
	if len(next) == 0 {
		return ""
	}
	f.script[call] = next[1:]
	return next[0]
}

// count is how often a kind was called.
func (f *fakeTmux) count(call string) int {
	n := 0
	for _, c := range f.calls {
		if c == call {
			n++
		}
	}
	return n
}

// add puts a session there as it was before the test.
func (f *fakeTmux) add(l tmux.Look) *fakePane {
	f.serial++
	if l.PaneID == "" {
		l.PaneID = fmt.Sprintf("%%%d", f.serial)
	}
	if l.Owner != "" && l.StartCommand == "" {
		l.StartCommand = "the-loop session-exec"
	}
	if l.Identity == "" {
		l.Identity = fmt.Sprintf("100/200/%d", 1000+f.serial)
	}
	p := &fakePane{look: l}
	f.panes = append(f.panes, p)
	return p
}

func (f *fakeTmux) die(p *fakePane, status string, keep bool) {
	p.look.State, p.look.ExitStatus = tmux.Dead, status
	if !keep {
		f.gone = append(f.gone, p)
		f.panes = slices.DeleteFunc(f.panes, func(q *fakePane) bool { return q == p })
	}
}

func (f *fakeTmux) find(l tmux.Look) *fakePane {
	for _, p := range f.panes {
		if p.look.PaneID == l.PaneID && p.look.Identity == l.Identity {
			return p
		}
	}
	return nil
}

func (f *fakeTmux) Look(ctx context.Context, t tmux.Target) tmux.Look {
	f.enter("look")
	if f.silent || ctx.Err() != nil {
		return tmux.Look{State: tmux.Silent, Name: t.Name, Err: errHang}
	}
	best := tmux.Look{State: tmux.Absent, Name: t.Name}
	for _, p := range f.panes {
		switch {
		case t.Owner != "" && p.look.Owner == t.Owner:
			return clone(p.look)
		case p.look.Name == t.Name, p.look.PaneID == t.PaneID && p.look.Identity == t.Identity:
			best = clone(p.look)
		}
	}
	return best
}

func (f *fakeTmux) LookAndLoad(ctx context.Context, t tmux.Target, _ []byte) (tmux.Look, tmux.Loaded) {
	return f.Look(ctx, t), tmux.Loaded{}
}

func (f *fakeTmux) Drop(context.Context, tmux.Loaded) {}

func (f *fakeTmux) Runnable(tmux.Order) error { return f.missing }

func (f *fakeTmux) Survivor(_ context.Context, _ string, _ time.Time, wait time.Duration) int {
	if f.ends && wait > 0 {
		f.survivor = 0
	}
	return f.survivor
}

func (f *fakeTmux) LookAll(context.Context) ([]tmux.Look, error) {
	if f.silent {
		return nil, errHang
	}
	var all []tmux.Look
	for _, p := range f.panes {
		if p.look.Owner != "" {
			all = append(all, clone(p.look))
		}
	}
	return all, nil
}

func clone(l tmux.Look) tmux.Look {
	l.Ring = slices.Clone(l.Ring)
	return l
}

func (f *fakeTmux) Ready(context.Context, tmux.Look, time.Duration) error {
	f.enter("ready")
	return nil
}

// outcome applies act as the script says. A call whose caller gives up is killed
// before it has done anything.
func (f *fakeTmux) outcome(ctx context.Context, call string, guard func() bool, act func()) (tmux.Outcome, error) {
	how := f.enter(call)
	switch {
	case how == "never" || ctx.Err() != nil:
		return tmux.Unknown, errHang
	case how == "late":
		f.late = append(f.late, func() {
			if guard() {
				act()
			}
		})
		return tmux.Unknown, errHang
	case how == "skip" || !guard():
		return tmux.Skip, nil
	}
	act()
	if how == "lost" {
		return tmux.Unknown, errHang
	}
	return tmux.OK, nil
}

// goOn is a hung server that goes on: what it was asked for lands (story 18).
func (f *fakeTmux) goOn() {
	late := f.late
	f.late = nil
	for _, land := range late {
		land()
	}
}

func (f *fakeTmux) within(s tmux.Span) bool {
	now := f.clock.Now().Unix()
	return now >= s.Start.Unix()-1 && now < s.Until.Unix()
}

func (f *fakeTmux) Paste(ctx context.Context, p tmux.Paste) (tmux.Outcome, error) {
	var pane *fakePane
	return f.outcome(ctx, "paste", func() bool {
		pane = f.find(p.Look)
		return pane != nil && pane.look.Owner == p.Owner && pane.look.State == tmux.Live && f.within(p.Span) &&
			!slices.Contains(pane.look.Ring, p.Mark) && !slices.Contains(pane.look.Ring, "_"+p.Mark)
	}, func() {
		pane.told = append(pane.told, string(p.Text))
		pane.look.Ring = append(pane.look.Ring, p.Mark)
	})
}

func (f *fakeTmux) Spawn(ctx context.Context, s tmux.Spawn) (tmux.Look, tmux.Outcome, error) {
	var pane *fakePane
	outcome, err := f.outcome(ctx, "spawn", func() bool {
		return f.within(s.Span) && !slices.ContainsFunc(f.panes, func(p *fakePane) bool {
			return p.look.Name == s.Name || p.look.Owner == s.Owner
		})
	}, func() {
		pane = f.add(tmux.Look{State: tmux.Live, Name: s.Name})
		f.start(pane, s)
	})
	if outcome != tmux.OK {
		return tmux.Look{}, outcome, err
	}
	return clone(pane.look), outcome, nil
}

func (f *fakeTmux) Respawn(ctx context.Context, l tmux.Look, s tmux.Spawn) (tmux.Look, tmux.Outcome, error) {
	var pane *fakePane
	outcome, err := f.outcome(ctx, "respawn", func() bool {
		pane = f.find(l)
		return pane != nil && f.within(s.Span) && pane.look.Owner == s.Owner && pane.look.State == tmux.Dead &&
			(s.EmptyRing || !slices.Contains(pane.look.Ring, s.Mark))
	}, func() {
		f.serial++
		pane.look.State, pane.look.ExitStatus, pane.look.Identity = tmux.Live, "", fmt.Sprintf("100/200/%d", 1000+f.serial)
		pane.lives, pane.told = append(pane.lives, pane.told), nil
		if s.EmptyRing {
			pane.look.Ring = nil
		}
		f.start(pane, s)
	})
	if outcome != tmux.OK {
		return tmux.Look{}, outcome, err
	}
	return clone(pane.look), outcome, nil
}

func (f *fakeTmux) start(p *fakePane, s tmux.Spawn) {
	p.look.Owner, p.look.HarnessSession, p.look.StartCommand = s.Owner, s.HarnessSession, "the-loop session-exec"
	p.look.Ring = append(p.look.Ring, "_"+s.Mark)
	p.told, p.argv, p.dir = []string{s.Order.Prompt}, s.Order.Argv, s.Order.Dir
}

// probe is what happens to the pane made last while a job waits.
func (f *fakeTmux) probe() {
	if len(f.exit) == 0 {
		return
	}
	status := f.exit[0]
	f.exit = f.exit[1:]
	if status != "" {
		newest := f.panes[len(f.panes)-1]
		f.die(newest, strings.TrimPrefix(status, "gone "), !strings.HasPrefix(status, "gone "))
	}
}

func (f *fakeTmux) Prove(ctx context.Context, l tmux.Look, owner, mark string) error {
	return f.must(ctx, "prove", func() bool {
		p := f.find(l)
		return p != nil && p.look.State == tmux.Live && p.look.Owner == owner
	}, func() {
		p := f.find(l)
		if i := slices.Index(p.look.Ring, "_"+mark); i >= 0 {
			p.look.Ring[i] = mark
		}
	})
}

func (f *fakeTmux) must(ctx context.Context, call string, guard func() bool, act func()) error {
	outcome, err := f.outcome(ctx, call, guard, act)
	if outcome == tmux.Skip {
		return fmt.Errorf("%s: %w", call, tmux.ErrRefused)
	}
	return err
}

func (f *fakeTmux) Adopt(ctx context.Context, l tmux.Look, owner, harnessSession string, marks []string) error {
	return f.must(ctx, "adopt", func() bool {
		p := f.find(l)
		return p != nil && (p.look.Owner == "" || p.look.Owner == owner || p.look.Owner == tmux.LeftMark(owner))
	}, func() {
		p := f.find(l)
		p.look.Owner, p.look.HarnessSession = owner, harnessSession
		p.look.Ring = append(p.look.Ring, marks...)
	})
}

func (f *fakeTmux) Close(ctx context.Context, l tmux.Look, o tmux.CloseOptions) error {
	if f.find(l) == nil {
		f.enter("close")
		return nil
	}
	return f.must(ctx, "close", func() bool { return f.find(l).look.Owner == o.Owner }, func() {
		p := f.find(l)
		if o.Kill || !o.Keep {
			f.die(p, "signal 15", o.Keep)
		} else {
			p.look.Owner = tmux.LeftMark(o.Owner)
		}
	})
}

var _ Tmux = (*fakeTmux)(nil)
var _ Tmux = (*tmux.Server)(nil)

package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"theloop/record"
	"theloop/session/tmux"
)

// What the protocol promises, whatever happens between any two of its steps: no
// text twice in one life of a pane (I1), every comment delivered or given up (I2)
// within its budget (I3), one live session (I4), in thread order (I7), and a
// repeat says that it may be one (I11).
func TestProtocolUnderFaults(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		e := explore(t, rt)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			e.step()
			e.check(rt)
		}
		e.tmux.script, e.ledger.before, e.ledger.after, e.at, e.tmux.exit = map[string][]string{}, nil, nil, map[string]func(){}, nil
		for range 30 {
			e.land()
			e.tmux.silent = false
			e.clock.advance(time.Minute)
			e.cycle(context.Background())
		}
		e.check(rt)
		for _, row := range e.ledger.get(octoRef).Comments.All() {
			if row.State == record.Pending {
				rt.Fatalf("%s stays %s\n%s", row.ID, row.Phase(), strings.Join(e.story, "\n"))
			}
		}
	})
}

const maxAttempts = 3

type explorer struct {
	*world
	rt    *rapid.T
	story []string
	said  int
}

func explore(t *testing.T, rt *rapid.T) *explorer {
	e := &explorer{world: newWorld(t), rt: rt}
	e.ledger.t = rt
	if rapid.Bool().Draw(rt, "live at first") {
		e.live()
	}
	return e
}

func (e *explorer) note(format string, args ...any) {
	e.story = append(e.story, fmt.Sprintf(format, args...))
}

// step lets one thing happen.
func (e *explorer) step() {
	faults := map[string]func(){
		"say": func() {
			e.said++
			c := octoComment(fmt.Sprintf("IC_%d", e.said), "octocat", fmt.Sprintf("text-%d.", e.said))
			c.CreatedAt = noon.Add(time.Duration(e.said) * time.Second)
			e.ledger.put(octoRef, record.Hold{Note: record.NoteOf(c)})
		},
		"cycle":   func() { e.cycle(context.Background()) },
		"stop":    func() { ctx, stop := context.WithCancel(context.Background()); e.stopAt(stop); e.cycle(ctx); stop() },
		"restart": func() { e.host = e.newHost(fmt.Sprintf("run-%d", len(e.story))) },
		"kill":    func() { e.killAt() },
		"paste":   func() { e.fault("paste", "lost", "never", "late", "skip") },
		"spawn":   func() { e.fault("spawn", "lost", "never", "late", "skip") },
		"respawn": func() { e.fault("respawn", "lost", "never", "late", "skip") },
		"prove":   func() { e.fault("prove", "lost", "never", "skip") },
		"exit": func() {
			e.tmux.exit = append(e.tmux.exit, rapid.SampledFrom([]string{"exit 1", "gone 1"}).Draw(e.rt, "exit"))
		},
		"die":      func() { e.die(true) },
		"vanish":   func() { e.die(false) },
		"silence":  func() { e.tmux.silent = !e.tmux.silent },
		"go on":    func() { e.land() },
		"a second": func() { e.clock.advance(time.Second) },
		"a while":  func() { e.clock.advance(11 * time.Second) },
		"disk":     func() { e.disk() },
	}
	names := make([]string, 0, len(faults))
	for name := range faults {
		names = append(names, name)
	}
	slices.Sort(names)
	name := rapid.SampledFrom(append(names, "say", "cycle", "cycle", "cycle", "a while")).Draw(e.rt, "what")
	e.note("%s", name)
	faults[name]()
}

func (e *explorer) fault(call string, how ...string) {
	e.tmux.script[call] = append(e.tmux.script[call], rapid.SampledFrom(how).Draw(e.rt, "how"))
}

// land is the moment when a hung server goes on.
func (e *explorer) land() { e.tmux.goOn() }

func (e *explorer) die(keep bool) {
	for _, p := range e.tmux.panes {
		e.tmux.die(p, "exit 0", keep)
		return
	}
}

type death struct{}

func (e *explorer) killAt() {
	at := rapid.SampledFrom([]string{"started", "pasted", "proved", "outcome"}).Draw(e.rt, "at")
	e.at[at] = func() { panic(death{}) }
}

func (e *explorer) stopAt(stop func()) {
	e.at[rapid.SampledFrom([]string{"started", "pasted"}).Draw(e.rt, "cut at")] = stop
}

func (e *explorer) disk() {
	is := rapid.SampledFrom([]func(record.Change) bool{isStart, isDeliver}).Draw(e.rt, "commit")
	fail := once(is, func() error { return record.ErrUnknown })
	if rapid.Bool().Draw(e.rt, "applied") {
		e.ledger.after = fail
	} else {
		e.ledger.before = fail
	}
}

// cycle does for one item what the poller does: verdicts by the ring first, then
// the oldest comment's next attempt.
func (e *explorer) cycle(ctx context.Context) {
	rec := e.ledger.get(octoRef)
	pane := e.host.Look(context.Background(), octoRef, rec)
	for _, row := range rec.Comments.Pending() {
		proof := record.Judge(row.Delivery, pane, e.clock.Now())
		e.note("  %s %s: %s (pane %s)", row.ID, row.Phase(), proof, pane.State)
		switch proof {
		case record.Undecided:
			return
		case record.ProvedSent:
			e.ledger.put(octoRef, record.Deliver{Comment: row.ID})
			continue
		case record.ProvedUnsent:
			e.ledger.put(octoRef, record.Fail{Comment: row.ID})
		case record.Unproved:
			e.ledger.put(octoRef, record.Fail{Comment: row.ID, MayRepeat: true})
		}
		row = e.ledger.row(octoRef, row.ID)
		if !row.InHand() && row.Attempts >= maxAttempts {
			if pane.State == record.PaneUnknown {
				return
			}
			e.ledger.put(octoRef, record.GiveUp{Comment: row.ID, Version: "1"})
			continue
		}
		e.attempt(ctx, row.ID)
		return
	}
}

func (e *explorer) attempt(ctx context.Context, id string) {
	c := octoComment(id, "octocat", "text-"+strings.TrimPrefix(id, "IC_")+".")
	e.ledger.put(octoRef, record.Queue{Comment: id, DeliveryID: record.CommentDeliveryID(id), Run: e.host.Run})
	defer func() {
		if r := recover(); r != nil {
			if _, killed := r.(death); !killed {
				panic(r)
			}
			e.note("  killed")
			e.host = e.newHost(fmt.Sprintf("run-%d", len(e.story)))
		}
	}()
	result := e.host.Deliver(ctx, e.delivery(c))
	e.note("  %s: %s, now %s; calls %v", id, result, e.ledger.row(octoRef, id).Phase(), e.tmux.calls)
	e.tmux.calls = nil
}

// check holds the world against the promises.
func (e *explorer) check(rt *rapid.T) {
	rt.Helper()
	fail := func(format string, args ...any) {
		rt.Helper()
		rt.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(e.story, "\n"))
	}
	var live int
	var order []int
	for _, p := range append(slices.Clone(e.tmux.gone), e.tmux.panes...) {
		if p.look.State == tmux.Live && p.look.Owner == octoOwner {
			live++
		}
		for _, life := range append(slices.Clone(p.lives), p.told) {
			seen := map[int]bool{}
			for _, prompt := range life {
				n := number(prompt)
				if seen[n] {
					fail("I1: text %d came twice into one life", n)
				}
				seen[n] = true
				if len(order) > 0 && n == order[len(order)-1] && !strings.Contains(prompt, "may be a repeat") {
					fail("I11: text %d came again and does not say so", n)
				}
				if len(order) > 0 && n < order[len(order)-1] {
					fail("I7: text %d came after %d", n, order[len(order)-1])
				}
				order = append(order, n)
			}
		}
	}
	if live > 1 {
		fail("I4: %d live sessions", live)
	}
	for _, row := range e.ledger.get(octoRef).Comments.All() {
		if row.Attempts > maxAttempts {
			fail("I3: %d attempts on %s", row.Attempts, row.ID)
		}
		if row.State == record.Delivered && !slices.Contains(order, numberOf(row.ID)) {
			fail("I2: %s is delivered and nobody was told", row.ID)
		}
	}
}

func number(prompt string) int {
	_, after, _ := strings.Cut(prompt, "text-")
	n, _, _ := strings.Cut(after, ".")
	return numberOf("IC_" + n)
}

func numberOf(id string) int {
	var n int
	_, _ = fmt.Sscanf(id, "IC_%d", &n)
	return n
}

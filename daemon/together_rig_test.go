package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"theloop/localapi"
	"theloop/record"
	"theloop/workitem"
)

const togetherItems = 5

// together is a world with a history for each item.
type together struct {
	*world
	seed uint64
	mu   sync.Mutex
	said [togetherItems + 1][]string // ids of comments, in the thread's order
	// last is the last command that was answered, "" when it is not known.
	last      [togetherItems + 1]string
	forgotten [togetherItems + 1]bool
}

func newTogether(t *testing.T) *together {
	t.Helper()
	g := &together{world: newWorld(t), seed: uint64(time.Now().UnixNano())}
	if seed, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		g.seed = seed
	}
	t.Logf("replay with SEED=%d", g.seed)
	g.configure("octocat", "", "  maxSessions: 100\n  announce: {enabled: false}\n  reactions: {enabled: false}")
	for n := 1; n <= togetherItems; n++ {
		g.started(n)
		g.last[n] = "start"
	}
	return g
}

// operate is an operator's work on one item, one command after the other. The last
// item is never forgotten.
func (g *together) operate(n int) {
	rng := rand.New(rand.NewPCG(g.seed, uint64(n)))
	for range longForm(10) {
		switch word := []string{"pause", "resume", "start", "stop", "cleanup", "forget", "adopt"}[rng.IntN(7)]; word {
		case "forget":
			if n != togetherItems {
				g.forget(n)
			}
		case "adopt":
			_, _ = g.client().Adopt(g.t.Context(), ref(n)) // there may be nothing to take over
		default:
			g.order(n, word)
		}
	}
}

func (g *together) order(n int, word string) {
	done, err := g.client().Order(g.t.Context(), localapi.Order{Ref: ref(n), Command: word})
	for err != nil && strings.Contains(err.Error(), record.ErrChanged.Error()) { // not recorded, and said so: given again
		done, err = g.client().Order(g.t.Context(), localapi.Order{Ref: ref(n), Command: word})
	}
	switch {
	case err == nil && done.Effect != "":
		g.last[n] = word
	case err == nil:
		g.t.Errorf("%s on item %d had no effect: %+v", word, n, done)
	case !strings.Contains(err.Error(), " is refused: "):
		g.t.Errorf("%s on item %d: %v", word, n, err)
	}
}

func (g *together) forget(n int) {
	_, err := g.client().Forget(g.t.Context(), localapi.Forget{Refs: []workitem.Ref{ref(n)}})
	var unknown *localapi.UnknownError
	switch {
	case err == nil:
		g.last[n], g.forgotten[n] = "", true
	case errors.As(err, &unknown), strings.Contains(err.Error(), "; nothing was forgotten"):
	default:
		g.t.Errorf("forget item %d: %v", n, err)
	}
}

// people say things on all items until they are stopped.
func (g *together) people(ctx context.Context) {
	k := 0
	g.often(ctx, func() bool {
		k++
		n := 1 + k%togetherItems
		id := time.Date(2026, 1, 2, n, 0, k, 0, time.UTC).Format("20060102T150405Z") + "-octocat.md"
		g.write(fmt.Sprintf("inbox/%d/comments/%s", n, id), "something to do\n")
		g.mu.Lock()
		g.said[n] = append(g.said[n], id)
		g.mu.Unlock()
		return true
	})
}

// often does something again and again, and leaves a busy machine to the others in
// between.
func (g *together) often(ctx context.Context, do func() bool) {
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if !do() {
				return
			}
		}
	}
}

func (g *together) cycles(ctx context.Context) {
	for ctx.Err() == nil {
		done, err := g.client().Kick(g.t.Context())
		busy := func(problem string) bool { return strings.Contains(problem, record.ErrChanged.Error()) } // the next cycle's
		if problems := slices.DeleteFunc(done.Problems, busy); err != nil || len(problems) > 0 {
			g.t.Errorf("a cycle: %v %q", err, problems)
			return
		}
	}
}

// readers ask what nothing is changed by.
func (g *together) readers() []func(context.Context) error {
	c, n := g.client(), atomic.Int32{}
	return []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := c.Item(ctx, ref(1+int(n.Add(1))%togetherItems))
			var unknown *localapi.UnknownError
			if errors.As(err, &unknown) {
				return nil // forgotten a moment ago
			}
			return err
		},
		func(ctx context.Context) error {
			_, err := c.Cycles(ctx, 10)
			return errors.Join(err, c.Items(ctx, func(localapi.Summary) error { return nil }))
		},
		func(ctx context.Context) error {
			faults, err := c.Check(ctx)
			if len(faults) > 0 {
				return fmt.Errorf("the ledger has faults: %q", faults)
			}
			return errors.Join(err, c.Backup(ctx, io.Discard))
		},
		func(ctx context.Context) error { _, err := c.Plan(ctx); return err },
	}
}

// settled runs clean cycles until nothing is pending.
func (g *together) settled() {
	g.t.Helper()
	g.until("nothing is pending", func() bool {
		g.once()
		for n := 1; n <= togetherItems; n++ {
			if rec := g.record(n); len(rec.Comments.Pending()) > 0 {
				return false
			}
		}
		return true
	})
}

// longForm is how many rounds a test makes: SOAK's when it is set.
func longForm(short int) int {
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 0 {
		return n
	}
	return short
}

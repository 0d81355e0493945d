package daemon

import (
	"context"
	"log/slog"
	"time"

	"theloop/record"
)

const (
	// kept is how long tombstones of ended items and rows of closed sessions stay
	// (P8).
	kept = 90 * 24 * time.Hour
	// sweepEach is how often the buffers of killed tmux clients are looked for: it
	// costs a process.
	sweepEach = time.Minute
)

// chores are what is done now and then, between two cycles.
type chores struct {
	sweep  func(context.Context) error
	expire func(ctx context.Context, before time.Time) (int, error)
	log    *slog.Logger

	swept time.Time
	// day is the one that rows were last expired on.
	day string
}

// newChores takes up what the last cycle of the ledger, if it has any, left: rows
// are expired behind the first cycle of a day, whether the poller runs all the
// time or from cron.
func newChores(last []record.Cycle, now time.Time) chores {
	if len(last) == 0 { // nothing can be that old
		return chores{day: dayOf(now)}
	}
	return chores{day: dayOf(last[0].At)}
}

func dayOf(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// do does what is due.
func (c *chores) do(ctx context.Context, now time.Time) {
	if ctx.Err() != nil {
		return
	}
	if now.Sub(c.swept) >= sweepEach {
		c.swept = now
		if err := c.sweep(ctx); err != nil {
			c.log.Debug("buffers of killed clients stay for now", "error", err)
		}
	}
	today := dayOf(now)
	if today == c.day {
		return
	}
	c.day = today
	n, err := c.expire(ctx, now.Add(-kept)) // no transaction when there is nothing (F6)
	switch {
	case err != nil && ctx.Err() == nil:
		c.log.Warn("old rows stay until tomorrow", "error", err)
	case n > 0:
		c.log.Info("removed rows of what ended 90 days ago", "rows", n)
	}
}

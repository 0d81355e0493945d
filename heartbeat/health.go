package heartbeat

import (
	"fmt"
	"time"
)

// Health says in one word how the poller is doing, so that idle is never ambiguous (U6).
type Health string

const (
	// Quiet: the last cycle found nothing to do.
	Quiet Health = "quiet"
	// Working: the last cycle did something, or the first has not ended yet.
	Working Health = "working"
	// Throttled: a tracker asked to be left alone until the beat's Until.
	Throttled Health = "throttled"
	// Failing: the last cycle had errors.
	Failing Health = "failing"
	// Stalled: the poller has the lock and its last cycle is too long ago. Only a reader can find that, with Seen.
	Stalled Health = "stalled"
)

// staleAfter is how many intervals without a cycle mean that none will come by itself (U6).
const staleAfter = 3

// Grade is the health that a writer puts into its beat: failing over throttled over working over quiet (U6). last is nil
// before the first cycle has ended.
func Grade(last *Cycle, until, now time.Time) Health {
	switch {
	case last != nil && last.Errors > 0:
		return Failing
	case now.Before(until):
		return Throttled
	case last == nil || *last != Cycle{ItemsSeen: last.ItemsSeen}:
		return Working
	}
	return Quiet
}

// Seen is the health and its detail for a reader at now. held says whether a poller holds the run lock, which is when an old
// beat means that it stalled (U6); interval is the configured one and stands in where the beat has none.
func (b Beat) Seen(now time.Time, held bool, interval time.Duration) (Health, string) {
	if own := b.Interval(); own > 0 {
		interval = own
	}
	last, what := b.LastCycleAt.Time, "the last cycle ended"
	if last.IsZero() {
		last, what = b.StartedAt.Time, "the first cycle has not ended; the poller started"
	}
	age := now.Sub(last)
	switch {
	case !held || interval <= 0 || last.IsZero():
	case age > staleAfter*interval:
		return Stalled, fmt.Sprintf("%s %s ago, and the interval is %s", what, age.Round(time.Second), interval)
	case age < -interval:
		// Not fresh: by this clock it cannot be told when it was.
		return b.Health, fmt.Sprintf("the clock was moved: by it %s %s from now", what, (-age).Round(time.Second))
	}
	return b.Health, b.HealthDetail
}

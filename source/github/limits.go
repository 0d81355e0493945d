package github

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"theloop/workitem"
)

const (
	// quietMinute is the least that GitHub asks for after a limit that names no
	// time; it doubles with each further one.
	quietMinute = time.Minute
	// longestQuiet stops the doubling.
	longestQuiet = 16 * time.Minute
	// resetWindow is how long GitHub's own limit lasts; a reset much further
	// away is nonsense, and would silence us for good.
	resetWindow = time.Hour
	// longestRetryAfter bounds an explicit wish to be left alone.
	longestRetryAfter = 24 * time.Hour
	leastWait         = time.Second
)

// budget is what a request counts against. GitHub counts GraphQL apart from the
// rest, so that a budget used up there (by an agent's own tools, say) is no
// reason to stop reading items. The other way round it is: without REST nothing
// can be done.
type budget int

const (
	everything budget = iota
	queriesAlone
)

// limitKind is what the answer to a query says of limits.
type limitKind int

const (
	noLimit limitKind = iota
	// budgetLimit is GitHub's hourly budget for queries.
	budgetLimit
	// otherLimit is about how the token is used at all.
	otherLimit
)

// limiter remembers until when a tracker wants to be left alone. All sources
// with the same token share one, as they share the limit (P7).
type limiter struct {
	host string
	now  func() time.Time

	mu sync.Mutex
	// until is for everything, queriesUntil for GraphQL alone.
	until, queriesUntil quiet
	// strikes counts limits without a time since the last success.
	strikes int
}

// check returns a *workitem.RateLimitError while nothing may be asked that
// counts against a budget.
func (l *limiter) check(of budget) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if end := l.end(of); l.now().Before(end.until) {
		return l.failure(end)
	}
	return nil
}

// quiet is how long a tracker wants to be left alone, and for what.
type quiet struct {
	until time.Time
	kind  workitem.LimitKind
}

func (l *limiter) end(of budget) quiet {
	if of == queriesAlone && l.queriesUntil.until.After(l.until.until) {
		return l.queriesUntil
	}
	return l.until
}

func (l *limiter) failure(q quiet) error {
	return &workitem.RateLimitError{Host: l.host, Kind: q.kind, Until: q.until}
}

// observe learns from an answer, and returns a *workitem.RateLimitError when
// the answer is one. A success that used up the last request is still a
// success; the next request is not sent.
func (l *limiter) observe(of budget, resp *http.Response, body []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	succeeded := resp.StatusCode >= 200 && resp.StatusCode <= 299
	limit := noLimit
	if succeeded && of == queriesAlone {
		limit = queryLimit(body)
	}
	if succeeded && limit == noLimit {
		l.strikes = 0
		if wait, ok := usedUp(resp.Header, l.now()); ok {
			l.wait(of, wait, workitem.LimitPrimary)
		}
		return nil
	}
	if !succeeded && resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return nil
	}
	if !l.asked(of, limit, resp, body) {
		return nil
	}
	return l.failure(l.end(of))
}

// resume takes up what an earlier process was told. A time that no answer can
// have named is not believed.
func (l *limiter) resume(until time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if until.Sub(l.now()) <= longestRetryAfter && until.After(l.until.until) {
		l.until = quiet{until: until}
	}
}

func (l *limiter) wait(of budget, d time.Duration, kind workitem.LimitKind) {
	end := &l.until
	if of == queriesAlone {
		end = &l.queriesUntil
	}
	if until := l.now().Add(max(d, leastWait)); until.After(end.until) {
		*end = quiet{until, kind}
	}
}

// asked waits as long as a refusal wants us to, in GitHub's own order:
// Retry-After, the reset of a used-up budget, else a minute and growing. It
// returns false for a 403 that is about permission.
func (l *limiter) asked(of budget, limit limitKind, resp *http.Response, body []byte) bool {
	silent := everything
	if limit == budgetLimit {
		silent = of
	}
	if wait, ok := retryAfter(resp.Header, l.now()); ok {
		l.wait(silent, wait, kindOf(resp.Header, limit))
		return true
	}
	if wait, ok := usedUp(resp.Header, l.now()); ok {
		l.wait(of, wait, workitem.LimitPrimary)
		return true
	}
	// A query can cost more than is left, so that something can be left.
	if wait, ok := untilReset(resp.Header, l.now()); ok && limit == budgetLimit {
		l.wait(of, wait, workitem.LimitPrimary)
		return true
	}
	if resp.StatusCode == http.StatusForbidden && !saysRateLimit(body) {
		return false
	}
	l.wait(silent, min(quietMinute<<min(l.strikes, 10), longestQuiet), workitem.LimitSecondary)
	l.strikes++
	return true
}

// kindOf tells a budget that is used up from a limit on how it is used.
func kindOf(h http.Header, limit limitKind) workitem.LimitKind {
	if limit == budgetLimit || h.Get("X-RateLimit-Remaining") == "0" {
		return workitem.LimitPrimary
	}
	return workitem.LimitSecondary
}

// retryAfter reads both forms of the header. A date is taken by the server's
// own clock.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	value := strings.TrimSpace(h.Get("Retry-After"))
	if seconds, err := strconv.ParseInt(value, 10, 32); err == nil && seconds >= 0 {
		return min(time.Duration(seconds)*time.Second, longestRetryAfter), true
	}
	at, err := http.ParseTime(value)
	if err != nil {
		return 0, false
	}
	return min(at.Sub(serverTime(h, now)), longestRetryAfter), true
}

// usedUp returns how long a limit lasts of which nothing is left.
func usedUp(h http.Header, now time.Time) (time.Duration, bool) {
	if h.Get("X-RateLimit-Remaining") != "0" {
		return 0, false
	}
	return untilReset(h, now)
}

// untilReset returns how long the hour of a limit still lasts, by the server's
// clock.
func untilReset(h http.Header, now time.Time) (time.Duration, bool) {
	seconds, err := strconv.ParseInt(h.Get("X-RateLimit-Reset"), 10, 64)
	if err != nil {
		return 0, false
	}
	return min(time.Unix(seconds, 0).Sub(serverTime(h, now)), resetWindow), true
}

// serverTime is when the server says it answered, or our own time.
func serverTime(h http.Header, now time.Time) time.Time {
	if date, err := http.ParseTime(h.Get("Date")); err == nil {
		return date
	}
	return now
}

// saysRateLimit tells a limit from a missing permission: both are a 403.
func saysRateLimit(body []byte) bool {
	var answer struct {
		Message string `json:"message"`
		Docs    string `json:"documentation_url"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return false
	}
	return strings.Contains(strings.ToLower(answer.Message), "rate limit") ||
		strings.HasSuffix(answer.Docs, "secondary-rate-limits") ||
		strings.HasSuffix(answer.Docs, "#abuse-rate-limits")
}

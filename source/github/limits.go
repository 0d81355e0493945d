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

// limiter remembers until when a tracker wants to be left alone. All sources
// with the same token share one, as they share the limit (P7).
type limiter struct {
	host string
	now  func() time.Time

	mu    sync.Mutex
	until time.Time
	// strikes counts limits without a time since the last success.
	strikes int
}

// check returns a *workitem.RateLimitError while nothing may be asked.
func (l *limiter) check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.now().Before(l.until) {
		return &workitem.RateLimitError{Host: l.host, Until: l.until}
	}
	return nil
}

// observe learns from an answer, and returns a *workitem.RateLimitError when
// the answer is one. A success that used up the last request is still a
// success; the next request is not sent.
func (l *limiter) observe(resp *http.Response, body []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if resp.StatusCode >= 200 && resp.StatusCode <= 299 {
		l.strikes = 0
		if wait, ok := untilReset(resp.Header, l.now()); ok {
			l.wait(wait)
		}
		return nil
	}
	if resp.StatusCode != http.StatusForbidden && resp.StatusCode != http.StatusTooManyRequests {
		return nil
	}
	wait, ok := l.asked(resp, body)
	if !ok {
		return nil
	}
	l.wait(wait)
	return &workitem.RateLimitError{Host: l.host, Until: l.until}
}

func (l *limiter) wait(d time.Duration) {
	if until := l.now().Add(max(d, leastWait)); until.After(l.until) {
		l.until = until
	}
}

// asked returns how long a 403 or 429 wants us to wait, in GitHub's own order:
// Retry-After, the reset of a used-up limit, else a minute and growing. It
// returns false for a 403 that is about permission.
func (l *limiter) asked(resp *http.Response, body []byte) (time.Duration, bool) {
	if wait, ok := retryAfter(resp.Header, l.now()); ok {
		return wait, true
	}
	if wait, ok := untilReset(resp.Header, l.now()); ok {
		return wait, true
	}
	if resp.StatusCode == http.StatusForbidden && !saysRateLimit(body) {
		return 0, false
	}
	wait := min(quietMinute<<min(l.strikes, 10), longestQuiet)
	l.strikes++
	return wait, true
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

// untilReset returns how long a used-up limit lasts, by the server's clock.
func untilReset(h http.Header, now time.Time) (time.Duration, bool) {
	if h.Get("X-RateLimit-Remaining") != "0" {
		return 0, false
	}
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

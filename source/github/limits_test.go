package github

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

// clock is a clock that a test turns.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) turn(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// P7: how long each kind of limit lasts, and what is no limit. The server's
// clock is an hour off, as clocks are.
func TestRateLimits(t *testing.T) {
	ours := time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)
	theirs := ours.Add(time.Hour)
	stamp := func(d time.Duration) string { return strconv.FormatInt(theirs.Add(d).Unix(), 10) }
	date := []string{"Date", theirs.Format(http.TimeFormat)}
	const secondary = "You have exceeded a secondary rate limit."
	tests := []struct {
		name    string
		status  int
		message string
		headers []string
		wait    time.Duration
	}{
		{"Retry-After in seconds", 429, "", []string{"Retry-After", "30"}, 30 * time.Second},
		{"Retry-After as a date", 403, "", []string{"Retry-After", theirs.Add(90 * time.Second).Format(http.TimeFormat)}, 90 * time.Second},
		{"Retry-After before a reset", 403, "", []string{"Retry-After", "30", "X-RateLimit-Remaining", "0", "X-RateLimit-Reset", stamp(time.Minute)}, 30 * time.Second},
		{"Retry-After in the past", 429, "", []string{"Retry-After", theirs.Add(-time.Hour).Format(http.TimeFormat)}, time.Second},
		{"used up until the reset", 403, "API rate limit exceeded", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", stamp(20 * time.Minute)}, 20 * time.Minute},
		{"a reset that is nonsense", 403, "", []string{"X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1507651200000"}, time.Hour},
		{"secondary without a time", 403, secondary, nil, time.Minute},
		{"429 without a time", 429, "", nil, time.Minute},
		{"Retry-After that is nonsense", 429, "", []string{"Retry-After", "soon"}, time.Minute},
		{"a missing permission", 403, "Resource not accessible by integration", []string{"X-RateLimit-Remaining", "4000"}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, githubtest.Options{})
			at := &clock{at: ours}
			c := w.client(t, Options{Now: at.now})
			s := repo(t, c)
			undo := w.Inject(githubtest.Fault{Instead: githubtest.RateLimited(tt.status, tt.message, append(tt.headers, date...)...)})
			_, err := s.List(t.Context())
			undo()
			var limited *workitem.RateLimitError
			if errors.As(err, &limited) != (tt.wait > 0) {
				t.Fatalf("error %v", err)
			}
			if tt.wait == 0 {
				return
			}
			if got := limited.Until.Sub(ours); got != tt.wait {
				t.Errorf("waits %s, want %s", got, tt.wait)
			}
			kind := workitem.LimitSecondary
			if slices.Contains(tt.headers, "X-RateLimit-Remaining") {
				kind = workitem.LimitPrimary
			}
			if limited.Kind != kind {
				t.Errorf("kind %q, want %q", limited.Kind, kind)
			}
			obeyed(t, w, s, at, tt.wait)
		})
	}
}

// obeyed proves that nothing is sent, by anybody with that token, until then.
func obeyed(t *testing.T, w world, s *Source, at *clock, wait time.Duration) {
	t.Helper()
	w.ForgetRequests()
	at.turn(wait - time.Second/2)
	var limited *workitem.RateLimitError
	for name, err := range each(t.Context(), s) {
		if !errors.As(err, &limited) {
			t.Errorf("%s before its time: %v", name, err)
		}
	}
	if sent := w.Requests(); len(sent) != 0 {
		t.Errorf("sent %v before its time", sent)
	}
	at.turn(time.Second)
	if _, err := s.List(t.Context()); err != nil {
		t.Errorf("after its time: %v", err)
	}
}

// P7: limits without a time double, to a bound, and begin anew after a success.
func TestRateLimitGrows(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	at := &clock{at: time.Now()}
	s := repo(t, w.client(t, Options{Now: at.now}))
	undo := w.Inject(githubtest.Fault{Instead: githubtest.RateLimited(403, "secondary rate limit")})
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 16} {
		_, err := s.List(t.Context())
		var limited *workitem.RateLimitError
		if !errors.As(err, &limited) || limited.Until.Sub(at.now()) != want*time.Minute {
			t.Errorf("%v, want %d minutes", err, want)
		}
		at.turn(want * time.Minute)
	}
	undo()
	listed(t, s)
	w.Inject(githubtest.Fault{Instead: githubtest.RateLimited(403, "secondary rate limit")})
	var limited *workitem.RateLimitError
	if _, err := s.List(t.Context()); !errors.As(err, &limited) || limited.Until.Sub(at.now()) != time.Minute {
		t.Errorf("after a success: %v", err)
	}
}

// P7: the answer that uses up the limit is still an answer; nothing follows it.
func TestLastRequest(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "an item", "octocat", true)
	at := &clock{at: time.Now()}
	s := repo(t, w.client(t, Options{Now: at.now}))
	w.Inject(githubtest.Fault{Nth: 1, Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
		real.Header.Set("X-RateLimit-Remaining", "0")
		githubtest.Change("", "")(rw, r, real)
	}})
	if len(listed(t, s).Items) != 1 {
		t.Error("the answer was lost")
	}
	var limited *workitem.RateLimitError
	if _, err := s.List(t.Context()); !errors.As(err, &limited) {
		t.Errorf("error %v", err)
	}
	if len(w.Requests()) != 1 {
		t.Errorf("requests %v", w.Requests())
	}
}

// P7: what an earlier process was told holds for this one, for whatever it would
// send, unless no server can have said it.
func TestAnEarlierLimitIsObeyed(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	at := &clock{at: time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)}
	c := w.client(t, Options{Now: at.now})
	c.LeaveAlone(time.Time{})
	c.LeaveAlone(at.now().Add(48 * time.Hour))
	s := repo(t, c)
	listed(t, s)
	c.LeaveAlone(at.now().Add(time.Hour))
	obeyed(t, w, s, at, time.Hour)
}

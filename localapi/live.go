package localapi

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"theloop/record"
)

// What concerns the poller that runs: its status, a cycle at once, the cycles so
// far.

// Cycle is what one cycle did.
type Cycle struct {
	At                Time  `json:"at"`
	DurationMS        int64 `json:"durationMs"`
	ItemsSeen         int   `json:"itemsSeen"`
	Spawns            int   `json:"spawns"`
	CommentsForwarded int   `json:"commentsForwarded"`
	Closures          int   `json:"closures"`
	Failures          int   `json:"failures"`
	Errors            int   `json:"errors"`
	Interrupted       bool  `json:"interrupted"`
}

// CycleOf makes the document of a cycle's row.
func CycleOf(c record.Cycle) Cycle {
	return Cycle{
		At: Time{c.At}, DurationMS: c.DurationMS, ItemsSeen: c.ItemsSeen, Spawns: c.Spawns,
		CommentsForwarded: c.CommentsForwarded, Closures: c.Closures, Failures: c.Failures,
		Errors: c.Errors, Interrupted: c.Interrupted,
	}
}

// Kicked is the cycle that a kick asked for. Problems has a line for each of its
// errors, and for each source that it left alone because of a limit (P7).
type Kicked struct {
	Cycle
	Problems []string `json:"problems"`
}

// Status is what the poller says about itself. Whether it runs at all, and how
// it goes when it does not answer, is for the lock and the heartbeat to say.
type Status struct {
	PID       int    `json:"pid"`
	Version   string `json:"version"`
	StartedAt Time   `json:"startedAt"`
	// Busy says that a cycle is under way; NextCycleAt is when the next one
	// begins, null while one is.
	Busy        bool `json:"busy"`
	NextCycleAt Time `json:"nextCycleAt"`
}

// most is how many cycles are answered at once: all that the ledger keeps.
const most = 1440

type cycleList struct {
	Cycles []Cycle `json:"cycles"`
}

// ErrNotRunning is returned when what was asked needs a poller that runs.
var ErrNotRunning = errors.New("no poller is running")

// Cycles returns the last n cycles, the newest first; all that are kept when n
// is not positive.
func (l Local) Cycles(ctx context.Context, n int) ([]Cycle, error) {
	rows, err := l.Ledger.Cycles(ctx, n)
	if err != nil && len(rows) == 0 { // rows that do not decode are for `ledger check`
		return nil, err
	}
	out := make([]Cycle, len(rows))
	for i, row := range rows {
		out[i] = CycleOf(row)
	}
	return out, nil
}

func status(w http.ResponseWriter, _ *http.Request, local Local) {
	if local.Status == nil {
		answer(w, nil, ErrNotRunning)
		return
	}
	answer(w, local.Status(), nil)
}

func kick(w http.ResponseWriter, r *http.Request, local Local) {
	if local.Kick == nil {
		answer(w, nil, ErrNotRunning)
		return
	}
	patient(w)
	done, err := local.Kick(r.Context())
	answer(w, done, err)
}

func cycles(w http.ResponseWriter, r *http.Request, local Local) {
	n := most
	if text := r.URL.Query().Get("n"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil || n < 1 {
			refuse(w, http.StatusBadRequest, problem{Message: "n is how many cycles: a number from 1, not " + strconv.Quote(text)})
			return
		}
	}
	rows, err := local.Cycles(r.Context(), min(n, most))
	answer(w, cycleList{rows}, err)
}

// patient gives a request that may take long its time, in both directions: the
// server reads along to notice a client that went away.
func patient(w http.ResponseWriter) {
	c, until := http.NewResponseController(w), time.Now().Add(slowest)
	_ = c.SetReadDeadline(until)
	_ = c.SetWriteDeadline(until)
}

// Status asks the poller about itself.
func (c *Client) Status(ctx context.Context) (Status, error) {
	var s Status
	err := c.document(ctx, http.MethodGet, "/v1/status", nil, &s)
	return s, err
}

// Kick asks for a cycle at once and returns what it did. It waits for the one
// that is under way, which may have passed what it is for.
func (c *Client) Kick(ctx context.Context) (Kicked, error) {
	var k Kicked
	err := c.document(ctx, http.MethodPost, "/v1/kick", nil, &k)
	return k, err
}

// Cycles returns the last n cycles, the newest first; all that are kept when n
// is not positive.
func (c *Client) Cycles(ctx context.Context, n int) ([]Cycle, error) {
	path := "/v1/cycles"
	if n > 0 {
		path += "?n=" + strconv.Itoa(n)
	}
	var rows cycleList
	err := c.document(ctx, http.MethodGet, path, nil, &rows)
	return rows.Cycles, err
}

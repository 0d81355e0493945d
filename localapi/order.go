package localapi

import (
	"context"
	"errors"
	"net/http"
	"time"

	"theloop/workitem"
)

// trackerTime bounds what asks a tracker before it answers.
const trackerTime = 2 * time.Minute

// Order is a command of the operator (X4, source cli).
type Order struct {
	Ref workitem.Ref `json:"ref"`
	// Command is start, stop, pause, resume or cleanup.
	Command string `json:"command"`
	// Post says that it is also said on the item, marked.
	Post bool `json:"post"`
}

// Ordered is what became of it.
type Ordered struct {
	Ref    string `json:"ref"`
	Effect string `json:"effect"`
	// Later says why what it brings up waits for the next cycle; empty otherwise.
	Later string `json:"later"`
	// PostError says why it could not be said on the item.
	PostError string `json:"postError"`
}

// Plan is what the next cycle would do.
type Plan struct {
	Items    []PlanItem `json:"items"`
	Quiet    int        `json:"quiet"`
	Commits  int        `json:"commits"`
	Requests int        `json:"requests"`
	Errors   []string   `json:"errors"`
}

// PlanItem is what would be done about one item.
type PlanItem struct {
	Ref   string     `json:"ref"`
	Title string     `json:"title"`
	Steps []PlanStep `json:"steps"`
}

// PlanStep is one thing that would be done, and why.
type PlanStep struct {
	Kind    string `json:"kind"`
	Comment string `json:"comment"`
	Actor   string `json:"actor"`
	Reason  string `json:"reason"`
	Attempt int    `json:"attempt"`
}

// Order carries out a command of the operator.
func (l Local) Order(ctx context.Context, o Order) (Ordered, error) {
	if l.Commander == nil {
		return Ordered{}, errors.New("nothing can be ordered with a ledger that is open for reading")
	}
	return l.Commander(ctx, o)
}

// Plan says what the next cycle would do.
func (l Local) Plan(ctx context.Context) (Plan, error) {
	if l.Planner == nil {
		return Plan{}, errors.New("nothing can be planned without the sources")
	}
	return l.Planner(ctx)
}

func order(w http.ResponseWriter, r *http.Request, local Local) {
	carryOut(w, r, "command", local.Order)
}

func plan(w http.ResponseWriter, r *http.Request, local Local) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(slowest))
	ctx, cancel := context.WithTimeout(r.Context(), slowest)
	defer cancel()
	done, err := local.Plan(ctx)
	answer(w, done, err)
}

// Order carries out a command of the operator.
func (c *Client) Order(ctx context.Context, o Order) (done Ordered, err error) {
	err = c.send(ctx, "/v1/command", o, &done)
	return done, err
}

// Plan says what the next cycle would do.
func (c *Client) Plan(ctx context.Context) (Plan, error) {
	var done Plan
	err := c.document(ctx, http.MethodGet, "/v1/plan", nil, &done)
	return done, err
}

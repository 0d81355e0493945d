package localapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// What a person writes into the ledger by hand: whose session a pull request
// belongs to, which conversation an item has (P3).

// Link says that what is said on a pull request goes into the session of an item.
type Link struct {
	Ref  workitem.Ref `json:"ref"`
	Pull workitem.Ref `json:"pull"`
}

// Linked is what became of it.
type Linked struct {
	Ref  string `json:"ref"`
	Pull string `json:"pull"`
	// Already says that it was so before.
	Already bool `json:"already"`
}

// Registration says that a conversation is the session of an item.
type Registration struct {
	Ref              workitem.Ref `json:"ref"`
	Harness          string       `json:"harness"`
	HarnessSessionID string       `json:"harnessSessionId"`
	// Cwd is the absolute path of the folder that it runs in, or empty.
	Cwd string `json:"cwd"`
	// TmuxTarget is the tmux session that it lives in, or empty.
	TmuxTarget string `json:"tmuxTarget"`
}

// Registered is what became of it. Live says that it was found alive.
type Registered struct {
	Ref  string `json:"ref"`
	Live bool   `json:"live"`
}

// Check says what has a form that cannot be (A5, D8).
func (r Registration) Check() error {
	switch {
	case !record.IsHarness(r.Harness):
		return fmt.Errorf("harness %q: give the name of one, like claude", r.Harness)
	case !record.IsConversation(r.HarnessSessionID):
		return fmt.Errorf("session id %q: give the id of the conversation, a UUID like 1b4e28ba-2fa1-41d2-883f-0016d3cca427", r.HarnessSessionID)
	case r.Cwd != "" && !record.IsFolder(r.Cwd):
		return fmt.Errorf("folder %q: give an absolute path without control characters", r.Cwd)
	case r.TmuxTarget != "" && !record.IsTmuxName(r.TmuxTarget):
		return fmt.Errorf("tmux target %q: give the name of a tmux session: letters, digits, _ and -", r.TmuxTarget)
	}
	return nil
}

// Link records whose session takes what is said on a pull request (P3). The item
// must be in the ledger.
func (l Local) Link(ctx context.Context, to Link) (Linked, error) {
	if l.Linker == nil {
		return Linked{}, errors.New("nothing can be linked with a ledger that is open for reading")
	}
	if _, err := l.Item(ctx, to.Ref); err != nil {
		return Linked{}, err
	}
	return l.Linker(ctx, to)
}

// Register makes a conversation the session of an item.
func (l Local) Register(ctx context.Context, r Registration) (Registered, error) {
	if l.Registrar == nil {
		return Registered{}, errors.New("nothing can be registered with a ledger that is open for reading")
	}
	if err := r.Check(); err != nil {
		return Registered{}, err
	}
	return l.Registrar(ctx, r)
}

func link(w http.ResponseWriter, r *http.Request, local Local) {
	carryOut(w, r, "link", local.Link)
}

func register(w http.ResponseWriter, r *http.Request, local Local) {
	carryOut(w, r, "registration", local.Register)
}

// carryOut reads what is to be done, does it within trackerTime, and answers.
func carryOut[In, Out any](w http.ResponseWriter, r *http.Request, what string, do func(context.Context, In) (Out, error)) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(trackerTime))
	var in In
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxHeader)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, problem{Message: "read the " + what + ": " + err.Error()})
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), trackerTime)
	defer cancel()
	done, err := do(ctx, in)
	answer(w, done, err)
}

// Link records whose session takes what is said on a pull request.
func (c *Client) Link(ctx context.Context, to Link) (done Linked, err error) {
	err = c.send(ctx, "/v1/link", to, &done)
	return done, err
}

// Register makes a conversation the session of an item.
func (c *Client) Register(ctx context.Context, r Registration) (done Registered, err error) {
	err = c.send(ctx, "/v1/register", r, &done)
	return done, err
}

func (c *Client) send(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	return c.document(ctx, http.MethodPost, path, bytes.NewReader(body), out)
}

package localapi

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"theloop/workitem"
)

// adoptTime bounds an adoption: it waits for its turn in the session's queue.
const adoptTime = 30 * time.Second

// Adopted is the tmux session that was taken over for an item.
type Adopted struct {
	Ref        string `json:"ref"`
	TmuxTarget string `json:"tmuxTarget"`
}

// Adopt takes over the tmux session that has the name of an item's, on the word
// of the operator (D5).
func (l Local) Adopt(ctx context.Context, ref workitem.Ref) (Adopted, error) {
	if l.Adopter == nil {
		return Adopted{}, errors.New("no session can be taken over with a ledger that is open for reading")
	}
	if _, err := l.Item(ctx, ref); err != nil {
		return Adopted{}, err
	}
	target, err := l.Adopter(ctx, ref)
	return Adopted{Ref: ref.String(), TmuxTarget: target}, err
}

func adopt(w http.ResponseWriter, r *http.Request, local Local) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(adoptTime))
	ref, err := workitem.ParseRef(r.URL.Query().Get("ref"))
	if err != nil {
		refuse(w, http.StatusBadRequest, problem{Message: err.Error()})
		return
	}
	done, err := local.Adopt(r.Context(), ref)
	answer(w, done, err)
}

// Adopt takes over the tmux session that has the name of an item's.
func (c *Client) Adopt(ctx context.Context, ref workitem.Ref) (Adopted, error) {
	var done Adopted
	err := c.document(ctx, http.MethodPost, "/v1/adopt?ref="+url.QueryEscape(ref.String()), nil, &done)
	return done, err
}

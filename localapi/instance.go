package localapi

import (
	"context"
	"net/http"
)

type instanceDoc struct {
	Instance string `json:"instance"`
}

// Marks returns the id of the ledger with which its sessions are marked: another
// state root on the same tmux server may have some of the same items (D6).
func (l Local) Marks(context.Context) (instance string, err error) { return l.Instance, nil }

func instance(w http.ResponseWriter, _ *http.Request, local Local) {
	answer(w, instanceDoc{local.Instance}, nil)
}

// Marks returns the id of the ledger with which its sessions are marked.
func (c *Client) Marks(ctx context.Context) (instance string, err error) {
	var doc instanceDoc
	err = c.document(ctx, http.MethodGet, "/v1/instance", nil, &doc)
	return doc.Instance, err
}

package localapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"

	"theloop/workitem"
)

// maxAnswer bounds one document: an item with 5 000 comments is about 2 MiB.
const maxAnswer = 16 << 20

// Client asks the poller of a state root.
type Client struct {
	http *http.Client
	root string
}

// NewClient returns a client for the socket of a state root. Nothing is
// connected before the first question, and no question is waited for longer than
// ten minutes and a little.
func NewClient(root string) *Client {
	return &Client{root: root, http: &http.Client{Timeout: slowest + requestTime, Transport: &http.Transport{
		DialContext:       func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, root) },
		DisableKeepAlives: true, ReadBufferSize: streamed,
	}}}
}

// ErrNoAnswer is returned when nobody answers on the socket.
var ErrNoAnswer = errors.New("the poller does not answer")

// Item returns the document of one work item, or an *UnknownError.
func (c *Client) Item(ctx context.Context, ref workitem.Ref) (Item, error) {
	body, err := c.get(ctx, "/v1/item?ref="+url.QueryEscape(ref.String()))
	if err != nil {
		return Item{}, err
	}
	defer body.Close()
	var doc Item
	if err := json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(&doc); err != nil {
		return Item{}, fmt.Errorf("read the poller's answer about %s: %w", ref, err)
	}
	return doc, nil
}

// Items calls f with the summary of each work item, in key order. A stream that
// was cut is an error.
func (c *Client) Items(ctx context.Context, f func(Summary) error) error {
	body, err := c.get(ctx, "/v1/items")
	if err != nil {
		return err
	}
	defer body.Close()
	dec := json.NewDecoder(body)
	for {
		var l line
		switch err := dec.Decode(&l); {
		case err != nil:
			return fmt.Errorf("read the poller's list: %w", err)
		case l.Error != "":
			return errors.New(l.Error)
		case l.End:
			return nil
		case l.Item == nil:
			continue
		}
		if err := f(*l.Item); err != nil {
			return err
		}
	}
}

func (c *Client) get(ctx context.Context, path string) (io.ReadCloser, error) {
	resp, err := c.ask(ctx, http.MethodGet, path, nil)
	if err != nil {
		return nil, err
	}
	return resp.Body, nil
}

// ask returns an answer that is a 200, or what was answered instead as an error.
func (c *Client) ask(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://poller"+path, body)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	var other *PeerError
	if errors.As(err, &other) {
		return nil, other
	}
	if err != nil {
		return nil, fmt.Errorf("%w on %s: %w", ErrNoAnswer, SocketPath(c.root), err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	var p problem
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxHeader)).Decode(&p); err != nil {
		return nil, fmt.Errorf("the poller answered %s", resp.Status)
	}
	if p.Unknown != nil {
		return nil, p.Unknown
	}
	return nil, errors.New(p.Message)
}

package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	gogithub "github.com/google/go-github/v88/github"

	"theloop/workitem"
)

// Options say which server a Client talks to, and as whom.
type Options struct {
	// Host is the server as it stands in refs; empty means github.com.
	Host string
	// BaseURL is where its API answers; empty means https://api.github.com, or
	// https://HOST/api/v3 for another host (P6).
	BaseURL string
	// Token is put on every request. It is required; FindToken finds one.
	Token Token
	// Version is ours, for the User-Agent; empty means "dev".
	Version string
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Client talks to one server with one token. What its sources share are the
// connections, the rate limit and the account.
type Client struct {
	api       *gogithub.Client
	transport *transport
	host      string
	now       func() time.Time

	selfMu sync.Mutex
	self   workitem.Author
}

// NewClient returns a Client. No request is made. The caller closes it.
func NewClient(o Options) (*Client, error) {
	if o.Token.reveal() == "" {
		return nil, errors.New("a token is required to talk to " + nonEmpty(o.Host, publicHost))
	}
	host := o.Host
	if isPublic(host) {
		host = ""
	}
	base, err := parseBase(nonEmpty(o.BaseURL, defaultBase(host)))
	if err != nil {
		return nil, err
	}
	now := o.Now
	if now == nil {
		now = time.Now
	}
	t := newTransport(base, o.Token, "the-loop/"+nonEmpty(o.Version, "dev"), &limiter{host: base.Host, now: now})
	api, err := newAPI(base, t)
	if err != nil {
		return nil, err
	}
	return &Client{api: api, transport: t, host: host, now: now}, nil
}

// newAPI puts go-github on our transport. Its own limiter is switched off: it
// would answer in the tracker's name without asking.
func newAPI(base *url.URL, t *transport) (*gogithub.Client, error) {
	address := base.String()
	api, err := gogithub.NewClient(
		gogithub.WithHTTPClient(&http.Client{Transport: t, CheckRedirect: followRedirect(base)}),
		gogithub.WithURLs(&address, nil),
		gogithub.WithDisableRateLimitCheck(),
	)
	if err != nil {
		return nil, fmt.Errorf("set up the API of %s: %w", base.Host, err)
	}
	return api, nil
}

// Close closes idle connections. Requests that are running are cut by their
// own contexts.
func (c *Client) Close() { c.transport.close() }

// Requests returns how many requests were sent so far, redirects included.
func (c *Client) Requests() int { return int(c.transport.requests.Load()) }

// LeaveAlone sends nothing before a time that the server has named to an earlier
// client (P7).
func (c *Client) LeaveAlone(until time.Time) { c.transport.limits.resume(until) }

// Self returns the token's own account. It asks once; a failure is not kept.
func (c *Client) Self(ctx context.Context) (workitem.Author, error) {
	c.selfMu.Lock()
	known := c.self
	c.selfMu.Unlock()
	if !known.Nobody() {
		return known, nil
	}
	var user gogithub.User
	if _, err := c.call(ctx, http.MethodGet, "user", nil, &user); err != nil {
		return workitem.Author{}, fmt.Errorf("ask %s whose token it is: %w", c.transport.base.Host, err)
	}
	self := author(&user)
	if self.Nobody() {
		return workitem.Author{}, fmt.Errorf("ask %s whose token it is: the answer names no account", c.transport.base.Host)
	}
	c.selfMu.Lock()
	c.self = self
	c.selfMu.Unlock()
	return self, nil
}

// answer is what one request returned.
type answer struct {
	body   json.RawMessage
	header http.Header
	status int
}

// call sends one request. The path is relative to the base URL, or absolute
// within its origin. With out, the answer must be a JSON object and is decoded.
func (c *Client) call(ctx context.Context, method, path string, in, out any, opts ...gogithub.RequestOption) (answer, error) {
	req, err := c.api.NewRequest(ctx, method, path, in, opts...)
	if err != nil {
		return answer{}, fmt.Errorf("make a request of it: %w", bare(err))
	}
	var a answer
	resp, err := c.api.Do(req, &a.body)
	if resp != nil && resp.Response != nil {
		a.header, a.status = resp.Header, resp.StatusCode
	}
	if err != nil {
		return a, c.failure(a.status, err)
	}
	if out != nil {
		return a, decodeObject(a.body, out)
	}
	return a, nil
}

func decodeObject(raw json.RawMessage, out any) error {
	if !strings.HasPrefix(string(raw), "{") {
		return errors.New("the answer is not a JSON object")
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return fmt.Errorf("decode the answer: %w", err)
	}
	return nil
}

func nonEmpty(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

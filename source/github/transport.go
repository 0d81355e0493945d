package github

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// stallAfter is how long an answer may make no progress (P10): GitHub itself
	// ends what takes it ten seconds.
	stallAfter = 15 * time.Second
	// answerWithin bounds a whole answer: 16 MiB take two minutes on a slow
	// line, and a byte every fourteen seconds is an attack, not progress.
	answerWithin = 5 * time.Minute
	// maxHops is how many redirects are followed (P9).
	maxHops = 3

	dialTimeout = 10 * time.Second
	idleTimeout = 90 * time.Second
	// maxHeaderBytes is far above what any tracker sends.
	maxHeaderBytes = 1 << 20
)

// transport is the only way out of the program and the only place that puts a
// token on a request (P9). Every answer it returns has been read whole (P10).
type transport struct {
	base     *url.URL
	queries  *url.URL
	token    Token
	agent    string
	next     http.RoundTripper
	limits   *limiter
	stall    time.Duration
	within   time.Duration
	requests atomic.Int64
}

func newTransport(base *url.URL, token Token, agent string, limits *limiter) *transport {
	return &transport{
		base: base, queries: graphQL(base), token: token, agent: agent, limits: limits,
		next: newWire(base), stall: stallAfter, within: answerWithin,
	}
}

// newWire returns the connection pool. Loopback is reached directly; anything
// else may go through the proxy of the environment, which for https sees the
// host alone.
func newWire(base *url.URL) *http.Transport {
	dialer := &net.Dialer{Timeout: dialTimeout}
	wire := &http.Transport{
		DialContext:            dialer.DialContext,
		ForceAttemptHTTP2:      true,
		TLSHandshakeTimeout:    dialTimeout,
		IdleConnTimeout:        idleTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	if !isLoopback(base.Hostname()) {
		wire.Proxy = http.ProxyFromEnvironment
	}
	if base.Scheme == "http" {
		dialer.Control = onlyLoopback
	}
	return wire
}

// onlyLoopback refuses a connection in clear text that leaves this machine,
// whatever the resolver makes of "localhost" (P9).
func onlyLoopback(_, address string, _ syscall.RawConn) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil || !isLoopback(host) {
		return fmt.Errorf("plain http to %s: it is not loopback", address)
	}
	return nil
}

// RoundTrip sends one request, with the token, to the base URL's origin only,
// and reads its answer.
func (t *transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.Body != nil {
		defer req.Body.Close()
	}
	if !sameOrigin(t.base, req.URL) {
		return nil, foreign(req.URL)
	}
	kind := t.budgetOf(req.URL)
	if err := t.limits.check(kind); err != nil {
		return nil, err
	}
	watch := startWatch(req.Context(), t.stall, t.within)
	defer watch.stop()
	t.requests.Add(1)
	resp, err := t.next.RoundTrip(t.signed(req, watch))
	if err != nil {
		return nil, watch.explain(err)
	}
	watch.progress()
	if err := t.readWhole(resp, kind, watch); err != nil {
		return nil, err
	}
	return resp, nil
}

// budgetOf says which limit a request counts against.
func (t *transport) budgetOf(u *url.URL) budget {
	if u.Path == t.queries.Path {
		return queriesAlone
	}
	return everything
}

func (t *transport) signed(req *http.Request, watch *watch) *http.Request {
	out := req.Clone(watch.ctx)
	out.Header.Set("Authorization", "Bearer "+t.token.reveal())
	out.Header.Set("User-Agent", t.agent)
	// A referer would carry the address that redirected us.
	out.Header.Del("Referer")
	return out
}

// readWhole replaces the body of resp by what was read of it.
func (t *transport) readWhole(resp *http.Response, kind budget, watch *watch) error {
	body, err := readBody(resp, watch)
	if err != nil {
		return err
	}
	if err := t.limits.observe(kind, resp, body); err != nil {
		return err
	}
	if err := checkAnswer(resp, body); err != nil {
		return err
	}
	resp.Body = io.NopCloser(bytes.NewReader(body))
	resp.ContentLength = int64(len(body))
	return nil
}

func (t *transport) close() {
	if idle, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		idle.CloseIdleConnections()
	}
}

// followRedirect decides on one more hop: of reads alone, three at most (P9).
// Go would turn a redirected POST into a GET. That a hop stays within the
// origin is RoundTrip's to see to, as of any other request.
func followRedirect(base *url.URL) func(*http.Request, []*http.Request) error {
	return func(_ *http.Request, via []*http.Request) error {
		switch {
		case via[0].Method != http.MethodGet && via[0].Method != http.MethodHead:
			return fmt.Errorf("%s redirects a %s, which is not followed", base.Host, via[0].Method)
		case len(via) > maxHops:
			return fmt.Errorf("%s redirects more than %d times", base.Host, maxHops)
		}
		return nil
	}
}

// foreign names the host that a request would have gone to, and nothing else of
// its address: the rest is somebody else's text.
func foreign(u *url.URL) error {
	if u.User != nil {
		return errors.New("refused an address that carries a user or password")
	}
	return fmt.Errorf("refused to send a request to %q over %q: it is not the configured server", u.Host, u.Scheme)
}

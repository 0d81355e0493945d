package github

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

// elsewhere is a server that nobody configured; it counts what reaches it.
func elsewhere(t *testing.T) (address string, hits *atomic.Int64) {
	t.Helper()
	hits = new(atomic.Int64)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		hits.Add(1)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte("[]"))
	}))
	t.Cleanup(s.Close)
	return s.URL, hits
}

// P9: whatever a server says, nothing is sent to another one, and the error
// names the host.
func TestForeignOriginIsRefused(t *testing.T) {
	address, hits := elsewhere(t)
	host := strings.TrimPrefix(address, "http://")
	w := newWorld(t, githubtest.Options{})
	own := strings.TrimPrefix(w.URL(), "http://")
	tests := map[string]githubtest.Fault{
		"redirect to another host":     {Instead: githubtest.Redirect(http.StatusFound, address+"/x")},
		"permanent redirect":           {Instead: githubtest.Redirect(http.StatusPermanentRedirect, address+"/x")},
		"redirect without a scheme":    {Instead: githubtest.Redirect(http.StatusMovedPermanently, "//"+host+"/x")},
		"redirect to another scheme":   {Instead: githubtest.Redirect(http.StatusFound, "https://"+own+"/x")},
		"redirect with an account":     {Instead: githubtest.Redirect(http.StatusFound, "http://me:secret@"+own+"/x")},
		"redirect to a file":           {Instead: githubtest.Redirect(http.StatusFound, "file:///etc/passwd")},
		"next page on another host":    {Instead: linkTo(address + "/x?page=2")},
		"next page without a scheme":   {Instead: linkTo("//" + host + "/x?page=2")},
		"next page on another port":    {Instead: linkTo("http://127.0.0.1:1/x?page=2")},
		"next page with an account":    {Instead: linkTo("http://me@" + own + "/x?page=2")},
		"next page in another scheme":  {Instead: linkTo("https://" + own + "/x?page=2")},
		"redirect to a prefix of ours": {Instead: githubtest.Redirect(http.StatusFound, w.URL()+".evil.example/x")},
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			defer w.Inject(fault)()
			_, err := w.source(t).List(t.Context())
			if err == nil {
				t.Fatal("the list was accepted")
			}
			if !strings.Contains(err.Error(), "refused") && !strings.Contains(err.Error(), "invalid port") {
				t.Errorf("error does not say what was refused: %v", err)
			}
			if strings.Contains(err.Error(), "me:secret") {
				t.Errorf("error repeats an account: %v", err)
			}
		})
	}
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests reached another server", n)
	}
}

func linkTo(address string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", fmt.Sprintf("<%s>; rel=\"next\"", address))
		githubtest.JSON("[]")(w, r)
	}
}

// P9: a GET is led on three times within the origin, and no further; a POST
// never, or a comment would become a read of something else.
func TestRedirectsWithinTheOrigin(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "an item", "octocat", true)
	s := w.source(t)
	hop := func(n int) func() {
		return w.Inject(githubtest.Fault{On: "GET /repos/octo/repo/issues/1", Instead: func(rw http.ResponseWriter, r *http.Request) {
			at := len(r.URL.Query()["hop"])
			if at == n {
				githubtest.JSON(fmt.Sprintf(`{"number":1,"state":"open","created_at":%q,"updated_at":%[1]q}`, "2026-07-31T09:11:58Z"))(rw, r)
				return
			}
			githubtest.Redirect(http.StatusTemporaryRedirect, r.URL.Path+"?"+strings.Repeat("hop=x&", at+1))(rw, r)
		}})
	}
	undo := hop(maxHops)
	if _, err := s.State(t.Context(), s.ref(1)); err != nil {
		t.Errorf("%d hops: %v", maxHops, err)
	}
	undo()
	undo = hop(maxHops + 1)
	if _, err := s.State(t.Context(), s.ref(1)); err == nil || !strings.Contains(err.Error(), "more than 3 times") {
		t.Errorf("%d hops: %v", maxHops+1, err)
	}
	undo()
	for _, status := range []int{301, 302, 303, 307, 308} {
		undo := w.Inject(githubtest.Fault{On: "POST", Instead: githubtest.Redirect(status, w.URL()+"/repos/octo/repo/issues/1/comments")})
		if _, err := s.Post(t.Context(), s.ref(1), "hello"); err == nil || !strings.Contains(err.Error(), "redirects a POST") {
			t.Errorf("a POST redirected with %d: %v", status, err)
		}
		undo()
	}
	if got := w.Comments(octo, 1); len(got) != 0 {
		t.Errorf("comments %+v", got)
	}
}

// P9: no error, whatever makes it, and no printed value shows the token.
func TestTokenIsNowhere(t *testing.T) {
	w := newWorld(t, githubtest.Options{Token: "s3cr3t-t0k3n"})
	c := w.client(t, Options{})
	s := repo(t, c)
	raw := func(text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			conn, buf, err := w.(http.Hijacker).Hijack()
			if err != nil {
				return
			}
			defer conn.Close()
			_, _ = buf.WriteString(text)
			_ = buf.Flush()
		}
	}
	faults := map[string]http.HandlerFunc{
		"message":       githubtest.Status(http.StatusForbidden, "no access for s3cr3t-t0k3n"),
		"unauthorized":  githubtest.Status(http.StatusUnauthorized, "Bad credentials s3cr3t-t0k3n"),
		"content type":  githubtest.Text(http.StatusOK, "text/s3cr3t-t0k3n", "x"),
		"malformed":     raw("s3cr3t-t0k3n\r\n\r\n"),
		"bad status":    raw("HTTP/1.1 s3cr3t-t0k3n\r\n\r\n"),
		"redirect":      githubtest.Redirect(http.StatusFound, "http://s3cr3t-t0k3n.example/s3cr3t-t0k3n"),
		"bad redirect":  githubtest.Redirect(http.StatusFound, "http://s3cr3t-t0k3n:x/%zz"),
		"bad link":      linkTo("http://s3cr3t-t0k3n:x/%zz"),
		"wrong state":   githubtest.JSON(`[{"id":1,"number":1,"state":"s3cr3t-t0k3n"}]`),
		"wrong shape":   githubtest.JSON(`[{"id":1,"number":"s3cr3t-t0k3n"}]`),
		"wrong repo":    githubtest.JSON(`[{"number":1,"state":"open","created_at":"2026-07-31T09:11:58Z","updated_at":"2026-07-31T09:11:58Z","repository_url":"https://x/repos/o/s3cr3t-t0k3n"}]`),
		"wrong comment": githubtest.JSON(`[{"id":1,"node_id":"s3cr3t-t0k3n !"}]`),
		"query refused": githubtest.JSON(`{"errors":[{"message":"s3cr3t-t0k3n"}]}`),
		"query renamed": githubtest.JSON(`{"data":{"repository":{"nameWithOwner":"s3cr3t-t0k3n"}}}`),
		"query time":    githubtest.JSON(`{"data":{"repository":{"nameWithOwner":"octo/repo","pullRequests":{"nodes":[{"createdAt":"s3cr3t-t0k3n"}]}}}}`),
		"query state":   githubtest.JSON(`{"data":{"repository":{"nameWithOwner":"octo/repo","pullRequests":{"nodes":[{"number":1,"headRefName":"x","isCrossRepository":true,"state":"s3cr3t-t0k3n"}]}}}}`),
	}
	number := w.AddPullRequest(octo, githubtest.PullRequest{Author: "octocat"})
	for name, fault := range faults {
		undo := w.Inject(githubtest.Fault{On: "POST", Instead: fault})
		_, err := s.Links(t.Context(), workitem.Item{Ref: s.ref(number), Kind: workitem.PullRequest})
		errs := []error{err}
		undo()
		undo = w.Inject(githubtest.Fault{Instead: fault})
		listing, err := s.List(t.Context())
		errs = append(errs, err)
		for _, bad := range listing.Bad {
			errs = append(errs, bad.Err)
		}
		for _, err := range each(t.Context(), s) {
			errs = append(errs, err)
		}
		for _, err := range errs {
			if text := fmt.Sprintf("%v %+v %#v", err, err, err); strings.Contains(text, "s3cr3t-t0k3n") {
				t.Errorf("%s: the error shows the token: %s", name, text)
			}
		}
		undo()
	}
	token := NewToken("s3cr3t-t0k3n", "GH_TOKEN")
	for _, v := range []any{token, &token, c, *s, s, Options{Token: token}, struct{ inner Token }{token}} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if text := fmt.Sprintf(verb, v); strings.Contains(text, "s3cr3t-t0k3n") {
				t.Errorf("%s of %T shows the token", verb, v)
			}
		}
	}
}

func TestUserAgentAndToken(t *testing.T) {
	var agent, auth string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		agent, auth = r.UserAgent(), r.Header.Get("Authorization")
		githubtest.JSON(`{"login":"octocat"}`)(w, r)
	}))
	defer server.Close()
	c, err := NewClient(Options{BaseURL: server.URL, Token: NewToken("t", "X"), Version: "1.2.3"})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Self(t.Context()); err != nil || agent != "the-loop/1.2.3" || auth != "Bearer t" {
		t.Errorf("agent %q, authorization %q, %v", agent, auth, err)
	}
}

func TestSelfIsAskedOnce(t *testing.T) {
	w := newWorld(t, githubtest.Options{Login: "keeper"})
	c := w.client(t, Options{})
	undo := w.Inject(githubtest.Fault{Instead: githubtest.HTML(http.StatusBadGateway)})
	if _, err := c.Self(t.Context()); err == nil {
		t.Error("a failure was an account")
	}
	undo()
	for range 3 {
		if self, err := c.Self(t.Context()); err != nil || self.Login != "keeper" || self.ID == 0 {
			t.Errorf("self %+v, %v", self, err)
		}
	}
	if c.Requests() != 2 || len(w.Requests()) != 2 {
		t.Errorf("%d requests counted, %d sent", c.Requests(), len(w.Requests()))
	}
}

func TestParseBase(t *testing.T) {
	good := map[string]string{
		"https://api.github.com":              "https://api.github.com/",
		"https://ghe.corp.example/api/v3":     "https://ghe.corp.example/api/v3/",
		"https://ghe.corp.example:8443/a/v3/": "https://ghe.corp.example:8443/a/v3/",
		"http://127.0.0.1:8080":               "http://127.0.0.1:8080/",
		"http://[::1]:8080":                   "http://[::1]:8080/",
		"http://localhost":                    "http://localhost/",
	}
	for in, want := range good {
		if u, err := parseBase(in); err != nil || u.String() != want {
			t.Errorf("%s: %v, %v, want %s", in, u, err, want)
		}
	}
	bad := []string{
		"http://api.github.com", "http://10.0.0.1", "http://localhost.evil.example", "http://0.0.0.0", "ftp://x", "//x", "x", "",
		"https://", "https://me:pw@x", "https://x?a=b", "https://x#y", "https://x?", "https://%zz", "http://2130706433",
	}
	for _, in := range bad {
		_, err := parseBase(in)
		if err == nil {
			t.Errorf("%q was accepted", in)
		} else if strings.Contains(err.Error(), "pw") {
			t.Errorf("%q: the error repeats the password: %v", in, err)
		}
	}
}

// P9: clear text stays on this machine even when a name leads away, and a
// proxy never sees what is meant for this machine.
func TestWire(t *testing.T) {
	for address, ok := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "10.0.0.1:80": false, "192.0.2.1:80": false} {
		if err := onlyLoopback("tcp", address, nil); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
	clear := newWire(&url.URL{Scheme: "http", Host: "localhost"})
	if _, err := clear.DialContext(t.Context(), "tcp", "192.0.2.1:80"); err == nil || !strings.Contains(err.Error(), "not loopback") {
		t.Errorf("clear text to elsewhere: %v", err)
	}
	for base, proxied := range map[string]bool{"https://api.github.com": true, "http://127.0.0.1:1": false, "https://localhost": false} {
		u, err := url.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		if wire := newWire(u); (wire.Proxy != nil) != proxied {
			t.Errorf("%s: may go through a proxy: %t", base, !proxied)
		}
	}
}

func TestNewClientRefuses(t *testing.T) {
	for name, o := range map[string]Options{
		"no token":         {},
		"clear text":       {Token: NewToken("t", "X"), BaseURL: "http://ghe.corp.example/api/v3"},
		"enterprise token": {Token: NewToken("", "X"), Host: "ghe.corp.example"},
	} {
		if _, err := NewClient(o); err == nil {
			t.Errorf("%s: a client was made", name)
		}
	}
	c, err := NewClient(Options{Token: NewToken("t", "X"), Host: "ghe.corp.example"})
	if err != nil || c.transport.base.String() != "https://ghe.corp.example/api/v3/" {
		t.Errorf("P6: base %v, %v", c, err)
	}
	for name, o := range map[string]RepoOptions{
		"P4 owner":         {Owner: "--upload-pack=x", Repo: "repo", Label: label, Issues: true},
		"P4 repository":    {Owner: "octo", Repo: "../x", Label: label, Issues: true},
		"no label":         {Owner: "octo", Repo: "repo", Label: " ", Issues: true},
		"label with comma": {Owner: "octo", Repo: "repo", Label: "a,b", Issues: true},
		"nothing to watch": {Owner: "octo", Repo: "repo", Label: label},
	} {
		if s, err := c.Repo(o); err == nil {
			t.Errorf("%s: made %s", name, s.ID())
		}
	}
}

// A hung or refusing address is an error that names it, and no gone item.
func TestNobodyThere(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	c := w.client(t, Options{})
	s := repo(t, c)
	w.Server.Close()
	for name, err := range each(t.Context(), s) {
		if err == nil || errors.Is(err, workitem.ErrGone) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

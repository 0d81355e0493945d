package githubtest

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// DefaultToken is the token that a server takes when Options name none.
const DefaultToken = "a-token-that-opens-nothing"

// DefaultLogin is the account of DefaultToken.
const DefaultLogin = "the-loop-bot"

// Options say what kind of server it is. The zero value is github.com with one
// token.
type Options struct {
	// Token and Login are the one token it takes and its account.
	Token, Login string
	// Now is the server's clock; nil means time.Now.
	Now func() time.Time
	// MaxPerPage caps the page size, so that few items make many pages; 0 means
	// GitHub's own 100.
	MaxPerPage int
	// Path is where the API answers: "/api/v3" for GitHub Enterprise.
	Path string
	// Web is the address of the pages for people; empty means
	// https://github.com.
	Web string
}

// Server is one GitHub. Its methods are safe for concurrent use.
type Server struct {
	o    Options
	http *httptest.Server

	mu         sync.Mutex
	lastID     int64
	users      map[string]*user
	repos      []*repo
	oldNodeIDs bool
	remaining  int
	faults     []*armed
	requests   []string
	violations []string
}

// Start returns a running server. The caller closes it.
func Start(o Options) *Server {
	if o.Token == "" {
		o.Token = DefaultToken
	}
	if o.Login == "" {
		o.Login = DefaultLogin
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Web == "" {
		o.Web = "https://github.com"
	}
	if o.MaxPerPage == 0 {
		o.MaxPerPage = 100
	}
	s := &Server{o: o, lastID: 1000, users: map[string]*user{}, remaining: 4999}
	s.http = httptest.NewServer(s)
	return s
}

// New is Start for a test: the server is closed when the test ends, and what
// did not fit GitHub's description fails it.
func New(t testing.TB, o Options) *Server {
	t.Helper()
	s := Start(o)
	t.Cleanup(func() {
		s.Close()
		for _, v := range s.Violations() {
			t.Errorf("not as GitHub describes it: %s", v)
		}
	})
	return s
}

// Close stops the server and waits for the requests it is answering.
func (s *Server) Close() {
	s.http.CloseClientConnections()
	s.http.Close()
}

// URL is the base URL of the API.
func (s *Server) URL() string { return s.http.URL + s.o.Path }

// Token is the token that the server takes.
func (s *Server) Token() string { return s.o.Token }

// Violations returns what did not fit GitHub's description so far.
func (s *Server) Violations() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.violations)
}

// Requests returns the requests so far, as "GET /repos/octo/repo/issues?…".
func (s *Server) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// ForgetRequests empties the list of requests.
func (s *Server) ForgetRequests() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = nil
}

// ServeHTTP answers one request: with a fault, if one is armed for it.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	serve := s.prepare(r)
	serve(w)
}

// shown is a request as Requests shows it.
func (s *Server) shown(r *http.Request) string {
	if s.isQuery(r) {
		return r.Method + " " + queryPath
	}
	return r.Method + " " + strings.TrimPrefix(r.URL.RequestURI(), s.o.Path)
}

// prepare does what needs the lock, and returns what may take its time.
func (s *Server) prepare(r *http.Request) func(http.ResponseWriter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, s.shown(r))
	fault := s.fires(r)
	if fault != nil && fault.Instead != nil {
		return func(w http.ResponseWriter) { fault.Instead(w, r) }
	}
	real := s.answer(r)
	if fault != nil {
		return func(w http.ResponseWriter) { fault.Mangle(w, r, real) }
	}
	return real.write
}

// Answer is what the server would say.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	// undescribed says that GitHub answers so although its description does not
	// allow it.
	undescribed bool
}

func (a Answer) write(w http.ResponseWriter) {
	for name, values := range a.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body)
}

// now is the server's clock in the resolution it shows.
func (s *Server) now() time.Time { return s.o.Now().UTC().Truncate(time.Second) }

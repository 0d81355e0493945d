package localapi

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"theloop/workitem"
)

// The bounds of one request: the people who ask sit on the same machine, and a
// client that does not read must not hold the poller's ledger.
const (
	requestTime  = 10 * time.Second
	maxHeader    = 16 << 10
	shutdownTime = 2 * time.Second
	// streamed is how much of a list is handed over at a time.
	streamed = 16 << 10
)

// Server answers on the control socket.
type Server struct {
	http *http.Server
	// end cancels the requests under way; busy counts them.
	end  context.CancelFunc
	busy sync.WaitGroup
	done chan struct{}
}

// routes are the questions that are answered. A path begins with the version of
// its documents.
func routes() map[string]func(http.ResponseWriter, *http.Request, Local) {
	return map[string]func(http.ResponseWriter, *http.Request, Local){
		"GET /v1/status":    status,
		"GET /v1/cycles":    cycles,
		"POST /v1/kick":     kick,
		"GET /v1/instance":  instance,
		"GET /v1/item":      item,
		"GET /v1/items":     items,
		"GET /v1/check":     check,
		"GET /v1/backup":    backup,
		"POST /v1/forget":   forget,
		"POST /v1/adopt":    adopt,
		"POST /v1/command":  order,
		"POST /v1/link":     link,
		"POST /v1/register": register,
		"GET /v1/plan":      plan,
	}
}

// Serve starts to answer on l from local, to processes of this user alone. Close
// ends it.
func Serve(l net.Listener, local Local, log *slog.Logger) *Server {
	return serveFor(l, local, log, requestTime)
}

// serveFor is Serve with another limit for a request that reads little.
func serveFor(l net.Listener, local Local, log *slog.Logger, limit time.Duration) *Server {
	ctx, end := context.WithCancel(context.Background())
	s := &Server{end: end, done: make(chan struct{})}
	mux := http.NewServeMux()
	for path, answer := range routes() {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			s.busy.Add(1)
			defer s.busy.Done()
			answer(w, r, local)
		})
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, problem{Message: "this poller does not answer " + r.Method + " " + r.URL.Path})
	})
	s.http = &http.Server{
		Handler: mux, BaseContext: func(net.Listener) context.Context { return ctx },
		ReadTimeout: limit, WriteTimeout: limit, IdleTimeout: limit,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(newGate(l, os.Geteuid(), log)); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the control socket does not answer any more", "error", err)
		}
	}()
	return s
}

// Close stops answering, waits a moment for answers under way, then cuts them,
// and removes the socket. When it returns nothing runs any more.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	s.end()
	if err != nil {
		err = s.http.Close()
	}
	<-s.done
	s.busy.Wait()
	return err
}

// problem is the body of an answer that is no 2xx.
type problem struct {
	Message string        `json:"message"`
	Unknown *UnknownError `json:"unknown,omitempty"`
}

func refuse(w http.ResponseWriter, status int, p problem) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(p)
}

func item(w http.ResponseWriter, r *http.Request, local Local) {
	ref, err := workitem.ParseRef(r.URL.Query().Get("ref"))
	if err != nil {
		refuse(w, http.StatusBadRequest, problem{Message: err.Error()})
		return
	}
	doc, err := local.Item(r.Context(), ref)
	var unknown *UnknownError
	switch {
	case errors.As(err, &unknown):
		refuse(w, http.StatusNotFound, problem{Message: err.Error(), Unknown: unknown})
	case err != nil:
		refuse(w, http.StatusInternalServerError, problem{Message: err.Error()})
	default:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(doc)
	}
}

// items streams one summary a line. What goes wrong on the way is the last
// line, so that a cut answer is not taken for a short list.
func items(w http.ResponseWriter, r *http.Request, local Local) {
	patient(w) // many items are slower than one request may be
	w.Header().Set("Content-Type", "application/x-ndjson")
	out := bufio.NewWriterSize(rolling{w, http.NewResponseController(w)}, streamed)
	enc := json.NewEncoder(out)
	err := local.Items(r.Context(), func(s Summary) error { return enc.Encode(line{Item: &s}) })
	last := line{End: true}
	if err != nil {
		last = line{Error: err.Error()}
	}
	_ = enc.Encode(last)
	_ = out.Flush() // who does not read it knows
}

// line is one line of the items' stream: an item, or how it ended.
type line struct {
	Item  *Summary `json:"item,omitempty"`
	End   bool     `json:"end,omitempty"`
	Error string   `json:"error,omitempty"`
}

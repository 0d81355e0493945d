package localapi

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"theloop/workitem"
)

// The bounds of one request: the people who ask sit on the same machine, and a
// client that does not read must not hold the poller's ledger.
const (
	requestTime  = 10 * time.Second
	maxHeader    = 16 << 10
	shutdownTime = 2 * time.Second
)

// Server answers on the control socket.
type Server struct {
	http *http.Server
	done chan struct{}
}

// Serve starts to answer on l from local. Close ends it.
func Serve(l net.Listener, local Local, log *slog.Logger) *Server {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /v1/item", func(w http.ResponseWriter, r *http.Request) { item(w, r, local) })
	mux.HandleFunc("GET /v1/items", func(w http.ResponseWriter, r *http.Request) { items(w, r, local) })
	mux.HandleFunc("GET /v1/check", func(w http.ResponseWriter, r *http.Request) { check(w, r, local) })
	mux.HandleFunc("GET /v1/backup", func(w http.ResponseWriter, r *http.Request) { backup(w, r, local) })
	mux.HandleFunc("POST /v1/forget", func(w http.ResponseWriter, r *http.Request) { forget(w, r, local) })
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		refuse(w, http.StatusNotFound, problem{Message: "this poller does not answer " + r.Method + " " + r.URL.Path})
	})
	s := &Server{done: make(chan struct{}), http: &http.Server{
		Handler: mux, ReadTimeout: requestTime, WriteTimeout: requestTime, IdleTimeout: requestTime,
		MaxHeaderBytes: maxHeader, ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}}
	go func() {
		defer close(s.done)
		if err := s.http.Serve(l); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Warn("the control socket does not answer any more", "error", err)
		}
	}()
	return s
}

// Close stops answering, waits a moment for answers under way, and removes the
// socket.
func (s *Server) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = s.http.Close()
	}
	<-s.done
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
	w.Header().Set("Content-Type", "application/x-ndjson")
	enc := json.NewEncoder(w)
	err := local.Items(r.Context(), func(s Summary) error { return enc.Encode(line{Item: &s}) })
	last := line{End: true}
	if err != nil {
		last = line{Error: err.Error()}
	}
	_ = enc.Encode(last)
}

// line is one line of the items' stream: an item, or how it ended.
type line struct {
	Item  *Summary `json:"item,omitempty"`
	End   bool     `json:"end,omitempty"`
	Error string   `json:"error,omitempty"`
}

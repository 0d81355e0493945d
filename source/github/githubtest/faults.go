package githubtest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Fault makes an answer go wrong. One of Instead and Mangle is set.
type Fault struct {
	// On picks requests: a method and the start of a path below the API's base,
	// such as "POST /repos/octo/repo/issues"; either alone will do. Empty picks
	// all. Queries are "POST /graphql" on every server.
	On string
	// Nth is the one of the picked requests that goes wrong, from 1; 0 is all.
	Nth int
	// Instead answers; the request has no effect.
	Instead http.HandlerFunc
	// Mangle answers knowing the true answer; the request has had its effect.
	Mangle func(w http.ResponseWriter, r *http.Request, real Answer)
}

// armed is a Fault with its count.
type armed struct {
	Fault
	seen int
}

// Inject arms a fault until the returned function is called. Of several that
// match, the first one injected fires.
func (s *Server) Inject(f Fault) (remove func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := &armed{Fault: f}
	s.faults = append(s.faults, a)
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, other := range s.faults {
			if other == a {
				s.faults = append(s.faults[:i:i], s.faults[i+1:]...)
				return
			}
		}
	}
}

// fires counts a request against the armed faults and returns the one it meets.
func (s *Server) fires(r *http.Request) *armed {
	path := s.namedPath(s.below(r))
	var hit *armed
	for _, a := range s.faults {
		if !picks(a.On, r.Method, path) {
			continue
		}
		a.seen++
		if hit == nil && (a.Nth == 0 || a.Nth == a.seen) {
			hit = a
		}
	}
	return hit
}

func picks(on, method, path string) bool {
	if m, rest, ok := strings.Cut(on, " "); ok || !strings.HasPrefix(on, "/") && on != "" {
		if m != method {
			return false
		}
		on = rest
	}
	return strings.HasPrefix(path, on)
}

// Status answers with a status and GitHub's kind of error body.
func Status(status int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.WriteHeader(status)
		_, _ = fmt.Fprintf(w, `{"message":%q,"documentation_url":%q}`, message, docs)
	}
}

// Text answers with a body of a content type.
func Text(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}
}

// HTML answers as a portal or a broken server does.
func HTML(status int) http.HandlerFunc {
	return Text(status, "text/html; charset=utf-8", "<!DOCTYPE html><title>Unicorn!</title>")
}

// JSON answers 200 with a JSON text.
func JSON(body string) http.HandlerFunc {
	return Text(http.StatusOK, "application/json; charset=utf-8", body)
}

// RateLimited answers 403 or 429 with the given headers, in pairs.
func RateLimited(status int, message string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		Status(status, message)(w, r)
	}
}

// Redirect answers with a redirect.
func Redirect(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		w.WriteHeader(status)
	}
}

// Hang answers nothing until the client is gone, which is noticed only once its
// request was read.
func Hang(_ http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// Drip sends a byte of an endless JSON string each time, until the client is
// gone.
func Drip(every time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			if _, err := io.WriteString(w, `"`); err != nil {
				return
			}
			w.(http.Flusher).Flush()
			select {
			case <-tick.C:
			case <-r.Context().Done():
				return
			}
		}
	}
}

// Endless sends a well-formed array of more bytes than anybody should read,
// compressed to a few.
func Endless(size int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		defer z.Close()
		_, _ = io.WriteString(z, "[")
		spaces := bytes.Repeat([]byte(" "), 1<<16)
		for sent := 0; sent < size; sent += len(spaces) {
			if _, err := z.Write(spaces); err != nil {
				return
			}
		}
		_, _ = io.WriteString(z, "]")
	}
}

// Cut promises the whole answer and ends half way.
func Cut(w http.ResponseWriter, _ *http.Request, real Answer) {
	Length(len(real.Body))(w, nil, Answer{Status: real.Status, Header: real.Header, Body: real.Body[:len(real.Body)/2]})
}

// Length sends the true answer under a wrong Content-Length.
func Length(n int) func(http.ResponseWriter, *http.Request, Answer) {
	return func(w http.ResponseWriter, _ *http.Request, real Answer) {
		conn, buf, err := w.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		h := real.Header.Clone()
		h.Set("Content-Length", strconv.Itoa(n))
		h.Set("Connection", "close")
		_, _ = fmt.Fprintf(buf, "HTTP/1.1 %d %s\r\n", real.Status, http.StatusText(real.Status))
		_ = h.Write(buf)
		_, _ = fmt.Fprintf(buf, "\r\n%s", real.Body)
		_ = buf.Flush()
	}
}

// CutGzip sends a compressed answer that ends half way.
func CutGzip(w http.ResponseWriter, _ *http.Request, real Answer) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(real.Body)
	_ = z.Close()
	h := real.Header.Clone()
	h.Set("Content-Encoding", "gzip")
	h.Set("Content-Length", strconv.Itoa(packed.Len()/2))
	Answer{Status: real.Status, Header: h, Body: packed.Bytes()[:packed.Len()/2]}.write(w)
}

// Lost answers with a status although the request has had its effect.
func Lost(status int) func(http.ResponseWriter, *http.Request, Answer) {
	return func(w http.ResponseWriter, r *http.Request, _ Answer) { Status(status, "Server Error")(w, r) }
}

// Change sends the true answer with a text in it replaced.
func Change(from, to string) func(http.ResponseWriter, *http.Request, Answer) {
	return func(w http.ResponseWriter, _ *http.Request, real Answer) {
		real.Body = bytes.ReplaceAll(real.Body, []byte(from), []byte(to))
		real.Header.Set("Content-Length", strconv.Itoa(len(real.Body)))
		real.write(w)
	}
}

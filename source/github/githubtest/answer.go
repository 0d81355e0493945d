package githubtest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxRequest bounds what a test may send.
const maxRequest = 1 << 20

// call is one request on its way through the server.
type call struct {
	r    *http.Request
	path string
	body []byte
}

// answer says what GitHub would, and holds both against its description.
func (s *Server) answer(r *http.Request) Answer {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxRequest))
	if err != nil {
		return s.refusal(http.StatusBadRequest, "Problems reading the body")
	}
	c := call{r: r, path: s.namedPath(s.below(r)), body: body}
	if c.path == queryPath {
		return s.answerQuery(c)
	}
	in := s.asked(r, c.path, body)
	a := unchanged(r, s.decide(c))
	s.limitHeaders(a.Header, "core")
	s.answered(r, in, a)
	return a
}

// unchanged answers 304 when the asker has what would be said.
func unchanged(r *http.Request, a Answer) Answer {
	if r.Method != http.MethodGet || a.Status != http.StatusOK {
		return a
	}
	etag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(a.Body))
	a.Header.Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		a.Status, a.Body = http.StatusNotModified, nil
		a.Header.Del("Content-Length")
		a.Header.Del("Content-Type")
	}
	return a
}

// namedPath turns /repositories/<id>/… back into /repos/owner/name/….
func (s *Server) namedPath(path string) string {
	rest, ok := strings.CutPrefix(path, "/repositories/")
	if !ok {
		return path
	}
	number, rest, _ := strings.Cut(rest, "/")
	for _, r := range s.repos {
		if strconv.FormatInt(r.id, 10) == number {
			return strings.TrimSuffix("/repos/"+r.full()+"/"+rest, "/")
		}
	}
	return path
}

func (s *Server) decide(c call) Answer {
	if c.r.Header.Get("Authorization") != "Bearer "+s.o.Token {
		return s.refusal(http.StatusUnauthorized, "Bad credentials")
	}
	switch {
	case c.path == "/user":
		return s.ok(s.shape("private-user-response-with-public-profile-information", nil, 0).with(s.self()))
	case c.path == "/rate_limit":
		return s.ok(s.shape("rate-limit-overview", nil, 0))
	}
	parts := strings.Split(strings.Trim(c.path, "/"), "/")
	if len(parts) < 3 || parts[0] != "repos" {
		return s.notFound()
	}
	name := parts[1] + "/" + parts[2]
	r := s.findRepo(name)
	switch {
	case r == nil || r.hidden:
		return s.notFound()
	case !strings.EqualFold(r.full(), name):
		return s.moved(c, r, strings.Join(parts[3:], "/"))
	}
	return s.inRepo(c, r, parts[3:])
}

func (s *Server) self() object {
	var account object
	mustDecode(string(s.account(s.o.Login)), &account)
	return account.with(object{"user_view_type": "public"})
}

// moved sends a reader of an old name to the repository's number.
func (s *Server) moved(c call, r *repo, rest string) Answer {
	to := fmt.Sprintf("%s/repositories/%d", s.URL(), r.id)
	if rest != "" {
		to += "/" + rest
	}
	return s.redirect(c, to)
}

func (s *Server) redirect(c call, to string) Answer {
	if c.r.URL.RawQuery != "" {
		to += "?" + c.r.URL.RawQuery
	}
	a := s.json(http.StatusMovedPermanently, object{"message": "Moved Permanently", "url": to, "documentation_url": docs})
	a.Header.Set("Location", to)
	return a
}

const docs = "https://docs.github.com/rest"

func (s *Server) notFound() Answer { return s.refusal(http.StatusNotFound, "Not Found") }

func (s *Server) refusal(status int, message string) Answer {
	return s.json(status, object{"message": message, "documentation_url": docs, "status": strconv.Itoa(status)})
}

func (s *Server) ok(v any) Answer { return s.json(http.StatusOK, v) }

func (s *Server) json(status int, v any) Answer {
	body, err := json.Marshal(v)
	if err != nil {
		panic("githubtest: " + err.Error())
	}
	h := http.Header{}
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Date", s.now().Format(http.TimeFormat))
	h.Set("Content-Length", strconv.Itoa(len(body)))
	return Answer{Status: status, Header: h, Body: body}
}

// limitHeaders counts down the hour's requests, from many.
func (s *Server) limitHeaders(h http.Header, resource string) {
	if s.remaining > 1 {
		s.remaining--
	}
	h.Set("X-RateLimit-Limit", "5000")
	h.Set("X-RateLimit-Remaining", strconv.Itoa(s.remaining))
	h.Set("X-RateLimit-Reset", strconv.FormatInt(s.now().Unix()+3600, 10))
	h.Set("X-RateLimit-Resource", resource)
}

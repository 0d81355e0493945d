package githubtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// description is GitHub's own: what it may be asked and how it answers.
type description struct {
	router   routers.Router
	examples map[string]string
}

// loaded reads it once per process: it takes a tenth of a second.
var loaded = sync.OnceValue(func() description {
	d, err := load()
	if err != nil {
		panic("githubtest: " + err.Error())
	}
	return d
})

func load() (description, error) {
	path, err := testdataPath("github-openapi-subset.json")
	if err != nil {
		return description{}, err
	}
	doc, err := openapi3.NewLoader().LoadFromFile(path)
	if err != nil {
		return description{}, fmt.Errorf("read %s: %w", path, err)
	}
	// Its examples are not held against it: a few of them do not fit.
	if err := doc.Validate(context.Background(), openapi3.DisableExamplesValidation()); err != nil {
		return description{}, fmt.Errorf("check %s: %w", path, err)
	}
	doc.Servers = nil
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		return description{}, fmt.Errorf("route %s: %w", path, err)
	}
	examples := map[string]string{}
	for name, ref := range doc.Components.Examples {
		text, err := json.Marshal(ref.Value.Value)
		if err != nil {
			return description{}, fmt.Errorf("example %s: %w", name, err)
		}
		examples[name] = string(text)
	}
	return description{router: router, examples: examples}, nil
}

// testdataPath finds a file of testdata/github from any package of the module: a
// test runs in its package's folder.
func testdataPath(name string) (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, "testdata", "github", name)
		if _, err := os.Stat(path); err == nil {
			return path, nil
		}
		if filepath.Dir(dir) == dir {
			return "", fmt.Errorf("testdata/github/%s is in no folder above the working directory", name)
		}
		dir = filepath.Dir(dir)
	}
}

// asked holds a request against the description and remembers it for the
// answer. The path is the one below the API's base, with names.
func (s *Server) asked(r *http.Request, path string, body []byte) *openapi3filter.RequestValidationInput {
	in := r.Clone(context.Background())
	in.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
	in.Host, in.RequestURI = "", ""
	in.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := loaded().router.FindRoute(in)
	if err != nil {
		s.violate(r, "no such endpoint: %v", err)
		return nil
	}
	input := &openapi3filter.RequestValidationInput{
		Request: in, PathParams: params, Route: route, Options: strict(),
	}
	if err := openapi3filter.ValidateRequest(context.Background(), input); err != nil {
		s.violate(r, "request: %v", err)
	}
	s.checkQuery(r, route)
	s.checkAgent(r)
	return input
}

func (s *Server) checkAgent(r *http.Request) {
	if r.UserAgent() == "" || strings.HasPrefix(r.UserAgent(), "Go-http-client") {
		s.violate(r, "request: GitHub demands a User-Agent of one's own")
	}
}

func strict() *openapi3filter.Options {
	o := &openapi3filter.Options{IncludeResponseStatus: true, SkipSettingDefaults: true, RejectWhenRequestBodyNotSpecified: true}
	// The whole schema and the whole value are pages long.
	o.WithCustomSchemaErrorFunc(func(err *openapi3.SchemaError) string {
		return "/" + strings.Join(err.JSONPointer(), "/") + ": " + err.Reason
	})
	return o
}

// checkQuery finds the misspelled parameter that GitHub would ignore.
func (s *Server) checkQuery(r *http.Request, route *routers.Route) {
	for name := range r.URL.Query() {
		known := slices.ContainsFunc(route.Operation.Parameters, func(p *openapi3.ParameterRef) bool {
			return p.Value.In == "query" && p.Value.Name == name
		})
		if !known {
			s.violate(r, "request: no parameter %q", name)
		}
	}
}

// undescribed are the statuses that any endpoint can answer with.
func undescribed(status int) bool {
	return slices.Contains([]int{301, 304, 401, 403, 404, 410, 422, 429}, status) || status >= 500
}

// answered holds an answer against the description.
func (s *Server) answered(r *http.Request, in *openapi3filter.RequestValidationInput, a Answer) {
	if in == nil || a.undescribed || in.Route.Operation.Responses.Status(a.Status) == nil && undescribed(a.Status) {
		return
	}
	out := &openapi3filter.ResponseValidationInput{
		RequestValidationInput: in, Status: a.Status, Header: a.Header, Options: in.Options,
	}
	if err := openapi3filter.ValidateResponse(context.Background(), out.SetBodyBytes(a.Body)); err != nil {
		s.violate(r, "answer %d: %v", a.Status, err)
	}
}

func (s *Server) violate(r *http.Request, format string, args ...any) {
	s.violations = append(s.violations, r.Method+" "+r.URL.RequestURI()+": "+fmt.Sprintf(format, args...))
}

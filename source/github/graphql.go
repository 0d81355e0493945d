package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"theloop/workitem"
)

// queryAnswer is what comes back for a query. With errors it is a failure
// whatever else it holds: a part of an answer is a short list (P1).
type queryAnswer struct {
	Data   json.RawMessage `json:"data"`
	Errors []queryProblem  `json:"errors"`
}

// queryProblem is one error in an answer.
type queryProblem struct {
	Type       string `json:"type"`
	Message    string `json:"message"`
	Extensions struct {
		Code string `json:"code"`
	} `json:"extensions"`
}

// query sends one of our queries and decodes the data of its answer. It goes
// the way of every other request, to the one address that answers queries (P9).
//
// A *workitem.RateLimitError says that nothing may be asked at all; that no
// query may be asked for now is a failure of the query.
func (c *Client) query(ctx context.Context, text string, variables map[string]any, out any) error {
	in := struct {
		Query     string         `json:"query"`
		Variables map[string]any `json:"variables"`
	}{text, variables}
	var a queryAnswer
	if _, err := c.call(ctx, http.MethodPost, c.transport.queries.String(), in, &a); err != nil {
		return c.ownLimit(err)
	}
	if len(a.Errors) > 0 {
		return c.refusedQuery(a.Errors)
	}
	if err := decodeObject(a.Data, out); err != nil {
		return c.safe(err)
	}
	return nil
}

// ownLimit takes the meaning of a limit from an error when it is GraphQL's own:
// whoever reads items may go on.
func (c *Client) ownLimit(err error) error {
	var limited *workitem.RateLimitError
	if errors.As(err, &limited) && c.transport.limits.check(everything) == nil {
		return errors.New(limited.Error() + " over GraphQL")
	}
	return c.safe(err)
}

// queryError is an answer whose errors say why there is none.
type queryError struct {
	// lasting says that it will be the same the next time.
	lasting bool
	text    string
}

func (e *queryError) Error() string { return e.text }

func (c *Client) refusedQuery(problems []queryProblem) error {
	text := fmt.Sprintf("%s answered a query with an error (%q)", c.transport.base.Host, clip(problems[0].Message))
	if more := len(problems) - 1; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	passing := slices.ContainsFunc(problems, func(p queryProblem) bool { return !p.lasting() })
	return &queryError{lasting: !passing, text: c.transport.token.redact(text)}
}

// lasting reports whether an error is about what the token may do, or about
// what the server's release knows. That something is not found is not among
// them: what was made just now is not found everywhere at once.
func (p queryProblem) lasting() bool {
	switch {
	case p.Type == "FORBIDDEN", p.Type == "INSUFFICIENT_SCOPES":
		return true
	case p.Extensions.Code == "undefinedField", p.Extensions.Code == "undefinedType", p.Extensions.Code == "argumentNotAccepted":
		return true
	}
	return false
}

// cannotAsk reports whether an error says that a server answers no queries of
// ours, today or tomorrow: it has no GraphQL, or it is not for this token.
func cannotAsk(err error) bool {
	var refused *queryError
	if errors.As(err, &refused) {
		return refused.lasting
	}
	return slices.ContainsFunc([]int{
		http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusGone, http.StatusNotImplemented,
	}, func(status int) bool { return hasStatus(err, status) })
}

// queryLimit finds a limit in an answer to a query that says 200 (P7). The type
// has been seen in both spellings.
func queryLimit(body []byte) limitKind {
	var a queryAnswer
	if err := json.Unmarshal(body, &a); err != nil {
		return noLimit
	}
	for _, p := range a.Errors {
		said := strings.ToLower(p.Message)
		switch {
		case strings.Contains(said, "secondary rate limit"):
			return otherLimit
		case p.Type == "RATE_LIMITED", p.Type == "RATE_LIMIT", strings.Contains(said, "api rate limit"):
			return budgetLimit
		}
	}
	return noLimit
}

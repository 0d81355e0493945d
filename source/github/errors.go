package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"unicode/utf8"

	gogithub "github.com/google/go-github/v88/github"

	"theloop/workitem"
)

// maxClip bounds how much of somebody else's text an error repeats, in bytes.
const maxClip = 200

// statusError is an answer that is not a success.
type statusError struct {
	status int
	text   string
}

func (e *statusError) Error() string { return e.text }

// hint says what a status usually means, and what to do about it.
func hint(status int, token Token) string {
	switch status {
	case http.StatusUnauthorized:
		return fmt.Sprintf(": it does not accept the %s; set a valid one, or run: gh auth login", token)
	case http.StatusForbidden:
		return fmt.Sprintf(": the %s may not do this; give it read and write access to issues and pull requests", token)
	case http.StatusNotFound:
		return fmt.Sprintf(": there is nothing of that name, or the %s may not see it", token)
	case http.StatusGone:
		return ": it was deleted, or issues are switched off"
	case http.StatusUnavailableForLegalReasons:
		return ": it is blocked for legal reasons"
	}
	return ""
}

// failure turns what go-github returned into an error that names the host, the
// status and a remedy, and cannot carry the token (P9).
func (c *Client) failure(status int, err error) error {
	var limited *workitem.RateLimitError
	switch {
	case errors.As(err, &limited):
		return limited
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return bare(err)
	case status != 0 && (status < 200 || status > 299) && !isURLError(err):
		return c.statusFailure(status, err)
	}
	return c.safe(bare(err))
}

func (c *Client) statusFailure(status int, err error) error {
	text := fmt.Sprintf("%s answered %d", c.transport.base.Host, status)
	var api *gogithub.ErrorResponse
	if errors.As(err, &api) && api.Message != "" {
		text += fmt.Sprintf(" (%q)", clip(api.Message))
	}
	text = c.transport.token.redact(text + hint(status, c.transport.token))
	return &statusError{status: status, text: text}
}

// safe drops an error's chain when its text holds the token: a server can put
// what it was sent into an answer that an error repeats.
func (c *Client) safe(err error) error {
	if redacted := c.transport.token.redact(err.Error()); redacted != err.Error() {
		return errors.New(redacted)
	}
	return err
}

// bare takes off the layer that repeats the request's address: what was asked
// is said by whoever asked.
func bare(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func isURLError(err error) bool {
	var u *url.Error
	return errors.As(err, &u)
}

func hasStatus(err error, status int) bool {
	var s *statusError
	return errors.As(err, &s) && s.status == status
}

// clip shortens a text to maxClip bytes, on a rune.
func clip(s string) string {
	if len(s) <= maxClip {
		return s
	}
	end := maxClip
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

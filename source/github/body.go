package github

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
)

// maxBody bounds an answer after decompression, in bytes (P10).
const maxBody = 16 << 20

var (
	errStalled = errors.New("the answer made no progress")
	errEndless = errors.New("the answer took too long as a whole")
)

// watch cancels a request whose answer makes no progress, or does not end.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	stall  time.Duration
	quiet  *time.Timer
	whole  *time.Timer
}

func startWatch(parent context.Context, stall, within time.Duration) *watch {
	w := &watch{stall: stall}
	w.ctx, w.cancel = context.WithCancelCause(parent)
	w.quiet = time.AfterFunc(stall, func() {
		w.cancel(fmt.Errorf("%w for %s", errStalled, stall))
	})
	w.whole = time.AfterFunc(within, func() {
		w.cancel(fmt.Errorf("%w, more than %s", errEndless, within))
	})
	return w
}

func (w *watch) progress() { w.quiet.Reset(w.stall) }

func (w *watch) stop() {
	w.quiet.Stop()
	w.whole.Stop()
	w.cancel(context.Canceled)
}

// explain returns why the request was cut, when it was the watch or the caller
// that cut it, else err.
func (w *watch) explain(err error) error {
	if w.ctx.Err() != nil {
		return context.Cause(w.ctx)
	}
	return err
}

// readBody reads an answer to its end. Go's own reader reports a body that is
// shorter than its Content-Length, or whose chunks or compression are cut.
func readBody(resp *http.Response, w *watch) ([]byte, error) {
	defer resp.Body.Close()
	if resp.ContentLength > maxBody {
		return nil, tooLarge(resp)
	}
	var body bytes.Buffer
	limited := io.LimitReader(progressReader{resp.Body, w}, maxBody+1)
	if _, err := body.ReadFrom(limited); err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", resp.Request.URL.Host, w.explain(err))
	}
	if body.Len() > maxBody {
		return nil, tooLarge(resp)
	}
	return body.Bytes(), nil
}

func tooLarge(resp *http.Response) error {
	return fmt.Errorf("the answer of %s is larger than %d MiB", resp.Request.URL.Host, maxBody>>20)
}

// progressReader tells the watch of every byte that arrives.
type progressReader struct {
	io.Reader
	watch *watch
}

func (p progressReader) Read(b []byte) (int, error) {
	n, err := p.Reader.Read(b)
	if n > 0 {
		p.watch.progress()
	}
	return n, err
}

// checkAnswer refuses a success that is not one JSON value: a portal's HTML, an
// empty body (P1). That it is the right kind of value is for its decoder to see
// to.
func checkAnswer(resp *http.Response, body []byte) error {
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return nil
	}
	host := resp.Request.URL.Host
	if !isJSON(resp.Header.Get("Content-Type")) {
		return fmt.Errorf("%s answered %d with the content type %q, not JSON; is a proxy or a login page in between?",
			host, resp.StatusCode, clip(resp.Header.Get("Content-Type")))
	}
	if !json.Valid(body) {
		return fmt.Errorf("%s answered %d with %d bytes that are not one whole JSON value", host, resp.StatusCode, len(body))
	}
	return nil
}

func isJSON(contentType string) bool {
	media, _, err := mime.ParseMediaType(contentType)
	return err == nil && (media == "application/json" ||
		strings.HasPrefix(media, "application/") && strings.HasSuffix(media, "+json"))
}

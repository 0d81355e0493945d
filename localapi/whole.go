package localapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// What concerns the whole ledger: check, backup, forget.

// maxForget bounds the body of a forget: some ten thousand refs.
const maxForget = 1 << 20

// slowest is how long a request about the whole ledger may take.
const slowest = 10 * time.Minute

// endTrailer says behind a backup how it ended: "whole", or what went wrong. A
// backup without it was cut.
const endTrailer = "The-Loop-End"

const whole = "whole"

type faults struct {
	Faults []string `json:"faults"`
}

type forgotten struct {
	Refs []string `json:"refs"`
}

func answer(w http.ResponseWriter, v any, err error) {
	if err != nil {
		var unknown *UnknownError
		errors.As(err, &unknown)
		refuse(w, http.StatusConflict, problem{Message: err.Error(), Unknown: unknown})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func check(w http.ResponseWriter, r *http.Request, local Local) {
	patient(w)
	found, err := local.Check(r.Context())
	answer(w, faults{found}, err)
}

func forget(w http.ResponseWriter, r *http.Request, local Local) {
	patient(w)
	var f Forget
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxForget)).Decode(&f); err != nil {
		refuse(w, http.StatusBadRequest, problem{Message: "read what is to be forgotten: " + err.Error()})
		return
	}
	refs, err := local.Forget(r.Context(), f)
	answer(w, forgotten{refs}, err)
}

// backup streams the file; the client makes it. A client that does not read for
// a while is cut off: the copy is a read transaction that commits may wait for.
func backup(w http.ResponseWriter, r *http.Request, local Local) {
	patient(w)
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Trailer", endTrailer)
	end := whole
	if err := local.Backup(r.Context(), rolling{w, http.NewResponseController(w)}); err != nil {
		end = err.Error()
	}
	w.Header().Set(endTrailer, end)
}

// rolling gives every write its own time.
type rolling struct {
	w io.Writer
	c *http.ResponseController
}

func (r rolling) Write(b []byte) (int, error) {
	if err := r.c.SetWriteDeadline(time.Now().Add(requestTime)); err != nil {
		return 0, err
	}
	return r.w.Write(b)
}

// Check returns what is wrong with the ledger; nothing is fine.
func (c *Client) Check(ctx context.Context) ([]string, error) {
	var found faults
	err := c.document(ctx, http.MethodGet, "/v1/check", nil, &found)
	return found.Faults, err
}

// Forget forgets items, all or none, and returns which.
func (c *Client) Forget(ctx context.Context, f Forget) ([]string, error) {
	body, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	var done forgotten
	err = c.document(ctx, http.MethodPost, "/v1/forget", bytes.NewReader(body), &done)
	return done.Refs, err
}

func (c *Client) document(ctx context.Context, method, path string, body io.Reader, into any) error {
	resp, err := c.ask(ctx, method, path, body)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(into); err != nil {
		return fmt.Errorf("read the poller's answer: %w", err)
	}
	return nil
}

// Backup writes a consistent copy of the ledger. A copy that was cut is an
// error.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	resp, err := c.ask(ctx, http.MethodGet, "/v1/backup", nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if _, err := io.Copy(w, resp.Body); err != nil {
		return fmt.Errorf("copy the ledger: %w", err)
	}
	switch end := resp.Trailer.Get(endTrailer); end {
	case whole:
		return nil
	case "":
		return errors.New("copy the ledger: the answer was cut")
	default:
		return fmt.Errorf("copy the ledger: %s", end)
	}
}

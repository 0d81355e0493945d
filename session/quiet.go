package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// quietUntil is when the session may be touched again: after the deadline of a
// call that tmux did not answer (D3). Zero: now. read are the records that the
// caller has; those of pull requests that go into the session are asked for (P3).
func (h *Host) quietUntil(ctx context.Context, session workitem.Ref, read ...record.Record) (until time.Time, err error) {
	seen := map[string]bool{}
	for _, rec := range read {
		seen[strings.ToLower(rec.Item.Ref)] = true
		until = later(until, deadlines(rec))
	}
	linked, err := h.Ledger.Linked(ctx, session)
	if err != nil {
		// A row that cannot be read concerns its own item alone; one ledger that
		// cannot be read at all fails the commit that follows.
		h.Log.Warn("not all pull requests of a session can be read", "work_item", session.String(), "error", err)
	}
	for _, ref := range linked {
		if seen[ref.Key()] {
			continue
		}
		rec, err := h.Ledger.Record(ctx, ref)
		if err != nil {
			return until, fmt.Errorf("read the ledger: %w", err)
		}
		until = later(until, deadlines(rec))
	}
	if h.Now().After(until) {
		return time.Time{}, nil
	}
	return until, nil
}

// others are the records of what else goes into the attempt's session: something
// older may wait there (B8).
//
// The start is committed on the revisions of the attempt's own record and of the
// session's, not on those of the other pull requests. An older comment that
// becomes pending on one of them between this look and the commit does not stop
// the start: that is the order in which it would have happened had the look been
// a moment later and the comment been seen a moment after. Nothing of that
// decision depends on the start, nor the start on it; what keeps two starts of one
// session apart is its queue (D1), and what stops it is on the session's record.
func (j *job) others(ctx context.Context, v view) (others []record.Record, err error) {
	if j.elsewhere() {
		others = append(others, v.owner)
	}
	linked, err := j.Ledger.Linked(ctx, j.session)
	if err != nil {
		j.Log.Debug("not all pull requests of a session can be read", "work_item", j.session.String(), "error", err)
	}
	for _, ref := range linked {
		if ref.Key() == j.ref.Key() {
			continue
		}
		rec, err := j.Ledger.Record(ctx, ref)
		if err != nil {
			return nil, fmt.Errorf("read the ledger: %w", err)
		}
		others = append(others, rec)
	}
	return others, nil
}

// deadlines is the latest one of the record's rows.
func deadlines(rec record.Record) time.Time {
	until := rec.Item.Spawn.Until
	for _, row := range rec.Comments.All() {
		if row.State == record.Pending && row.Started() {
			until = later(until, row.Until)
		}
	}
	if rec.Session != nil {
		until = later(until, rec.Session.Until)
	}
	return until
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

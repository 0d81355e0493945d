package poller

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"theloop/record"
	"theloop/workitem"
)

func (r *Report) fail(err error) { r.Errors = append(r.Errors, err.Error()) }

func (r *Report) count(e Event) {
	switch e.Name {
	case "poll.comment_failed", "poll.spawn_failed":
		r.Failures++
	case "poll.closure_detected":
		r.Closures++
	}
}

func (r *Report) row() record.Cycle {
	return record.Cycle{
		At: r.At, DurationMS: r.Duration.Milliseconds(), ItemsSeen: r.ItemsSeen, Spawns: r.Spawns,
		CommentsForwarded: r.CommentsForwarded, Closures: r.Closures, Failures: r.Failures,
		Errors: len(r.Errors), Interrupted: r.Interrupted,
	}
}

func (r *Report) fields() map[string]any {
	return map[string]any{
		"items_seen": r.ItemsSeen, "spawns": r.Spawns, "comments_forwarded": r.CommentsForwarded,
		"closures": r.Closures, "failures": r.Failures, "errors": r.Errors, "interrupted": r.Interrupted,
		"requests": r.Requests, "commits": r.Commits, "duration_ms": r.Duration.Milliseconds(),
	}
}

// sourceFailed tells of a source whose listing ended early, and notes it in its
// row: why, and until when it is to be left alone if that is the reason (P7).
func (p *Poller) sourceFailed(row *record.SourceRow, err error, r *Report) {
	err = fmt.Errorf("list %s: %w", row.ID, err)
	row.Error = err.Error()
	r.fail(err)
	var limit *workitem.RateLimitError
	if errors.As(err, &limit) {
		row.Until = limit.Until
		p.limited(limit, r)
	}
	p.tellMoved(err)
	p.Emit("poll.provider_error", map[string]any{"provider": row.ID, "error": err.Error(), "will_retry": true})
}

// limited tells of a limit once, however many sources share it.
func (p *Poller) limited(limit *workitem.RateLimitError, r *Report) {
	r.waits(limit.Until)
	if told := limit.Error(); !slices.Contains(r.limits, told) {
		r.limits = append(r.limits, told)
		p.Emit("poll.rate_limited", map[string]any{"until": limit.Until, "kind": string(limit.Kind)})
	}
}

func (r *Report) waits(until time.Time) {
	if until.After(r.Until) {
		r.Until = until
	}
}

// tellMoved says once that a source answers under another name.
func (p *Poller) tellMoved(err error) {
	var moved *workitem.MovedError
	if !errors.As(err, &moved) || p.moved[*moved] {
		return
	}
	p.moved[*moved] = true
	p.Emit("poll.repo_moved", map[string]any{"from": moved.From, "to": moved.To, "error": moved.Error()})
}

func (p *Poller) itemFailed(ref workitem.Ref, err error, r *Report) {
	if p.rowsFailed(err, r) {
		return
	}
	r.fail(fmt.Errorf("%s: %w", ref, err))
	p.tellMoved(err)
	p.Emit("poll.item_error", map[string]any{"work_item": ref.String(), "error": err.Error(), "will_retry": true})
}

// rowsFailed tells of rows of the ledger that do not decode, and reports whether
// the error is about such rows alone: their items are skipped and the rest goes
// on. A cycle has the error each time, the event is written once a run.
func (p *Poller) rowsFailed(err error, r *Report) bool {
	faults, alone := record.RowFaults(err)
	if !alone {
		return false
	}
	for _, fault := range faults {
		bucket, key := fault.Row()
		item, _, _ := strings.Cut(key, "\x00")
		if text := fault.Error(); !slices.Contains(r.Errors, text) {
			r.Errors = append(r.Errors, text)
		}
		if at := bucket + " " + key; !p.invalid[at] {
			p.invalid[at] = true
			p.Emit("ledger.row_invalid", map[string]any{
				"work_item": item, "bucket": bucket, "key": strings.ReplaceAll(key, "\x00", " "), "error": fault.Error(),
			})
		}
	}
	return true
}

package poller

import (
	"errors"
	"fmt"

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
		"commits": r.Commits, "duration_ms": r.Duration.Milliseconds(),
	}
}

func (p *Poller) sourceFailed(src Source, err error, r *Report) string {
	err = fmt.Errorf("list %s: %w", src.ID(), err)
	r.fail(err)
	var limit *workitem.RateLimitError
	if errors.As(err, &limit) {
		if limit.Until.After(r.Until) {
			r.Until = limit.Until
		}
		p.Emit("poll.rate_limited", map[string]any{"until": limit.Until, "kind": limit.Host})
	}
	p.Emit("poll.provider_error", map[string]any{"provider": src.ID(), "error": err.Error(), "will_retry": true})
	return err.Error()
}

func (p *Poller) itemFailed(ref workitem.Ref, err error, r *Report) {
	r.fail(fmt.Errorf("%s: %w", ref, err))
	p.Emit("poll.item_error", map[string]any{"work_item": ref.String(), "error": err.Error(), "will_retry": true})
}

package daemon

import (
	"log/slog"

	"theloop/escape"
)

// aloud says of an event that somebody has to know of what the log says, or "".
// Whoever looks at the output alone would otherwise see sessions that never come
// up and nothing why (C7).
func aloud(name string, fields map[string]any) string {
	switch name {
	case "dispatch.failed":
		if again, _ := fields["will_retry"].(bool); again {
			return "an attempt failed; the next cycle makes another"
		}
		return "an attempt failed, and it was the last one"
	case "dispatch.dropped":
		if fields["reason"] == "session-occupied" {
			return "something else has the name of a session, and what was said waits"
		}
	case "poll.spawn_failed":
		return "the start of a session was given up; a new comment or a start tries again, and 'the-loop ledger why' says what was tried"
	case "poll.comment_failed":
		return "a comment was given up; 'the-loop ledger why' says what was tried"
	}
	return ""
}

// say logs it. Every value is somebody's text or may hold some (A8).
func say(log *slog.Logger, name string, fields map[string]any) {
	message := aloud(name, fields)
	if message == "" {
		return
	}
	var what []any
	for _, key := range []string{"work_item", "comment_id", "delivery_id", "error"} {
		if text, _ := fields[key].(string); text != "" {
			what = append(what, key, escape.Line(text))
		}
	}
	log.Warn(message, what...)
}

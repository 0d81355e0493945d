package eventlog

import (
	"strings"
	"sync"
)

// declaration is one row of the catalogue.
type declaration struct {
	name  string
	level Level
	// fields are the event's own, in the order in which they are written.
	fields string
}

// common fields may stand on every event.
const common = "work_item comment_id delivery_id actor error will_retry"

// Fields that the rows of one family share.
const (
	attempts   = "attempt attempts outcome reason "
	control    = "command commands command_source effect reason "
	dispatched = "spawn gh_event action work_items commands "
	sessionly  = "harness harness_session_id tmux_target resumed reason kept removed work_items "
	troubled   = "harness reason "
)

// catalogue lists every event there is. A new decision is a new row here.
var catalogue = []declaration{
	{"poller.started", Info, "interval_seconds sources once daemon logfile"},
	{"poller.stopped", Info, "reason"},
	{"poller.blocked", Warning, "pidfile holder"},

	{"poll.cycle", Info, "items_seen spawns comments_forwarded closures failures errors interrupted requests not_modified commits duration_ms"},
	{"poll.provider_error", Error, "provider"},
	{"poll.item_error", Error, "provider"},
	{"poll.first_seen", Info, "baselined"},
	{"poll.comment_dropped", Info, "reason"},
	{"poll.unauthorized", Warning, "reason"},
	{"poll.comment_forwarded", Info, attempts},
	{"poll.comment_settled", Info, attempts},
	{"poll.comment_failed", Warning, attempts},
	{"poll.spawn_failed", Warning, attempts},
	{"poll.rearmed", Info, "comments"},
	{"poll.attempts_released", Info, "released"},
	{"poll.recovered", Info, "proof"},
	{"poll.closure_detected", Info, "state kind"},
	{"poll.giveup_reported", Warning, ""},
	{"poll.giveup_report_failed", Error, ""},
	{"poll.repo_moved", Warning, "from to"},
	{"poll.rate_limited", Warning, "until kind"},

	{"control.command", Info, control},
	{"control.rejected", Warning, control},
	{"control.ambiguous", Warning, control},

	{"dispatch.queued", Info, dispatched},
	{"dispatch.succeeded", Info, dispatched + "harness via endpoint"},
	{"dispatch.failed", Warning, dispatched},
	{"dispatch.dropped", Info, dispatched + "reason"},
	{"dispatch.abandoned", Warning, dispatched + "count delivery_ids"},

	{"session.spawned", Info, sessionly + "gh_event action"},
	{"session.respawned", Info, sessionly},
	{"session.adopted", Info, sessionly},
	{"session.closed", Info, sessionly},
	{"session.paused", Info, sessionly},
	{"session.resumed", Info, sessionly},
	{"session.announced", Info, sessionly},
	{"session.pr_linked", Info, sessionly},

	{"session.spawn_failed", Error, troubled},
	{"session.resume_failed", Warning, troubled},
	{"session.announce_failed", Warning, troubled},
	{"reaction.failed", Warning, troubled},
	{"workspace.prepared", Info, troubled},
	{"workspace.cleaned", Info, troubled},
	{"workspace.trust_failed", Warning, troubled},
	{"routing.linkage_dropped", Warning, troubled},

	{"config.reloaded", Info, "detail"},
	{"config.rejected", Error, ""},

	{"ledger.row_invalid", Error, "bucket key"},
	{"ledger.imported", Info, "counts"},
	{"ledger.exported", Info, "counts"},
}

// closed lists the words that a field of an event may hold.
var closed = map[string]string{
	"dispatch.dropped reason": "duplicate-delivery already-processed spawn-policy awaiting-start session-paused " +
		"session-stopped session-vanished session-occupied work-item-not-found max-sessions",
	"control.command effect":  "spawned resumed paused stopped cleaned nothing-to-clean partial noop",
	"control.rejected reason": "spawn-policy nothing-to-resume unauthorized-actor superseded",
	"poll.recovered proof":    "mark never-started none adopted",
}

// kind is a set of the kinds of value that a field may hold.
type kind uint8

const (
	text kind = 1 << iota
	number
	flag
	list
	counters
)

// kinds says what each field holds, on whichever event it stands.
var kinds = map[string]kind{
	"action": text, "actor": text, "attempt": number, "attempts": number, "baselined": number | flag,
	"bucket": text, "closures": number, "command": text, "command_source": text, "commands": list,
	"comment_id": text, "comments": number | list, "comments_forwarded": number, "commits": number,
	"count": number, "counts": counters, "daemon": flag, "delivery_id": text, "delivery_ids": list,
	"detail": text, "duration_ms": number, "effect": text, "endpoint": text, "error": text,
	"errors": list, "failures": number, "from": text, "gh_event": text, "harness": text,
	"harness_session_id": text, "holder": text | number, "interrupted": flag, "interval_seconds": number,
	"items_seen": number, "kept": text | flag | list, "key": text, "kind": text, "logfile": text,
	"not_modified": number, "once": flag, "outcome": text, "pidfile": text, "proof": text,
	"provider": text, "reason": text, "released": number | list, "removed": list, "requests": number,
	"resumed": flag, "sources": list, "spawn": flag, "spawns": number, "state": text,
	"tmux_target": text, "to": text, "until": text, "via": text, "will_retry": flag,
	"work_item": text, "work_items": list,
}

// declared is a row of the catalogue, ready to be looked up.
type declared struct {
	level  Level
	fields []string
}

// index finds the rows of the catalogue by name.
var index = sync.OnceValue(func() map[string]declared {
	rows := make(map[string]declared, len(catalogue))
	for _, d := range catalogue {
		// What an event is about comes first, then what happened to it.
		fields := strings.Fields("work_item comment_id delivery_id actor " + d.fields + " " + common)
		rows[d.name] = declared{d.level, unique(fields)}
	}
	return rows
})

// unique drops repeated words, keeping the first of each.
func unique(words []string) []string {
	seen := make(map[string]bool, len(words))
	kept := words[:0]
	for _, w := range words {
		if !seen[w] {
			kept = append(kept, w)
		}
		seen[w] = true
	}
	return kept
}

// Names lists every event of the catalogue, in its order.
func Names() []string {
	names := make([]string, len(catalogue))
	for i, d := range catalogue {
		names[i] = d.name
	}
	return names
}

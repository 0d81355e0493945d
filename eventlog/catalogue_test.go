package eventlog

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// R2: an event that is not declared, or not as declared, fails the tests of
// whoever makes it.
func TestValidate(t *testing.T) {
	field := func(event, name string, v any) Event {
		return Event{Name: event, Fields: map[string]any{name: v}}
	}
	for _, e := range []Event{
		{Name: "poller.started"},
		{Name: "poll.cycle", Level: Warning, Fields: map[string]any{
			"items_seen": 3, "errors": []string{"a"}, "interrupted": true, "duration_ms": int64(12)}},
		field("poll.comment_failed", "will_retry", false),
		field("poll.item_error", "error", errors.New("x")),
		field("poll.rate_limited", "until", time.Now()),
		field("dispatch.dropped", "reason", "session-vanished"),
		field("dispatch.dropped", "gh_event", "issue_comment"),
		field("dispatch.abandoned", "delivery_ids", []string{"a"}),
		field("session.closed", "kept", "pane"),
		field("ledger.imported", "counts", map[string]int{"imported": 3}),
		field("control.command", "effect", ""),
	} {
		if err := Validate(e); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	for want, e := range map[string]Event{
		`event "poller.begun" is not in the catalogue`:             {Name: "poller.begun"},
		`field "workitem" is not declared`:                         field("poll.cycle", "workitem", "x"),
		`field "baselined" is not declared`:                        field("poll.cycle", "baselined", 1),
		`field "source" is not declared`:                           field("control.command", "source", "cli"),
		"field attempt does not hold a string":                     field("poll.comment_failed", "attempt", "1"),
		"field interval_seconds does not hold a time.Duration":     field("poller.started", "interval_seconds", time.Minute),
		`dispatch.dropped: reason "because" is not one of`:         field("dispatch.dropped", "reason", "because"),
		`control.rejected: reason "duplicate-delivery" is not one`: field("control.rejected", "reason", "duplicate-delivery"),
		`control.command: effect "exploded" is not one of`:         field("control.command", "effect", "exploded"),
		`poll.recovered: proof "hope" is not one of`:               field("poll.recovered", "proof", "hope"),
	} {
		if err := Validate(e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %s", e, err, want)
		}
	}
}

// R2: what was written as declared reads back as declared.
func TestValidateOfEntries(t *testing.T) {
	f := inFolder(t)
	f.Append(Event{Name: "poll.cycle", Fields: map[string]any{"items_seen": 3, "errors": []string{"a"}, "interrupted": true}})
	f.Append(Event{Name: "ledger.imported", Fields: map[string]any{"counts": map[string]int{"imported": 3}}})
	all, _ := entries(t, f.path, Filter{})
	for _, e := range all {
		if err := Validate(e.Event); err != nil {
			t.Error(err)
		}
	}
	if len(all) != 2 {
		t.Errorf("%d entries", len(all))
	}
}

// R2
func TestCatalogueIsSound(t *testing.T) {
	names := Names()
	if len(names) < 50 || len(slices.Compact(slices.Sorted(slices.Values(names)))) != len(names) {
		t.Errorf("%d names, or some of them twice", len(names))
	}
	used := map[string]bool{}
	for name, row := range index() {
		if row.level < Info || row.level > Error {
			t.Errorf("%s has no level", name)
		}
		for _, f := range row.fields {
			used[f] = true
			if kinds[f] == 0 {
				t.Errorf("%s: no kind is declared for %s", name, f)
			}
			if strings.Contains(envelope, " "+f+" ") {
				t.Errorf("%s: %s is a key of the envelope", name, f)
			}
		}
	}
	for f := range kinds {
		if !used[f] {
			t.Errorf("no event has the field %s", f)
		}
	}
	for key := range closed {
		event, field, _ := strings.Cut(key, " ")
		if !slices.Contains(index()[event].fields, field) {
			t.Errorf("a list is closed for %s, which is not declared", key)
		}
	}
}

package poller

import (
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// P2, X1: inline comments of before the last look of a release that did not read
// them are old; later ones, and what was said elsewhere, are sent.
func TestInlineCommentsOfBeforeTheImport(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.cycle()
	w.take()
	rec := w.records[ref.Key()]
	rec.Item.InlineUntil = w.now.Add(2 * time.Second)
	w.records[ref.Key()] = rec

	say := func(surface workitem.Surface, body string) string {
		id := w.say(ref, "octocat", body) + "-" + body
		thread := w.src.threads[ref.Key()]
		last := &thread[len(thread)-1]
		last.ID, last.Surface = id, surface
		return id
	}
	old := say(workitem.Inline, "old")           // one second later
	plain := say(workitem.Conversation, "plain") // two
	late := say(workitem.Inline, "new")          // three
	if r := w.cycle(); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	w.want(ref, old, record.Baselined, record.Late)
	w.want(ref, plain, record.Pending, "")
	w.want(ref, late, record.Pending, "")
}

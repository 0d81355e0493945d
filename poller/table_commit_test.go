package poller

import (
	"errors"
	"reflect"
	"testing"

	"theloop/record"
	"theloop/workitem"
)

// The table's part about the commit (F7).
var commitRules = []rule{
	{
		name: "nobody wrote the record while it was decided", when: possible(byRevision.is("fresh")),
		text: "What changes is committed in one transaction; then the effects are queued and the events told.",
	},
	{
		name: "the record changed while it was decided, or that of a pull request's target did", when: possible(byRevision.is("stale")),
		text: "Nothing is committed, queued or told; everything is read and decided again. A decision that changes nothing needs no commit.",
	},
}

// tryCommit lets a Poller decide a situation, with somebody else's commit between
// the reading and its own.
func tryCommit(t *testing.T, c cell) {
	s := situate(c)
	w := newWorld(t)
	w.now = noon
	settings := w.poller.Settings()
	settings.Policy = s.facts.Policy
	w.poller.Settings = func() Settings { return settings }
	w.poller.room = 1
	mine, target := s.item.Ref, s.facts.Target.Ref
	w.records[mine.Key()] = s.rec
	session := mine
	if s.facts.Target.Elsewhere() {
		session = target
		w.records[target.Key()] = s.facts.Target.Record
	}
	w.panes[session.Key()] = s.facts.Pane
	for id := range s.facts.Held {
		w.held[session.Key()] = append(w.held[session.Key()], id)
	}
	v := visit{src: w.src, item: s.item, unlisted: s.facts.Unlisted, links: &workitem.Links{Closes: []workitem.Ref{issue(1)}}}
	to, _, err := w.poller.route(t.Context(), v, s.rec)
	if err != nil {
		t.Fatal(err)
	}
	stale := c.get(byRevision) == "stale"
	if stale {
		written := mine
		if to.Elsewhere() && c[byBody.at]%2 == 0 {
			written = target
		}
		w.poller.Failpoint = func(name string) {
			if name == "decided" {
				w.elsewhere(written)
			}
		}
	}
	before := w.records[mine.Key()]
	err = w.poller.settleOnce(t.Context(), v, s.thread, &Report{})
	switch {
	case !stale && err != nil:
		t.Errorf("%s: %v", c, err)
	case stale && err == nil && w.commits > 0, stale && err != nil && !errors.Is(err, record.ErrChanged):
		t.Errorf("%s: %d commits, %v", c, w.commits, err)
	case stale && err != nil && (len(w.queued)+len(w.notices)+len(w.events) > 0 || w.commits > 0):
		t.Errorf("%s: queued %v and told of %v", c, w.queued, w.events)
	}
	if after := w.records[mine.Key()]; stale {
		after.Item.Rev = before.Item.Rev
		if !reflect.DeepEqual(after, before) {
			t.Errorf("%s: the record was written to", c)
		}
	}
}

// elsewhere is a commit of somebody else that leaves nothing but its revision.
func (w *world) elsewhere(ref workitem.Ref) {
	rec := w.records[ref.Key()]
	rec.Item.Rev++
	w.records[ref.Key()] = rec
}

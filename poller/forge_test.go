package poller

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"theloop/record"
	"theloop/workitem"
)

// forge is a tracker that has pull requests.
type forge struct {
	*tracker
	links map[string]workitem.Links
	asked int
	err   error
}

func (f *forge) Links(_ context.Context, item workitem.Item) (workitem.Links, error) {
	f.asked++
	return f.links[item.Ref.Key()], f.err
}

func (f *forge) Closing(_ context.Context, refs []workitem.Ref) (found []workitem.Linked, err error) {
	for _, item := range f.items {
		l := f.links[item.Ref.Key()]
		closes := slices.ContainsFunc(l.Closes, func(r workitem.Ref) bool { return slices.Contains(refs, r) })
		if item.Kind == workitem.PullRequest && item.State == workitem.Open && closes {
			found = append(found, workitem.Linked{Item: item, Links: l})
		}
	}
	return found, f.err
}

// forged makes the world's tracker one that has pull requests.
func (w *world) forged() *forge {
	f := &forge{tracker: w.src, links: map[string]workitem.Links{}}
	w.poller.Sources = []Source{f}
	return f
}

// pull adds an open pull request; its comments are numbered apart.
func (w *world) pull(f *forge, n int, author string, links workitem.Links) workitem.Ref {
	ref := w.open(n, author)
	w.set(ref, func(i *workitem.Item) { i.Kind = workitem.PullRequest })
	f.links[ref.Key()] = links
	return ref
}

// review leaves a comment on a pull request.
func (w *world) review(ref workitem.Ref, author, body string) string {
	id := w.say(ref, author, body)
	thread := w.src.threads[ref.Key()]
	c := &thread[len(thread)-1]
	c.ID, c.Surface = "r"+id, workitem.Review
	return c.ID
}

// reviewed is an item with a live session, and a pull request of the agent's that
// closes it.
func reviewed(t *testing.T) (w *world, f *forge, item, pull workitem.Ref) {
	w = newWorld(t)
	f = w.forged()
	item = w.started()
	pull = w.pull(f, 7, "octocat", workitem.Links{Closes: []workitem.Ref{item}})
	w.cycle()
	w.take()
	return w, f, item, pull
}

// wantFor checks what is queued: on which item it is counted, for whose session.
func (w *world) wantFor(want ...string) {
	w.t.Helper()
	var got []string
	for _, e := range w.queued {
		lane := e.Session
		if lane.Zero() {
			lane = e.Ref
		}
		got = append(got, fmt.Sprintf("%s %s: #%d for #%d", e.Kind, e.ID, e.Ref.Number, lane.Number))
	}
	if w.take(); !slices.Equal(got, want) {
		w.t.Errorf("queued %q, want %q", got, want)
	}
}

// X4, P3: a cleanup that is said on a pull request forgets the closed conversation
// of its issue at once, whose own turn may be long in coming: a start that is said
// behind it begins afresh.
func TestACleanupOnAPullRequestDropsTheClosedRow(t *testing.T) {
	w, _, item, pull := reviewed(t)
	w.change(item, record.SetStatus{Status: record.Shut, At: w.now})
	w.pane(item, record.PaneDead, "life-1")
	w.cycle()
	w.take()
	w.review(pull, "octocat", "the-loop cleanup")
	w.cycle()
	if s := w.records[item.Key()].Session; s != nil {
		t.Errorf("the row is still there: %+v", s)
	}
}

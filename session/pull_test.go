package session

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// octoPull is the agent's pull request for octoItem.
func octoPull() workitem.Item {
	ref := octoRef
	ref.Number = 21
	return workitem.Item{
		Ref: ref, Kind: workitem.PullRequest, URL: "https://github.com/octo/repo/pull/21", Title: "Fix the login",
		Body: "Closes #15.", Author: workitem.Author{Login: "the-agent"}, CreatedAt: noon,
	}
}

// said is a comment some minutes after noon.
func said(id, author, body string, minutes int) workitem.Comment {
	c := octoComment(id, author, body)
	c.CreatedAt = noon.Add(time.Duration(minutes) * time.Minute)
	return c
}

// D10: the first prompt that a pull request's comment begins tells the issue whose
// session it is, and the pull request as the place where the comment stands.
func TestGoldenPromptOfAPullRequest(t *testing.T) {
	pull := octoPull()
	a := octoAsk()
	a.ref = pull.Ref
	a.comment = &workitem.Comment{
		ID: "PRRC_1", Author: workitem.Author{Login: "hubot"}, Body: "rename this", CreatedAt: noon.Add(time.Duration(9) * time.Minute),
		Surface: workitem.Inline, Path: "cmd/main.go", Line: 7, URL: "https://github.com/octo/repo/pull/21#discussion_r1",
	}
	a.deliveryID = "poll-comment-PRRC_1"
	a.story.Pull = &pull
	got, err := newPrompter().first(a, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "first-pull.golden", got)
}

// A5: a pull request leaves what is said on it the room that it has.
func TestAPullRequestTakesNoRoom(t *testing.T) {
	pull := octoPull()
	pull.Title, pull.Body = strings.Repeat("\x1b", 4<<10), strings.Repeat("\x1b", 1<<20)
	a := octoAsk()
	a.story.Pull = &pull
	a.comment.Body = strings.Repeat("\x1b", 16<<10)
	prompt, err := newPrompter().first(a, Settings{})
	if err != nil || TooLong(a.comment.Body) {
		t.Fatal(err)
	}
	if d := data(t, prompt); d.Event.Text != a.comment.Body || d.PullRequest.OmittedBytes != 1<<20 {
		t.Errorf("the event has %d bytes, %d are left out of the pull request", len(d.Event.Text), d.PullRequest.OmittedBytes)
	}
}

// reviewed is a pull request's comment that is to go into a session that is not
// there; tell is what reads the issue.
func reviewed(t *testing.T, tell func(context.Context, workitem.Ref, record.Record) (Story, error)) (*world, Delivery) {
	w := newWorld(t)
	w.host.Tell = tell
	pull, c := octoPull(), said("PRRC_1", "octocat", "rename this", 9)
	w.ledger.put(pull.Ref, record.Observe{Item: pull}, record.FirstSeen{At: noon},
		record.PutLink{Link: record.Link{Target: octoRef.String()}}, record.Hold{Note: record.NoteOf(c)}, queue(c.ID))
	return w, Delivery{Ref: pull.Ref, Session: octoRef, DeliveryID: "poll-comment-PRRC_1", Comment: c, Story: Story{
		Item: pull, Thread: []workitem.Comment{said("PRR_1", "octocat", "two things", 3), said("PRR_2", "mallory", "delete it", 5)},
	}}
}

// D10, P3: a conversation that begins with a pull request's comment is told of its
// issue, and of what was said on both, in the order in which it was said.
func TestAConversationThatAPullRequestBegins(t *testing.T) {
	asked := 0
	w, d := reviewed(t, func(_ context.Context, ref workitem.Ref, rec record.Record) (Story, error) {
		asked++
		if ref != octoRef || rec.Item.Ref != octoRef.String() {
			t.Errorf("asked for %s with the record of %s", ref, rec.Item.Ref)
		}
		return Story{Item: octoItem(), Thread: []workitem.Comment{said("IC_1", "hubot", "use Postgres", 1), said("IC_2", "hubot", "in Go", 4)}}, nil
	})
	if got := w.host.Deliver(t.Context(), d); got != Done || asked != 1 || len(w.tmux.panes) != 1 {
		t.Fatalf("%s, asked %d times", got, asked)
	}
	e := data(t, w.tmux.panes[0].told[0])
	if e.WorkItem != octoRef.String() || e.Item.Title != octoItem().Title || e.Event.Text != "rename this" {
		t.Errorf("told of %s: %+v", e.WorkItem, e.Item)
	}
	if p := e.PullRequest; p == nil || p.URL != octoPull().URL || p.Title != octoPull().Title || p.Authorized || p.Text != "" {
		t.Errorf("the pull request: %+v", p)
	}
	var thread []string
	for _, c := range e.Thread {
		thread = append(thread, c.Text)
	}
	if got := strings.Join(thread, ", "); got != "use Postgres, two things, in Go" || e.Withheld != 1 {
		t.Errorf("the thread: %s; %d withheld", got, e.Withheld)
	}
}

// D10: what is said to a session that lives, or goes on, needs no more than the
// event: nothing is read for it.
func TestAConversationThatGoesOnIsNotRead(t *testing.T) {
	for name, before := range map[string]func(*world){
		"it lives":   func(w *world) { w.live() },
		"it resumes": func(w *world) { w.tmux.die(w.live(), "exit 0", true) },
	} {
		t.Run(name, func(t *testing.T) {
			w, d := reviewed(t, func(context.Context, workitem.Ref, record.Record) (Story, error) {
				t.Error("the issue was read")
				return Story{}, nil
			})
			before(w)
			if got := w.host.Deliver(t.Context(), d); got != Done {
				t.Error(got)
			}
		})
	}
}

// B1, D4: a tracker that does not answer costs nothing; the next decision has the
// same attempt.
func TestAnIssueThatCannotBeReadCostsNothing(t *testing.T) {
	w, d := reviewed(t, func(context.Context, workitem.Ref, record.Record) (Story, error) { return Story{}, errors.New("502") })
	got := w.host.Deliver(t.Context(), d)
	if row := w.ledger.row(d.Ref, "PRRC_1"); got != Unknown || row.Phase() != record.Queued || row.Attempts != 1 || len(w.tmux.panes) != 0 {
		t.Errorf("%s, %+v, %d panes", got, row, len(w.tmux.panes))
	}
	w.host.Tell = func(context.Context, workitem.Ref, record.Record) (Story, error) { return Story{Item: octoItem()}, nil }
	if got := w.host.Deliver(t.Context(), d); got != Done || w.ledger.row(d.Ref, "PRRC_1").Attempts != 1 {
		t.Errorf("then %s", got)
	}
}

// B8: the start of a pull request's comment rests on the record of the session: an
// older comment of the issue that becomes pending on its way holds it back, and the
// attempt comes back. On another pull request it is seen too late, and comes next.
func TestAnOlderCommentOnItsWay(t *testing.T) {
	older := said("IC_7", "octocat", "first this", 2)
	hold := record.Hold{Note: record.NoteOf(older)}
	for name, c := range map[string]struct {
		on   workitem.Ref
		want Result
	}{
		"of the issue":            {octoRef, Dropped},
		"of another pull request": {octo(22), Done},
	} {
		t.Run(name, func(t *testing.T) {
			w, d := reviewed(t, nil)
			p := w.live()
			w.ledger.put(octo(22), record.Observe{Item: workitem.Item{Ref: octo(22), Kind: workitem.PullRequest}}, record.FirstSeen{At: noon},
				record.PutLink{Link: record.Link{Target: octoRef.String()}})
			decided := w.host.Admit
			w.host.Admit = func(a Admission) ([]record.Change, bool) {
				changes, ok := decided(a)
				for _, rec := range a.Others {
					if len(rec.Comments.Pending()) > 0 {
						return []record.Change{record.Release{Comment: a.Start.Comment, DeliveryID: d.DeliveryID}}, false
					}
				}
				return changes, ok
			}
			w.ledger.before = once(isStart, func() error {
				w.ledger.put(c.on, hold)
				return nil
			})
			got := w.host.Deliver(t.Context(), d)
			row, _ := w.ledger.get(d.Ref).Comments.Get("PRRC_1")
			if got != c.want || len(p.told) != map[Result]int{Dropped: 0, Done: 1}[c.want] || (row.Attempts == 0) != (c.want == Dropped) {
				t.Errorf("%s, told %q, %+v", got, p.told, row)
			}
		})
	}
}

// X6, D10: a conversation is told what was said on its item's pull requests, the
// words of the start among them; one that cannot be read keeps nobody waiting.
func TestAConversationIsToldOfItsPullRequests(t *testing.T) {
	w := newWorld(t)
	for _, n := range []int{21, 22} {
		w.ledger.put(octo(n), record.Observe{Item: workitem.Item{Ref: octo(n), Kind: workitem.PullRequest}}, record.FirstSeen{At: noon},
			record.PutLink{Link: record.Link{Target: octoRef.String()}})
	}
	w.host.Tell = func(_ context.Context, ref workitem.Ref, rec record.Record) (Story, error) {
		switch {
		case rec.Item.Ref != ref.String():
			t.Errorf("%s was read with the record of %s", ref, rec.Item.Ref)
		case ref == octo(22):
			return Story{}, errors.New("502")
		}
		return Story{Thread: []workitem.Comment{said("PRR_1", "octocat", "the-loop start, and use Postgres", 2), said("PRR_2", "mallory", "mine", 3)}}, nil
	}
	w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
	story := Story{Item: octoItem(), Thread: []workitem.Comment{said("IC_1", "hubot", "before", 1), said("IC_2", "hubot", "after", 4)}}
	if got := w.host.Spawn(t.Context(), Spawn{Ref: octoRef, DeliveryID: "poll-spawn-1", Story: story}); got != Done {
		t.Fatal(got)
	}
	e := data(t, w.tmux.panes[0].told[0])
	var thread []string
	for _, c := range e.Thread {
		thread = append(thread, c.Text)
	}
	if got := strings.Join(thread, "; "); got != "before; the-loop start, and use Postgres; after" || e.Withheld != 1 || e.WorkItem != octoRef.String() {
		t.Errorf("told of %s: %s; %d withheld", e.WorkItem, got, e.Withheld)
	}
}

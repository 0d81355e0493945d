package session

import (
	"context"
	"strings"
	"testing"

	"theloop/record"
	"theloop/workitem"
)

// begun is an item whose start, with other words beside it, is owed its session.
// The start stands on the item, or on its pull request 21.
func begun(t *testing.T, on workitem.Ref) (*world, Spawn, workitem.Comment) {
	w := newWorld(t)
	start := said("IC_1", "octocat", "the-loop start, and use Postgres", 1)
	done := record.Settle{Note: record.NoteOf(start), Outcome: record.ControlExecuted, Command: "start"}
	pull := octoPull()
	w.ledger.put(pull.Ref, record.Observe{Item: pull}, record.FirstSeen{At: noon}, record.PutLink{Link: record.Link{Target: octoRef.String()}})
	w.ledger.put(on, done)
	w.ledger.put(octoRef,
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat", Note: start.URL}},
		record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
	s := Spawn{Ref: octoRef, DeliveryID: "poll-spawn-1", Story: Story{Item: octoItem(), Thread: []workitem.Comment{said("IC_0", "hubot", "before", 0)}}}
	theirs := Story{Item: pull, Thread: []workitem.Comment{said("PRR_1", "hubot", "nearly there", 0)}}
	if on == octoRef {
		s.Story.Thread = append(s.Story.Thread, start)
	} else {
		theirs.Thread = append(theirs.Thread, start)
	}
	w.host.Tell = func(context.Context, workitem.Ref, record.Record) (Story, error) { return theirs, nil }
	return w, s, start
}

// spawn brings the session up and returns what it is told.
func (w *world) spawn(s Spawn) string {
	w.t.Helper()
	if got := w.host.Spawn(w.t.Context(), s); got != Done {
		w.t.Fatal(got)
	}
	told := w.tmux.panes[len(w.tmux.panes)-1].told
	return told[len(told)-1]
}

// X6, D10: a start that brings a session up carries its comment in what that is
// told first, whether it begins a conversation or goes on with one, and wherever
// it was said; once.
func TestAStartCarriesItsWords(t *testing.T) {
	for name, on := range map[string]workitem.Ref{"on the item": octoRef, "on its pull request": octoPull().Ref} {
		t.Run(name, func(t *testing.T) {
			w, s, start := begun(t, on)
			prompt := w.spawn(s)
			e := data(t, prompt)
			if e.Event == nil || e.Event.Text != start.Body || !e.Event.Authorized || strings.Count(prompt, "use Postgres") != 1 {
				t.Errorf("it begins: %+v\n%s", e.Event, prompt)
			}
			if len(e.Thread) != 2 || (e.PullRequest != nil) != (on != octoRef) || e.Item.Title != octoItem().Title {
				t.Errorf("it begins: thread %+v, pull request %+v", e.Thread, e.PullRequest)
			}
		})
		t.Run(name+", and it goes on", func(t *testing.T) {
			w, s, start := begun(t, on)
			w.tmux.die(w.live(), "exit 0", true)
			prompt := w.spawn(s)
			if e := data(t, prompt); e.Event == nil || e.Event.Text != start.Body || e.Item != nil || !strings.Contains(prompt, "issue_comment") {
				t.Errorf("it goes on: %+v\n%s", e.Event, prompt)
			}
		})
	}
}

// A6, A5, X4: a start that was edited since, is too long, is somebody else's, or
// was given on this machine is not what is said.
func TestWhatIsNotTheStart(t *testing.T) {
	for name, edit := range map[string]func(w *world, c *workitem.Comment){
		"edited":    func(_ *world, c *workitem.Comment) { c.Body = "the-loop start, and delete it all" },
		"another's": func(_ *world, c *workitem.Comment) { c.Author.Login = "hubot" },
		"too long": func(w *world, c *workitem.Comment) {
			c.Body = strings.Repeat("x", MaxText+1)
			w.ledger.put(octoRef, record.Settle{Note: record.NoteOf(said("IC_9", "octocat", c.Body, 2)), Outcome: record.ControlExecuted})
			c.ID = "IC_9"
		},
		"given here": func(w *world, _ *workitem.Comment) {
			w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "start", Source: "cli"}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, s, _ := begun(t, octoRef)
			edit(w, &s.Story.Thread[1])
			if e := data(t, w.spawn(s)); e.Event != nil || len(e.Thread) != 3 {
				t.Errorf("told %+v, thread %d", e.Event, len(e.Thread))
			}
		})
	}
}

// X6, D10: a comment behind a start brings its session up in the start's place; the
// words beside the start are told all the same, once, whether a conversation begins or
// goes on, or was to go on and could not. A start that was served is not told again.
func TestAStartCarriesItsWordsBesideAnother(t *testing.T) {
	for name, c := range map[string]struct {
		on     workitem.Ref
		goesOn bool
		served bool
		count  int
	}{
		"it begins":                         {octoRef, false, false, 1},
		"it goes on":                        {octoRef, true, false, 1},
		"it goes on, from its pull request": {octoPull().Ref, true, false, 1},
		"it goes on, and was served":        {octoRef, true, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w, s, start := begun(t, c.on)
			if c.goesOn {
				w.tmux.die(w.live(), "exit 0", true) // and it counts as served
			}
			if !c.served {
				w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat", Note: start.URL}})
			}
			also := said("IC_2", "octocat", "and mind the tests", 2)
			w.ledger.put(octoRef, record.Hold{Note: record.NoteOf(also)}, queue(also.ID))
			d := w.delivery(also)
			d.Story = s.Story
			if got := w.host.Deliver(t.Context(), d); got != Done {
				t.Fatal(got)
			}
			told := w.tmux.panes[len(w.tmux.panes)-1].told
			prompt := told[len(told)-1]
			e := data(t, prompt)
			if e.Event == nil || e.Event.Text != also.Body || strings.Count(prompt, "use Postgres") != c.count || (e.Item != nil) == c.goesOn {
				t.Errorf("it is told %d times of %q:\n%s", strings.Count(prompt, "use Postgres"), start.Body, prompt)
			}
		})
	}
}

// A5, X6: a start whose own words are delivered, and bring its session up, is told once.
func TestAStartThatIsDeliveredIsToldOnce(t *testing.T) {
	w, s, start := begun(t, octoRef)
	w.tmux.die(w.live(), "exit 0", true)
	start.ID, start.URL = "IC_3", "https://github.com/octo/repo/issues/15#IC_3"
	w.ledger.put(octoRef,
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat", Note: start.URL}},
		record.Hold{Note: record.NoteOf(start), Command: "start"}, queue(start.ID))
	d := w.delivery(start)
	d.Story.Thread = append(s.Story.Thread, start)
	if got := w.host.Deliver(t.Context(), d); got != Done {
		t.Fatal(got)
	}
	told := w.tmux.panes[len(w.tmux.panes)-1].told
	if prompt := told[len(told)-1]; strings.Count(prompt, start.URL) != 1 {
		t.Errorf("told:\n%s", prompt)
	}
}

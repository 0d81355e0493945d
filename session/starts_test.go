package session

import (
	"context"
	"strings"
	"testing"

	"theloop/record"
	"theloop/workitem"
)

// startAt is a start with words that was said some minutes past noon and obeyed, on an
// item; the session ended, or was last heard of, at noon.
func (w *world) startAt(on workitem.Ref, id, author, command string, minutes int) workitem.Comment {
	w.t.Helper()
	c := said(id, author, "the-loop "+command+", "+id, minutes)
	w.ledger.put(on, record.Settle{Note: record.NoteOf(c), Outcome: record.ControlExecuted, Command: command})
	return c
}

// restarted is an item whose session has ended and was started by the comment, or by
// the operator when there is none.
func restarted(t *testing.T) (w *world, start func(*workitem.Comment)) {
	w = newWorld(t)
	w.tmux.die(w.live(), "exit 0", true)
	s := *w.ledger.get(octoRef).Session
	s.LastEventAt = noon
	pull := octoPull()
	w.ledger.put(pull.Ref, record.Observe{Item: pull}, record.FirstSeen{At: noon}, record.PutLink{Link: record.Link{Target: octoRef.String()}})
	return w, func(c *workitem.Comment) {
		control := record.Control{Command: "start", Source: "cli"}
		if c != nil {
			control = record.Control{Command: "start", Source: "comment", Actor: c.Author.Login, Note: c.URL}
		}
		w.ledger.put(octoRef, record.PutSession{Session: s}, record.Command{Control: control})
	}
}

func texts(of []parsedText) (out []string) {
	for _, c := range of {
		out = append(out, string(c.Text))
	}
	return out
}

func sameTexts(got []parsedText, want ...string) bool {
	is := texts(got)
	if len(is) != len(want) {
		return false
	}
	for i := range is {
		if is[i] != want[i] {
			return false
		}
	}
	return true
}

// X6, D10: of several starts that were said before a session came up again each has its
// words in what the conversation that goes on is told, in the order of the thread, also
// where one stands on a pull request; none that was heard before, that a stop or a pause
// has taken back, that was edited since, or whose author is not listed any more.
func TestEachStartCarriesItsWords(t *testing.T) {
	w, start := restarted(t)
	pull := octoPull()
	thread := []workitem.Comment{
		w.startAt(octoRef, "IC_2", "octocat", "start", 1),
		w.startAt(octoRef, "IC_4", "octocat", "start", 3),
		said("IC_5", "octocat", "beside the point", 4),
		w.startAt(octoRef, "IC_6", "mallory", "start", 5),
		w.startAt(octoRef, "IC_7", "octocat", "start", 6),
		said("IC_8", "octocat", "the-loop start"+strings.Repeat("!", MaxText), 6),
		w.startAt(octoRef, "IC_10", "octocat", "start", 8),
	}
	thread[4].Body = "the-loop start, and delete it all"
	w.ledger.put(octoRef,
		record.Settle{Note: record.NoteOf(thread[2]), Outcome: record.AwaitingStart},
		record.Settle{Note: record.NoteOf(thread[5]), Outcome: record.ControlExecuted, Command: "start"})
	theirs := []workitem.Comment{
		w.startAt(pull.Ref, "PRR_3", "octocat", "pause", 2), // takes what was said before it back
		w.startAt(pull.Ref, "PRR_9", "octocat", "do", 7),
	}
	w.host.Tell = func(context.Context, workitem.Ref, record.Record) (Story, error) {
		return Story{Item: pull, Thread: theirs}, nil
	}
	start(&thread[6])
	w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
	e := data(t, w.spawn(Spawn{Ref: octoRef, DeliveryID: "poll-spawn-1", Story: Story{Item: octoItem(), Thread: thread}}))
	if e.Event == nil || e.Event.Text != "the-loop start, IC_10" || !sameTexts(e.Thread, "the-loop start, IC_4", "the-loop do, PRR_9") {
		t.Errorf("told %+v and %q", e.Event, texts(e.Thread))
	}
}

// D10: what a session has heard of before it ended is not told again, and the starts
// stand in the order in which they were said.
func TestAStartIsToldInItsOrder(t *testing.T) {
	w, start := restarted(t)
	thread := []workitem.Comment{
		w.startAt(octoRef, "IC_1", "octocat", "start", -1), // the session came up behind it
		w.startAt(octoRef, "IC_2", "octocat", "start", 1),
		w.startAt(octoRef, "IC_3", "octocat", "start", 2),
	}
	start(&thread[1]) // an edit brought the command last
	w.host.Tell = func(context.Context, workitem.Ref, record.Record) (Story, error) {
		t.Error("a tracker was asked for what has no commands")
		return Story{}, nil
	}
	w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
	also := w.queued("IC_4")
	d := w.delivery(also)
	d.Story.Thread = thread
	if got := w.host.Deliver(t.Context(), d); got != Done {
		t.Fatal(got)
	}
	told := w.tmux.panes[0].told
	if e := data(t, told[len(told)-1]); !sameTexts(e.Thread, "the-loop start, IC_2", "the-loop start, IC_3") {
		t.Errorf("told %q", texts(e.Thread))
	}
}

// The same beside a comment that brings the session up, on the item or on its pull
// request.
func TestEachStartCarriesItsWordsBesideAnother(t *testing.T) {
	for name, on := range map[string]workitem.Ref{"on the item": octoRef, "on its pull request": octoPull().Ref} {
		t.Run(name, func(t *testing.T) {
			w, start := restarted(t)
			thread := []workitem.Comment{
				w.startAt(octoRef, "IC_1", "octocat", "start", 1),
				w.startAt(octoRef, "IC_2", "octocat", "start", 2),
			}
			story := Story{Item: octoItem(), Thread: thread}
			w.host.Tell = func(context.Context, workitem.Ref, record.Record) (Story, error) { return story, nil }
			start(&thread[1])
			also := said("IC_3", "octocat", "and mind the tests", 3)
			w.ledger.put(on, record.Hold{Note: record.NoteOf(also)}, queue(also.ID))
			d := w.delivery(also)
			d.Ref, d.Session, d.Story = on, octoRef, story
			if on != octoRef {
				d.Story = Story{Item: octoPull()}
			}
			if got := w.host.Deliver(t.Context(), d); got != Done {
				t.Fatal(got)
			}
			told := w.tmux.panes[0].told
			e := data(t, told[len(told)-1])
			if e.Event == nil || e.Event.Text != also.Body || !sameTexts(e.Thread, "the-loop start, IC_1", "the-loop start, IC_2") {
				t.Errorf("told %+v and %q", e.Event, texts(e.Thread))
			}
		})
	}
}

// A start that the operator gave says nothing itself: what was said beside those before
// it is what the conversation hears. What begins afresh has all of them in its thread,
// once.
func TestAStartGivenHereCarriesTheWordsBeforeIt(t *testing.T) {
	for name, afresh := range map[string]bool{"it goes on": false, "it was to go on, and could not": true} {
		t.Run(name, func(t *testing.T) {
			w, start := restarted(t)
			thread := []workitem.Comment{
				w.startAt(octoRef, "IC_1", "octocat", "start", 1),
				w.startAt(octoRef, "IC_2", "octocat", "start", 2),
			}
			start(nil)
			w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
			if afresh {
				w.tmux.exit = []string{"exit 1", ""}
			}
			e := data(t, w.spawn(Spawn{Ref: octoRef, DeliveryID: "poll-spawn-1", Story: Story{Item: octoItem(), Thread: thread}}))
			if afresh {
				if e.Event != nil || !sameTexts(e.Thread, "the-loop start, IC_1", "the-loop start, IC_2") {
					t.Errorf("told %+v and %q", e.Event, texts(e.Thread))
				}
			} else if e.Event == nil || e.Event.Text != "the-loop start, IC_2" || !sameTexts(e.Thread, "the-loop start, IC_1") {
				t.Errorf("told %+v and %q", e.Event, texts(e.Thread))
			}
		})
	}
}

// D10: a start that had its session is not told again to the one that a comment brings
// back.
func TestStartsThatWereHeardAreNotToldAgain(t *testing.T) {
	w, start := restarted(t)
	thread := []workitem.Comment{w.startAt(octoRef, "IC_1", "octocat", "start", 1), w.startAt(octoRef, "IC_2", "octocat", "start", 2)}
	start(&thread[1])
	w.ledger.put(octoRef, record.Serve{})
	also := w.queued("IC_3")
	d := w.delivery(also)
	d.Story.Thread = thread
	if got := w.host.Deliver(t.Context(), d); got != Done {
		t.Fatal(got)
	}
	told := w.tmux.panes[0].told
	if e := data(t, told[len(told)-1]); len(e.Thread) != 0 {
		t.Errorf("told %q", texts(e.Thread))
	}
}

package poller

import (
	"slices"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// twoItems is an item with a session, and its pull request.
type twoItems struct {
	*world
	item, pull workitem.Ref
}

// number gives an account's comments the number that trackers tell.
func (w *twoItems) number(ref workitem.Ref, edit ...func(*workitem.Comment)) {
	thread := w.src.threads[ref.Key()]
	c := &thread[len(thread)-1]
	c.Author.ID = 7
	for _, e := range edit {
		e(c)
	}
}

func (w *twoItems) recorded() string { return w.records[w.item.Key()].Item.Control.Command }

// onBoth says one command on the item and a later one on its pull request, with the
// pull request listed first or last.
func onBoth(t *testing.T, pullFirst bool, early, late string, edit ...func(*workitem.Comment)) *twoItems {
	world, _, item, pull := reviewed(t)
	w := &twoItems{world, item, pull}
	w.say(item, "octocat", early)
	w.number(item, edit...)
	w.review(pull, "octocat", late)
	w.number(pull)
	if pullFirst {
		slices.Reverse(w.src.items)
	}
	w.cycle()
	return w
}

// I6, P3: of the commands on an item and on its pull request the one that was said
// last wins, whichever item is listed first.
func TestTheLastCommandOfASessionWins(t *testing.T) {
	for _, c := range []struct{ early, late, wins string }{
		{"the-loop start", "the-loop pause", "pause"},
		{"the-loop pause", "the-loop start", "start"},
		{"the-loop stop", "the-loop start", "start"},
		{"the-loop start, and use Go", "the-loop stop", "stop"},
		{"the-loop do", "the-loop start", "start"},
	} {
		for _, pullFirst := range []bool{false, true} {
			w := onBoth(t, pullFirst, c.early, c.late)
			if got := w.recorded(); got != c.wins {
				t.Errorf("%s, then %s on the pull request (listed first: %v): %s is recorded", c.early, c.late, pullFirst, got)
			}
			w.cycle()
			if got := w.recorded(); got != c.wins {
				t.Errorf("%s, then %s: %s is recorded a cycle later", c.early, c.late, got)
			}
		}
	}
}

// I2, X6: a command that was overtaken is settled, and an event says why; the words
// beside a start are heard where the later command lets the session run.
func TestAnOvertakenCommandIsTold(t *testing.T) {
	w := onBoth(t, true, "the-loop start, and use Go", "the-loop pause")
	w.want(w.item, "c2", record.Settled, record.ControlRejected)
	if w.told("control.rejected") != 1 {
		t.Errorf("told of %v", w.events)
	}
	for _, e := range w.events {
		if e.Name == "control.rejected" && (e.Fields["reason"] != "superseded" || e.Fields["command"] != "start" || e.Fields["actor"] != "octocat") {
			t.Errorf("told %v", e.Fields)
		}
	}
	w.wantFor()
	w = onBoth(t, true, "the-loop start, and use Go", "the-loop start")
	w.wantFor("deliver poll-comment-c2: #1 for #1")
	if c := w.records[w.item.Key()].Item.Control; w.told("control.rejected") != 0 || !c.RequestedAt.Equal(w.src.threads[w.pull.Key()][0].CreatedAt) {
		t.Errorf("told of %v, recorded %+v", w.events, c)
	}
}

// What is not known to be older is obeyed when it is read: times of one second, an
// edit, the draft of an inline comment, a command of the operator's or of an import,
// which carry a machine's clock, one of another tracker, and one of somebody who is
// not listed any more.
func TestWhatIsNotKnownToBeOlderIsObeyed(t *testing.T) {
	for name, edit := range map[string]func(*twoItems, *workitem.Comment, *record.Control){
		"the same second":   func(_ *twoItems, c *workitem.Comment, last *record.Control) { last.RequestedAt = c.CreatedAt },
		"an edit":           func(w *twoItems, c *workitem.Comment, _ *record.Control) { c.UpdatedAt = w.now.Add(time.Minute) },
		"an inline comment": func(_ *twoItems, c *workitem.Comment, _ *record.Control) { c.Surface = workitem.Inline },
		"the operator's": func(_ *twoItems, _ *workitem.Comment, last *record.Control) {
			*last = record.Control{Command: "start", Source: cli, RequestedAt: last.RequestedAt, Served: true}
		},
		"an import's": func(_ *twoItems, _ *workitem.Comment, last *record.Control) { last.ActorID = 0 },
		"another tracker's": func(_ *twoItems, _ *workitem.Comment, last *record.Control) {
			last.Note = "https://ghe.example/o/r/pull/7#c"
		},
		"no link":        func(_ *twoItems, c *workitem.Comment, last *record.Control) { c.URL, last.Note = "", "" },
		"not listed now": func(_ *twoItems, _ *workitem.Comment, last *record.Control) { last.Actor = "mallory" },
		"as it is":       nil,
	} {
		t.Run(name, func(t *testing.T) {
			world, _, item, pull := reviewed(t)
			w := &twoItems{world, item, pull}
			last := record.Control{
				Command: "start", Source: "comment", Actor: "octocat", ActorID: 7, Served: true,
				RequestedAt: w.now.Add(time.Minute), Note: "https://github.com/octo/repo/pull/7#c",
			}
			w.say(item, "octocat", "the-loop pause")
			w.number(item)
			if edit != nil {
				edit(w, &w.src.threads[item.Key()][1], &last)
			}
			w.change(item, record.Command{Control: last})
			w.cycle()
			if got := w.recorded(); (got == "pause") != (edit != nil) {
				t.Errorf("%s is recorded", got)
			}
		})
	}
}

// X6: a comment that waits and is edited into a command is obeyed, however old it is.
func TestAnEditedCommentIsNotOvertaken(t *testing.T) {
	world, _, item, pull := reviewed(t)
	w := &twoItems{world, item, pull}
	id := w.say(item, "octocat", "a wish")
	w.number(item)
	w.cycle()
	w.review(pull, "octocat", "the-loop start")
	w.number(pull)
	w.cycle()
	w.want(item, id, record.Pending, "")
	w.src.threads[item.Key()][1].Body = "the-loop stop"
	w.touch(item)
	w.cycle()
	if got := w.recorded(); got != "stop" {
		t.Errorf("%s is recorded", got)
	}
}

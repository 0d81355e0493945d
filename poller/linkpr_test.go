package poller

import (
	"errors"
	"strings"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// unlabelled is an item with a live session, and a pull request that nothing but
// a person's word connects with it.
func unlabelled(t *testing.T) (w *world, f *forge, item, pull workitem.Ref) {
	w = newWorld(t)
	f = w.forged()
	item = w.started()
	pull = w.pull(f, 7, "octocat", workitem.Links{})
	w.set(pull, func(i *workitem.Item) { i.Labelled = false })
	return w, f, item, pull
}

func (w *world) linkPull(item, pull workitem.Ref) (bool, error) {
	w.now = w.now.Add(time.Second)
	return LinkPull(w.t.Context(), w.poller.Options, item, pull)
}

// P3, X1, P1: a link by hand takes what was said since the session began at once,
// and what is said from then on, label or not; what strangers say it does not.
func TestAPullRequestIsLinkedByHand(t *testing.T) {
	w, _, item, pull := unlabelled(t)
	w.review(pull, "mallory", "and your keys")
	id := w.review(pull, "octocat", "please add a test")
	w.cycle()
	w.wantFor()
	if already, err := w.linkPull(item, pull); already || err != nil {
		t.Fatal(already, err)
	}
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
	link := w.records[pull.Key()].Link
	if link == nil || link.Target != item.String() || link.Source != "link-pr" || w.told("session.pr_linked") != 1 {
		t.Fatalf("recorded %+v, told %d times", link, w.told("session.pr_linked"))
	}
	w.deliver(pull, id)
	w.cycle() // it is found not to be listed
	w.unreadCycle()
	id = w.review(pull, "octocat", "and another")
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
	w.deliver(pull, id)
	if already, err := w.linkPull(item, pull); !already || err != nil {
		t.Errorf("a second time: %v, %v", already, err)
	}
	stop := w.review(pull, "octocat", "the-loop stop")
	w.cycle()
	w.want(pull, stop, record.Settled, record.ControlExecuted)
	w.wantFor("close close: #1 for #1")
}

// P1: without a session to hear it, one that is not listed waits for the resync.
func TestALinkToWhatHasNoSessionCostsNoRequests(t *testing.T) {
	w, _, item, pull := unlabelled(t)
	w.change(item, record.SetStatus{Status: record.Shut, At: w.now}, record.Command{Control: record.Control{Command: "stop"}})
	w.panes[item.Key()] = record.Pane{State: record.PaneAbsent}
	if _, err := w.linkPull(item, pull); err != nil {
		t.Fatal(err)
	}
	w.cycle()
	w.src.asked = nil
	w.cycle()
	if len(w.src.asked) != 0 {
		t.Errorf("asked for %q", w.src.asked)
	}
}

// P3: a person's word goes before what routing chose, and before a start that the
// pull request was given for itself.
func TestALinkByHandGoesBeforeOthers(t *testing.T) {
	w, _, item, pull := reviewed(t)
	other := w.open(2, "octocat")
	w.say(other, "octocat", "the-loop start")
	w.cycle()
	w.bringUp(other)
	alone := w.open(8, "octocat")
	w.set(alone, func(i *workitem.Item) { i.Kind = workitem.PullRequest })
	w.max = 0 // the start that it is given waits for room
	w.review(alone, "octocat", "the-loop start")
	w.cycle()
	w.max = 8
	w.change(alone, record.QueueSpawn{DeliveryID: "s", Run: "killed"})
	for _, at := range []workitem.Ref{alone, pull} {
		if _, err := w.linkPull(other, at); err != nil {
			t.Fatal(err)
		}
		id := w.review(at, "octocat", "a wish")
		w.cycle()
		if got := w.queued; len(got) != 1 || got[0].Session != other {
			t.Errorf("%s: queued %+v", at, got)
		}
		w.deliver(at, id)
	}
	if i := w.records[alone.Key()].Item; !i.Control.Served || i.Spawn.InHand() || i.Spawn.Attempts != 0 {
		t.Errorf("it is still owed a session of its own: %+v, %+v", i.Control, i.Spawn)
	}
	if link := w.records[pull.Key()].Link; link.Target != other.String() || item == other {
		t.Errorf("recorded %+v", link)
	}
}

// What cannot be linked is refused, with the reason, and nothing is recorded.
func TestALinkIsRefused(t *testing.T) {
	away := record.PutLink{Link: record.Link{Target: issue(3).String(), Source: "event"}}
	own := record.PutSession{Session: record.Session{Status: record.Active, Host: "here"}}
	for name, c := range map[string]struct {
		before func(w *world, item, pull workitem.Ref)
		item   int
		pull   int
		reason string
		says   string
	}{
		"to itself":                  {nil, 7, 7, "itself", "own session already"},
		"an issue":                   {nil, 7, 1, "no-pull-request", "#1 is no pull request"},
		"one that has ended":         {func(w *world, _, pull workitem.Ref) { w.end(pull) }, 1, 7, "ended", "#7 has ended"},
		"one that is open again":     {func(w *world, _, pull workitem.Ref) { w.cycle(); w.change(pull, record.End{At: w.now}) }, 1, 7, "ended", "open again"},
		"to what has ended":          {func(w *world, item, _ workitem.Ref) { w.change(item, record.End{At: w.now}) }, 1, 7, "ended", "#1 has ended"},
		"to what nobody has seen":    {nil, 9, 7, "unseen", "#9 was not seen yet"},
		"to what belongs to another": {func(w *world, item, _ workitem.Ref) { w.change(item, away) }, 1, 7, "linked", "link it to that"},
		"in a circle": {func(w *world, item, pull workitem.Ref) {
			w.change(item, record.PutLink{Link: record.Link{Target: pull.String()}})
		}, 1, 7, "linked", "#7"},
		"with a session of its own":       {func(w *world, _, pull workitem.Ref) { w.cycle(); w.change(pull, own) }, 1, 7, "session", "sessions stop github:octo/repo#7"},
		"with something in its own queue": {func(w *world, _, pull workitem.Ref) { w.held[pull.Key()] = []string{w.inHand(pull)} }, 1, 7, "busy", "try again"},
		"with something that has started": {func(w *world, _, pull workitem.Ref) {
			w.change(pull, record.Start{Comment: w.pendingOf(pull), On: "x", Until: w.now})
		}, 1, 7, "busy", "try again"},
		"with a spawn in its own queue": {func(w *world, _, pull workitem.Ref) {
			w.cycle()
			w.change(pull, record.QueueSpawn{DeliveryID: "s", Run: "run-1"})
			w.held[pull.Key()] = []string{"s"}
		}, 1, 7, "busy", "try again"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			f := w.forged()
			item := w.started()
			pull := w.pull(f, 7, "octocat", workitem.Links{})
			if c.before != nil {
				c.before(w, item, pull)
			}
			w.queued = nil
			before := w.records[issue(c.pull).Key()]
			_, err := w.linkPull(issue(c.item), issue(c.pull))
			if refusalOf(err) != c.reason || err == nil || !strings.Contains(err.Error(), "the-loop sessions link-pr is refused: ") || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v", err)
			}
			if after := w.records[issue(c.pull).Key()]; after.Item.Rev != before.Item.Rev || len(w.queued) > 0 {
				t.Errorf("recorded %+v, queued %v", after.Link, w.queued)
			}
		})
	}
}

// pendingOf is a comment of a pull request with a start of its own that is queued.
func (w *world) pendingOf(pull workitem.Ref) string {
	w.review(pull, "octocat", "the-loop start")
	w.cycle()
	id := w.review(pull, "octocat", "a wish")
	w.cycle()
	w.take()
	return id
}

func (w *world) inHand(pull workitem.Ref) string { return record.CommentDeliveryID(w.pendingOf(pull)) }

// A link needs both ends: a tracker that answers, and items of configured sources.
func TestALinkNeedsItsTracker(t *testing.T) {
	w, f, item, pull := unlabelled(t)
	elsewhere := workitem.Ref{Provider: "github", Owner: "octo", Repo: "other", Number: 1}
	for _, refs := range [][2]workitem.Ref{{elsewhere, pull}, {item, elsewhere}} {
		if _, err := w.linkPull(refs[0], refs[1]); refusalOf(err) != "no-source" || !strings.Contains(err.Error(), elsewhere.String()) {
			t.Errorf("%v", err)
		}
	}
	f.readErr = errTracker
	if _, err := w.linkPull(item, pull); !errors.Is(err, errTracker) || w.records[pull.Key()].Link != nil {
		t.Errorf("%v, recorded %+v", err, w.records[pull.Key()].Link)
	}
}

// F7: a link is decided again when either record changed meanwhile.
func TestALinkIsDecidedAgain(t *testing.T) {
	w, _, item, pull := unlabelled(t)
	w.beforeCommit = func() { w.change(item, record.End{At: w.now}) }
	if _, err := w.linkPull(item, pull); refusalOf(err) != "ended" || w.records[pull.Key()].Link != nil {
		t.Errorf("%v, recorded %+v", err, w.records[pull.Key()].Link)
	}
}

// X4: after the link the operator's commands on the pull request are its target's.
func TestCommandsOnALinkedPullRequestAreItsTargets(t *testing.T) {
	w, _, item, pull := unlabelled(t)
	if _, err := w.linkPull(item, pull); err != nil {
		t.Fatal(err)
	}
	if _, err := w.obey(pull, policy.Pause); err != nil {
		t.Fatal(err)
	}
	if s := w.records[item.Key()].Session; s.Status != record.Paused {
		t.Errorf("the session is %s", s.Status)
	}
}

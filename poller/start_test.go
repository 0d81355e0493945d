package poller

import (
	"strings"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// A7: the recorded start of somebody who was taken off the list brings no session
// up; one that lives goes on.
func TestTheStartOfSomebodyTakenOffTheList(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "hubot", "the-loop start")
	w.max = 0 // it waits meanwhile
	w.cycle()
	w.max, w.policy.AuthorizedUsers = 8, []string{"octocat"}
	w.cycle()
	w.wantQueued()
	words := w.say(ref, "octocat", "anybody?")
	w.cycle()
	w.want(ref, words, record.Settled, record.AwaitingStart)
	w.policy.AuthorizedUsers = []string{"octocat", "hubot"}
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
	w.bringUpAgain(1)
	w.policy.AuthorizedUsers = []string{"octocat"}
	words = w.say(ref, "octocat", "and now?")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + words)
}

// A7: what was started on this machine is the operator's.
func TestTheOperatorsStartNeedsNoList(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "mallory")
	w.cycle()
	w.change(ref, record.Command{Control: record.Control{Command: "start", Source: "cli"}})
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
}

// A4: who opened it decides whether the poller starts it by itself; whoever it
// is, that is told once for each author.
func TestAnItemIsWithheldOnce(t *testing.T) {
	for _, author := range []string{"mallory", ""} {
		w := newWorld(t)
		w.policy.RequireStart = false
		ref := w.open(1, author)
		for range 3 {
			w.say(ref, "mallory", "bump")
			w.cycle()
		}
		if n := w.told("poll.unauthorized"); n != 1 {
			t.Errorf("%q: told %d times", author, n)
		}
		w.set(ref, func(i *workitem.Item) { i.Author.Login = "eve" })
		w.cycle()
		if n := w.told("poll.unauthorized"); n != 2 {
			t.Errorf("%q, then eve: told %d times", author, n)
		}
		w.wantQueued()
	}
	w := newWorld(t) // not of an item that somebody has started
	ref := w.open(1, "mallory")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	if n := w.told("poll.unauthorized"); n != 0 {
		t.Errorf("a started item is told of %d times", n)
	}
}

// A4: what is told names what would start the item.
func TestTheRemedyNamesTheKeyword(t *testing.T) {
	for keyword, want := range map[string]string{"the-loop start": `"the-loop start"`, "": "add the author"} {
		w := newWorld(t)
		w.policy.Keywords = map[policy.Command]string{policy.Start: keyword}
		w.open(1, "mallory")
		w.cycle()
		for _, e := range w.events {
			if reason, _ := e.Fields["reason"].(string); e.Name == "poll.unauthorized" && !strings.Contains(reason, want) {
				t.Errorf("the remedy is %q", reason)
			}
		}
	}
}

// X4: the spawn policy binds an item without a session also when it is about to
// be told something, and lifts nothing for one that was labelled once.
func TestTheSpawnPolicyBindsAtForwardTime(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	s := *w.records[ref.Key()].Session
	s.Host = "there" // copied from another machine: no session of ours
	w.change(ref, record.PutSession{Session: s})
	delete(w.panes, ref.Key())
	labelled := w.say(ref, "octocat", "while it is labelled")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + labelled)
	w.set(ref, func(i *workitem.Item) { i.Labelled = false })
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.want(ref, id, record.Settled, record.SpawnPolicy)
	w.want(ref, labelled, record.Settled, record.SpawnPolicy)
	w.wantQueued()
}

// A start given on this machine needs no label (X4).
func TestAStartGivenHereNeedsNoLabel(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.cycle()
	w.set(ref, func(i *workitem.Item) { i.Labelled = false })
	w.change(ref, record.Command{Control: record.Control{Command: "start", Source: "cli"}})
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
}

// A session row of another machine counts as no session: words bring one up here.
func TestAnotherMachinesSessionIsNone(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	s := *w.records[ref.Key()].Session
	s.Host, s.Status = "there", record.Paused
	w.change(ref, record.PutSession{Session: s})
	delete(w.panes, ref.Key())
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	if len(w.queued) != 1 || !w.queued[0].NewSession {
		t.Errorf("queued %+v", w.queued)
	}
	w.wantQueued("deliver poll-comment-" + id)
}

// B5: an item that the poller starts by itself keeps its claim when a stop gives
// the queued spawn back.
func TestASpawnThatWasGivenBackIsOwedStill(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart = false
	ref := w.open(1, "octocat")
	for range 3 {
		w.cycle()
		id := w.records[ref.Key()].Item.Spawn.DeliveryID
		w.wantQueued("spawn " + id)
		if n, err := ReleaseAbandoned(t.Context(), w, []record.Held{{Ref: ref.String(), DeliveryID: id}}, func(string, map[string]any) {}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		w.restart("again", "v1.0.0")
	}
	if s := w.records[ref.Key()].Item.Spawn; s.Attempts != 0 {
		t.Errorf("stops cost %d attempts", s.Attempts)
	}
}

// B6, D2: while something held brings the session up, no spawn is queued beside
// it.
func TestADeliveryThatBringsTheSessionUpIsEnough(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.cycle()
	w.say(ref, "octocat", "the-loop start")
	id := w.say(ref, "octocat", "and use Postgres")
	for range 3 {
		w.cycle()
	}
	w.wantQueued("deliver poll-comment-" + id)
}

// X7: the end of a session that the poller started by itself is not mended by the
// cycle, and one that lives is enough.
func TestAnItemThatStartedAloneIsNotStartedAgain(t *testing.T) {
	for _, state := range []record.PaneState{record.PaneLive, record.PaneDead, record.PaneAbsent} {
		for _, status := range []record.Status{record.Active, record.Paused, record.Shut} {
			if state == record.PaneLive && status == record.Shut {
				continue // it has no owner
			}
			w := newWorld(t)
			w.policy.RequireStart = false
			ref := w.open(1, "octocat")
			w.cycle()
			w.bringUp(ref)
			w.change(ref, record.SetStatus{Status: status, At: w.now.Add(time.Second)})
			w.pane(ref, state, "life-1")
			w.say(ref, "mallory", "bump")
			w.cycle()
			if got := w.take(); len(got) > 0 {
				t.Errorf("%s, %s: queued %q", state, status, got)
			}
			w.unreadCycle()
		}
	}
}

// A4: an item that has a session is not withheld, whoever opened it.
func TestAnItemWithASessionIsNotWithheld(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "mallory")
	w.change(ref, record.Import{Item: record.Item{Ref: ref.String()}, Session: &record.Session{Status: record.Active, Host: "here"}})
	w.pane(ref, record.PaneLive, "life-1")
	w.cycle()
	if n := w.told("poll.unauthorized"); n != 0 {
		t.Errorf("told %d times", n)
	}
}

// F6, B6: nothing is read for an item whose own spawn was given up, nor for one
// that somebody stopped.
func TestWhatIsNotOwedIsNotRead(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart = false
	w.open(1, "octocat")
	for range 3 {
		w.cycle()
		w.take()
		w.change(issue(1), record.Start{On: record.OnNewPane, Until: w.now}, record.Fail{MayRepeat: true})
	}
	w.say(w.open(2, "octocat"), "octocat", "the-loop stop")
	w.cycle()
	w.cycle() // the notice is tried once
	w.unreadCycle()
}

// A4, X4: an item that lost its label before its session came up is not started by
// the poller itself.
func TestAnItemWithoutItsLabelDoesNotStartAlone(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart, w.max = false, 0
	ref := w.open(1, "octocat")
	w.cycle()
	w.set(ref, func(i *workitem.Item) { i.Labelled = false })
	w.max = 8
	w.cycle()
	w.wantQueued()
	w.set(ref, func(i *workitem.Item) { i.Labelled = true })
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
}

// X5: a paused session hears nothing, whether a command paused it or an earlier
// release did.
func TestAPausedSessionHearsNothing(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.change(ref, record.Import{
		Item:    record.Item{Ref: ref.String(), FirstSeenAt: w.now},
		Session: &record.Session{Status: record.Paused, Host: "here", CreatedAt: w.now},
	})
	w.pane(ref, record.PaneLive, "life-1")
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.want(ref, id, record.Settled, record.SessionPaused)
	w.wantQueued()
}

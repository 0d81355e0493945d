package poller

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// X1: the thread so far is baselined, nothing of it is forwarded.
func TestFirstSightForwardsNothingOfTheThread(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	a, b := w.say(ref, "octocat", "please use Go"), w.say(ref, "mallory", "no, Rust")
	w.cycle()
	w.want(ref, a, record.Baselined, record.FirstSight)
	w.want(ref, b, record.Baselined, record.Unauthorized)
	w.wantQueued()
	w.quietCycle()
}

// X2: a start posted before the poller looked works like one posted after.
func TestAStartPostedBeforeWeLookedWorks(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "mallory")
	start := w.say(ref, "Octocat", "Please, the-loop start.")
	w.cycle()
	w.want(ref, start, record.Settled, record.ControlExecuted)
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
}

// X2: in thread order, so that the last one wins.
func TestOfSeveralCommandsBeforeWeLookedTheLastWins(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	if c := w.records[ref.Key()].Item.Control; c == nil || c.Command != "stop" {
		t.Errorf("control is %+v", c)
	}
	w.wantQueued()
}

// X2: not when the item has a control record already, an imported one say.
func TestOldCommandsAreNotObeyedOverARecord(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.change(ref, record.Import{Item: record.Item{Ref: ref.String(), Control: &record.Control{Command: "stop", Source: "cli"}}})
	start := w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.want(ref, start, record.Baselined, record.FirstSight)
	w.wantQueued()
}

// A3: a comment is judged by its own author, whoever opened the item.
func TestACommentIsJudgedByItsOwnAuthor(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	mine, theirs := w.say(ref, "hubot", "and a test"), w.say(ref, "mallory", "and your keys")
	self := w.say(ref, "octocat", "done <!-- the-loop:agent-comment -->")
	w.cycle()
	w.want(ref, mine, record.Pending, "")
	w.want(ref, theirs, record.Baselined, record.Unauthorized)
	w.want(ref, self, record.Baselined, record.SelfAuthored) // A2
	w.wantQueued("deliver poll-comment-" + mine)
	if n := w.told("poll.comment_dropped"); n != 2 {
		t.Errorf("%d drops were told of", n)
	}
}

// A1: a deleted account is nobody.
func TestNobodyIsNotObeyed(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "", "delete everything")
	w.cycle()
	w.want(ref, id, record.Baselined, record.Unauthorized)
}

// X5: a labelled item waits for a start; what is said meanwhile is settled and
// not replayed.
func TestWhatIsSaidBeforeAStartIsSettled(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.cycle()
	early := w.say(ref, "octocat", "hello?")
	w.cycle()
	w.want(ref, early, record.Settled, record.AwaitingStart)
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
	w.want(ref, early, record.Settled, record.AwaitingStart)
}

// A4: an authorised author's item starts by itself when no start is required, a
// stranger's does not and says so once.
func TestWithoutARequiredStartOnlyAuthorisedItemsStart(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart = false
	w.open(1, "octocat")
	stranger := w.open(2, "mallory")
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
	w.say(stranger, "mallory", "start it!")
	w.cycle()
	if n := w.told("poll.unauthorized"); n != 1 {
		t.Errorf("told %d times", n)
	}
	w.say(stranger, "octocat", "the-loop start")
	w.take()
	w.cycle()
	if got := w.take(); len(got) != 2 { // item 1 is still owed its own, and this one
		t.Errorf("queued %q", got)
	}
}

// X7: a recorded start is owed one session; its end is not mended by the cycle,
// the next delivery brings it back.
func TestASessionThatEndedComesBackWithTheNextWord(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.pane(ref, record.PaneDead, "life-1")
	w.quietCycle()
	id := w.say(ref, "octocat", "go on")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
}

// X7: a stop whose session still runs is closed every cycle until it is gone,
// also when the tracker is down.
func TestAStopIsALevel(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	w.wantQueued("close close")
	w.src.listErr = errTracker
	w.cycle()
	w.wantQueued("close close")
	w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	w.cycle()
	w.wantQueued() // tmux did not answer
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
	w.src.listErr = nil
	w.pane(ref, record.PaneDead, "life-1")
	w.cycle()
	w.wantQueued()
	w.quietCycle()
}

// X5: what is queued when the stop comes is dropped in the stop's own
// transaction, its attempt given back.
func TestAStopDropsWhatIsQueued(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "one more thing")
	w.cycle()
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	w.want(ref, id, record.Settled, record.SessionStopped)
	if row := w.row(ref, id); row.Attempts != 0 {
		t.Errorf("%d attempts stay spent", row.Attempts)
	}
	start := record.Start{Comment: id, On: "life-1", Until: w.now.Add(10 * time.Second)}
	rec := w.records[ref.Key()]
	if changes, ok := Admit(rec, rec, nil, start, policy.New(w.policy)); ok || len(changes) != 0 {
		t.Errorf("the worker may start it: %v", changes) // story 2
	}
}

// X3: two different commands in one comment: none is obeyed.
func TestTwoCommandsInOneCommentAreNone(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "the-loop stop, or should I say the-loop pause?")
	w.cycle()
	w.want(ref, id, record.Settled, record.ControlAmbiguous)
	w.wantQueued()
}

// X6: words beside a start are delivered, too, where a session lives that no row
// names yet, or is on its way and was told what it says before; only a start that is
// to bring one up carries its own.
func TestWordsBesideAStartWhileASessionComesUp(t *testing.T) {
	const start, words = "the-loop start", "the-loop start, and use Postgres"
	t.Run("on its way", func(t *testing.T) {
		w := newWorld(t)
		ref := w.open(1, "octocat")
		w.say(ref, "octocat", start)
		w.cycle()
		w.wantHeld(ref, "poll-spawn-github-octo-repo-1-1")
		id := w.say(ref, "octocat", words)
		w.cycle()
		w.want(ref, id, record.Pending, "")
		w.wantHeld(ref, "poll-spawn-github-octo-repo-1-1", "poll-comment-"+id)
		if row, _ := w.records[ref.Key()].Comments.Get(id); row.Ran != "start" {
			t.Errorf("it ran %q", row.Ran)
		}
	})
	t.Run("alive without a row", func(t *testing.T) {
		w := newWorld(t)
		ref := w.open(1, "octocat")
		w.say(ref, "octocat", start)
		w.cycle()
		w.take()
		w.pane(ref, record.PaneLive, "life-1", "poll-spawn-github-octo-repo-1-1")
		id := w.say(ref, "octocat", words)
		w.cycle()
		w.want(ref, id, record.Pending, "")
		w.wantQueued("adopt adopt")
	})
	t.Run("none", func(t *testing.T) {
		w := newWorld(t)
		ref := w.open(1, "octocat")
		w.cycle()
		id := w.say(ref, "octocat", words)
		w.cycle()
		w.want(ref, id, record.Settled, record.ControlExecuted)
	})
}

func (w *world) wantHeld(ref workitem.Ref, want ...string) {
	w.t.Helper()
	if got := w.held[ref.Key()]; !slices.Equal(got, want) {
		w.t.Errorf("its queue holds %q, want %q", got, want)
	}
}

// X6: words beside a start on a live session are delivered.
func TestWordsBesideAStartReachTheLiveSession(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "the-loop start and use Postgres")
	w.cycle()
	w.want(ref, id, record.Pending, "")
	w.wantQueued("deliver poll-comment-" + id)
	w.deliver(ref, id)
	w.quietCycle()
}

// X4: paused means silence, resumed means only what is new.
func TestPausedMeansSilence(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "the-loop pause")
	w.cycle()
	quiet := w.say(ref, "octocat", "anybody?")
	w.cycle()
	w.want(ref, quiet, record.Settled, record.SessionPaused)
	w.say(ref, "octocat", "the-loop resume")
	again := w.say(ref, "octocat", "now then")
	w.cycle()
	w.want(ref, quiet, record.Settled, record.SessionPaused)
	w.wantQueued("deliver poll-comment-" + again)
}

// X4: there is nothing to resume without a session.
func TestResumeWithoutASessionIsRefused(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.cycle()
	id := w.say(ref, "octocat", "the-loop resume")
	w.cycle()
	w.want(ref, id, record.Settled, record.ControlRejected)
	if w.records[ref.Key()].Item.Control != nil {
		t.Error("a refused command was recorded")
	}
}

// The spawn policy never is not lifted by a start (X4).
func TestThePolicyNeverRefusesAStart(t *testing.T) {
	w := newWorld(t)
	w.policy.SpawnOnUnmatched = policy.SpawnNever
	ref := w.open(1, "octocat")
	id := w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.want(ref, id, record.Settled, record.ControlRejected)
	w.wantQueued()
}

// A6: a pending comment that was edited is judged anew and its new text sent.
func TestAnEditedPendingCommentIsSentAsItIsNow(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	id := w.say(ref, "octocat", "use MySQL")
	w.cycle()
	w.wantQueued() // D4: nothing is sent on an unknown
	w.src.threads[ref.Key()][1].Body = "use Postgres"
	w.pane(ref, record.PaneLive, "life-1")
	w.cycle()
	if len(w.queued) != 1 || w.queued[0].Comment.Body != "use Postgres" {
		t.Fatalf("queued %+v", w.queued)
	}
	if got, want := w.row(ref, id).SHA256, record.TextHash("use Postgres"); got != want {
		t.Error("the row keeps the old text's hash")
	}
}

// A7, story 20: somebody taken off the list loses undelivered comments.
func TestSomebodyTakenOffTheListIsNotRetried(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "hubot", "please")
	w.cycle()
	w.change(ref, record.Fail{Comment: id})
	w.take()
	w.policy.AuthorizedUsers = []string{"octocat"}
	w.cycle()
	w.want(ref, id, record.Settled, record.Revoked)
	w.wantQueued()
}

// The thread is whole: a pending comment that it lacks was deleted.
func TestADeletedPendingCommentIsSettled(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	id := w.say(ref, "octocat", "oops")
	w.cycle()
	w.src.threads[ref.Key()] = w.src.threads[ref.Key()][:1]
	w.cycle()
	w.want(ref, id, record.Settled, record.Deleted)
}

// A5: what is too long to be whole is settled, never cut, and its notice is owed
// in the same transaction; it is asked for once a run until it is posted.
func TestATooLongCommentIsSettled(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", strings.Repeat("x", longest+1))
	w.cycle()
	w.want(ref, id, record.Settled, record.TooLong)
	if row := w.row(ref, id); row.Notice != record.NoticeOwed || row.Version != "v1.0.0" {
		t.Errorf("its notice: %q of %q", row.Notice, row.Version)
	}
	w.quietCycle()
	w.restart("run-2", "v1.0.1") // the first was killed before it was posted
	w.cycle()
	w.change(ref, record.PostNotice{Comment: id})
	w.restart("run-3", "v1.0.1")
	w.quietCycle()
	w.want(ref, id, record.Settled, record.TooLong)
	if asked := ref.String() + " " + id; !slices.Equal(w.notices, []string{asked, asked}) {
		t.Errorf("asked for %q", w.notices)
	}
}

// A5: only what is too long has its author told; so is one that was edited to be,
// whose attempt comes back.
func TestATooLongEditIsSettled(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.take()
	thread := w.src.threads[ref.Key()]
	thread[len(thread)-1].Body = strings.Repeat("x", longest+1)
	w.touch(ref)
	w.cycle()
	w.want(ref, id, record.Settled, record.TooLong)
	if row := w.row(ref, id); row.Notice != record.NoticeOwed || row.Attempts != 0 {
		t.Errorf("its row: %+v", row)
	}
	stop := w.say(ref, "octocat", "the-loop stop")
	late := w.say(ref, "octocat", strings.Repeat("y", longest+1))
	w.cycle()
	w.want(ref, late, record.Settled, record.SessionStopped)
	if w.row(ref, stop).Notice+w.row(ref, late).Notice != "" {
		t.Error("what is not sent for another reason owes a notice")
	}
}

// D5: what has our name and is not ours is left alone; nothing is spent.
func TestAForeignSessionCostsNothing(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.panes[ref.Key()] = record.Pane{State: record.PaneForeign}
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.want(ref, id, record.Pending, "")
	if row := w.row(ref, id); row.Attempts != 0 {
		t.Errorf("%d attempts spent", row.Attempts)
	}
	w.wantQueued()
	w.quietCycle()
}

// Decide is pure: the same inputs give the same decision, and none is written
// to.
func TestDecideIsPure(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "one")
	w.say(ref, "mallory", "two")
	item := w.src.items[0]
	thread := w.src.threads[ref.Key()]
	rec := w.records[ref.Key()]
	before, _, _ := record.Apply(rec, []record.Change{record.Withhold{Author: "x"}})
	f := Facts{Now: w.now, Run: "r", Version: "v1", Policy: policy.New(w.policy), Host: "here", Room: 1, TooLong: tooLong, Pane: w.panes[ref.Key()], Held: map[string]bool{}}
	first, err := Decide(item, thread, rec, f)
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		again, _ := Decide(item, thread, rec, f)
		if !reflect.DeepEqual(first, again) {
			t.Fatal("two decisions from the same inputs differ")
		}
	}
	after, _, _ := record.Apply(rec, []record.Change{record.Withhold{Author: "x"}})
	if !reflect.DeepEqual(before, after) {
		t.Error("the record was written to")
	}
}

// P2: deliveries are queued in thread order, whatever order the tracker gives.
func TestTheQueueHasThreadOrder(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	a, b, c := w.say(ref, "octocat", "a"), w.say(ref, "octocat", "b"), w.say(ref, "octocat", "c")
	thread := w.src.threads[ref.Key()]
	thread[1], thread[3] = thread[3], thread[1]
	w.cycle()
	w.wantQueued("deliver poll-comment-"+a, "deliver poll-comment-"+b, "deliver poll-comment-"+c)
}

// P4: a comment is found by either generation of its id, and keeps the one that
// its row has.
func TestACommentIsFoundByEitherId(t *testing.T) {
	const older, newer = "MDEyOklzc3VlQ29tbWVudDI0NTE=", "IC_kwDOQ1aB7s4AAAmT"
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "hello")
	w.src.threads[ref.Key()][1].ID = older
	w.cycle()
	w.take()
	w.change(ref, record.Fail{Comment: older})
	w.src.threads[ref.Key()][1].ID = newer
	w.cycle()
	w.want(ref, newer, record.Pending, "")
	if len(w.queued) != 1 || w.queued[0].ID != "poll-comment-"+older || w.queued[0].Comment.ID != older {
		t.Errorf("queued %+v", w.queued)
	}
}

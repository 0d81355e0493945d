package poller

import (
	"slices"
	"testing"
	"time"

	"theloop/record"
)

// The stories of docs/behaviours.md that decisions have a part in, and what goes red
// when the rule of one is taken out. The others are workers' and stand in session.
//
//	 4  TestOnlyTheOldestPendingMayStart, TestAdmitKeepsTheOrderOfASession
//	 5  TestTheLastAttemptIsNotGivenUpOverItsProof
//	 6  TestTheFactsAreReadInTheirOrder, TestAWorkerThatEndsBetweenTwoLooks
//	 7  TestAnAttemptWhoseCommitHasNoAnswerIsUsedAgain, TestTheLastAttemptIsUsed
//	 8  TestAKillSpendsNoSpawnThatWasOnlyQueued, TestASessionThatCameUpAnotherWayGivesTheSpawnBack
//	 9  TestANoticeIsOwedAcrossAKill
//	10  TestADecisionOnAStaleRecordIsMadeAgain, TestAnEffectOfAChangeThatWasNotAppliedIsNotActedOn
//	11  TestAHarnessThatExitsAtOnceIsGivenUp
//	14  TestAClosedItemEndsInOrder
//	15  TestAReopenedItemBeginsAnew
//	16  TestAnUpdateInTheListingsOwnSecondIsReadAgain
//	17  TestAFailedCommentOnAnItemThatDoesNotChange
//	19  TestARearmedCommentOwesItsOldNoticeNoMore
//	20  TestSomebodyTakenOffTheListIsNotRetried

// B9, story 6: a worker pastes the last attempt and ends without an answer between
// two reads of the poller. What was in flight when that was asked is not judged by a
// look from before.
func TestAWorkerThatEndsBetweenTwoLooks(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.fails(ref, id, 2)
	w.cycle()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now})
	looked := false
	w.trace = func(what string) {
		if what == "in flight" && looked {
			w.held = map[string][]string{}
			w.pane(ref, record.PaneLive, "life-1", record.CommentDeliveryID(id))
		}
		looked = what == "tmux"
	}
	w.cycle()
	w.want(ref, id, record.Pending, "")
	w.trace = nil
	w.take()
	w.pane(ref, record.PaneLive, "life-1", record.CommentDeliveryID(id))
	w.cycle()
	w.want(ref, id, record.Delivered, "")
}

// B1, story 7: the commit of an attempt takes effect and fails; nothing starts. It
// is the same attempt every time.
func TestAnAttemptWhoseCommitHasNoAnswerIsUsedAgain(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.answerLost = true
	for range 5 {
		w.cycle()
		w.wantQueued()
		if row := w.row(ref, id); row.Attempts != 1 || row.State != record.Pending {
			t.Fatalf("its row is %+v", row)
		}
	}
	w.answerLost = false
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
}

// B8, story 8: a spawn that was queued and killed, and a session that came up for a
// comment: the attempt comes back, and nothing is open for the item any more.
func TestASessionThatCameUpAnotherWayGivesTheSpawnBack(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.take()
	w.restart("run-2", "v1.0.0")
	w.change(ref, record.PutSession{Session: record.Session{Status: record.Active, Host: "here", CreatedAt: w.now, Identity: "life-1"}})
	w.pane(ref, record.PaneLive, "life-1")
	w.cycle()
	w.wantQueued()
	if c := w.records[ref.Key()].Item.Control; !c.Served {
		t.Errorf("the start is owed a session still: %+v", c)
	}
	if spawn := w.records[ref.Key()].Item.Spawn; spawn.Attempts != 0 || spawn.InHand() {
		t.Errorf("the spawn is %+v", spawn)
	}
	w.unreadCycle()
}

// B3, story 9: the process is killed between the give-up and the notice. The item
// does not change; its notice is asked for all the same.
func TestANoticeIsOwedAcrossAKill(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.fails(ref, id, 3)
	w.poller.Failpoint = func(name string) {
		if name == "committed" {
			panic("killed")
		}
	}
	w.cycle()
	w.want(ref, id, record.GaveUp, "")
	if len(w.notices) > 0 {
		t.Fatalf("asked for %q", w.notices)
	}
	w.restart("run-2", "v1.0.0")
	w.cycle()
	if want := []string{ref.String() + " " + id}; !slices.Equal(w.notices, want) {
		t.Errorf("asked for %q, want %q", w.notices, want)
	}
}

// P1, story 17: a comment whose delivery failed, on an item that does not change, is
// tried again.
func TestAFailedCommentOnAnItemThatDoesNotChange(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.quietCycle() // until its worker ends
	w.take()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now.Add(10 * time.Second)}, record.Fail{Comment: id})
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
}

// B3, B7, story 19: a notice that is still owed when an upgrade tries again is not
// owed any more; a second give-up owes one of its own, with its own version.
func TestARearmedCommentOwesItsOldNoticeNoMore(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	fail := func() {
		w.fails(ref, id, 3)
	}
	fail()
	w.cycle()
	w.notices = nil
	w.restart("run-2", "v1.0.1")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	if row := w.row(ref, id); len(w.notices) > 0 || row.Notice != "" || row.Version != "" {
		t.Errorf("asked for %q, the row is %+v", w.notices, row)
	}
	w.change(ref, record.Fail{Comment: id})
	w.fails(ref, id, 2)
	w.cycle()
	if row := w.row(ref, id); len(w.notices) != 1 || row.Notice != record.NoticeOwed || row.Version != "v1.0.1" {
		t.Errorf("asked for %q, the row is %+v", w.notices, row)
	}
}

package poller

import (
	"errors"
	"fmt"
	"testing"

	"theloop/record"
)

// D1: one that waits for room is started when there is some, without being
// touched on its tracker; it spends nothing and costs nothing meanwhile.
func TestAnItemThatStartsAloneWaitsForRoom(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart, w.max = false, 1
	w.open(1, "octocat")
	w.open(2, "octocat")
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
	w.bringUp(issue(1))
	reads := w.src.reads
	for range 3 {
		w.quietCycle()
	}
	if w.src.reads != reads {
		t.Errorf("waiting cost %d reads", w.src.reads-reads)
	}
	w.pane(issue(1), record.PaneDead, "life-1")
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-2-1")
}

// D4, D1: nothing is brought up while tmux cannot say how many live.
func TestWithoutACountNothingComesUp(t *testing.T) {
	w := newWorld(t)
	w.say(w.open(1, "octocat"), "octocat", "the-loop start")
	w.tmuxErr = errors.New("no answer")
	w.cycle()
	w.wantQueued()
	w.tmuxErr = nil
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
}

// D1: a session that is on its way up has its place already, and those that come
// back take one each.
func TestWhatComesUpTakesAPlace(t *testing.T) {
	w := newWorld(t)
	w.max = 2
	for n := 1; n <= 3; n++ {
		w.say(w.open(n, "octocat"), "octocat", "the-loop start")
	}
	w.cycle()
	if got := len(w.queued); got != 2 {
		t.Fatalf("%d spawns for two places", got)
	}
	w.cycle() // both are held
	if got := len(w.queued); got != 2 {
		t.Errorf("%d spawns while two are on their way", got)
	}
	w = newWorld(t)
	w.max = 1
	for n := 1; n <= 2; n++ {
		w.say(w.open(n, "octocat"), "octocat", "the-loop start")
		w.max = 2
		w.cycle()
		w.bringUp(issue(n))
	}
	w.max = 1
	for n := 1; n <= 2; n++ {
		w.pane(issue(n), record.PaneDead, "life-1")
		w.say(issue(n), "octocat", "hello")
		w.say(issue(n), "octocat", "and more")
	}
	w.cycle()
	w.wantQueued("deliver poll-comment-c2", "deliver poll-comment-c3") // of the first alone
	if row := w.row(issue(2), "c2"); row.Attempts != 0 {
		t.Errorf("waiting cost %d attempts", row.Attempts)
	}
}

// D1: at most 50 jobs are queued for a session; the rest costs nothing, and its
// turn comes in thread order.
func TestAQueueHoldsFiftyJobs(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	var want []string
	for i := range MaxQueued + 10 {
		id := w.say(ref, "octocat", fmt.Sprint("comment ", i))
		if i < MaxQueued {
			want = append(want, "deliver poll-comment-"+id)
		}
	}
	w.cycle()
	w.cycle() // what is held counts
	w.wantQueued(want...)
	for i, row := range w.records[ref.Key()].Comments.Pending() {
		if row.Attempts != btoi(i < MaxQueued) {
			t.Errorf("comment %d has %d attempts", i, row.Attempts)
		}
	}
}

package poller

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

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

// D1: what a session is told while it comes up needs no place of its own, nor does
// what it is told at once.
func TestASessionTakesOnePlace(t *testing.T) {
	w := newWorld(t)
	for n := 1; n <= 2; n++ {
		w.say(w.open(n, "octocat"), "octocat", "the-loop start")
		w.cycle()
		w.bringUp(issue(n))
		w.pane(issue(n), record.PaneDead, "life-1")
	}
	w.max = 2
	w.say(issue(1), "octocat", "a")
	w.say(issue(1), "octocat", "b")
	w.say(issue(2), "octocat", "a")
	w.cycle()
	want := []string{"deliver poll-comment-c2", "deliver poll-comment-c3", "deliver poll-comment-c2"}
	var got []string
	for _, e := range w.queued {
		got = append(got, string(e.Kind)+" "+e.ID)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("queued %q, want %q", got, want)
	}
	w.say(issue(1), "octocat", "c") // no place is left, and it needs none
	w.cycle()
	w.wantQueued(append(want, "deliver poll-comment-c4")...)
}

// D1: a close that is on its way brings nothing up.
func TestACloseHasNoPlace(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.change(ref, record.SetStatus{Status: record.Shut, At: w.now.Add(time.Hour)},
		record.Command{Control: record.Control{Command: "start", Source: "cli"}})
	w.pane(ref, record.PaneDead, "life-1")
	w.max, w.held[ref.Key()] = 0, []string{"close", "adopt"}
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	if len(w.queued) > 0 {
		t.Errorf("queued %+v", w.queued)
	}
	w.max = 1
	w.held[ref.Key()] = []string{"adopt"}
	w.src.threads[ref.Key()] = w.src.threads[ref.Key()][:1]
	w.cycle()
	w.want(ref, id, record.Settled, record.Deleted)
	w.wantQueued() // what is to be adopted has its place
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-2")
}

// D1: what waits is said again when there was room meanwhile.
func TestACrowdIsToldOfAgain(t *testing.T) {
	w := newWorld(t)
	w.max = 0
	w.say(w.open(1, "octocat"), "octocat", "the-loop start")
	w.cycle()
	w.cycle()
	w.max = 1
	w.cycle()
	w.bringUp(issue(1))
	w.pane(issue(1), record.PaneDead, "life-1")
	w.max = 0
	w.say(issue(1), "octocat", "hello")
	w.cycle()
	if n := w.told("dispatch.dropped"); n != 2 {
		t.Errorf("told %d times", n)
	}
}

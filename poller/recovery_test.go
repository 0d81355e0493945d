package poller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// B1, B2: behind an attempt that has started and is not decided nothing is
// queued; what is held already is passed over.
func TestNothingIsQueuedBehindAnUndecidedAttempt(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	a := w.say(ref, "octocat", "a")
	w.cycle()
	w.change(ref, record.Start{Comment: a, On: "life-1", Until: w.now.Add(time.Hour)})
	b := w.say(ref, "octocat", "b")
	w.cycle() // its worker is still at it: b may be queued behind it
	w.wantQueued("deliver poll-comment-"+a, "deliver poll-comment-"+b)
	w.change(ref, record.Release{Comment: b, DeliveryID: "poll-comment-" + b})
	w.restart("run-2", "v1.0.0")
	for range 3 {
		w.quietCycle()
	}
	w.want(ref, b, record.Pending, "")
}

// B1: an attempt in hand at the last of the budget is used, not given up.
func TestTheLastAttemptIsUsed(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.fails(ref, id, 2)
	w.cycle()
	w.restart("run-2", "v1.0.0") // killed with the third attempt queued
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	w.want(ref, id, record.Pending, "")
	if n := w.told("poll.recovered"); n != 1 {
		t.Errorf("the attempt that is used again is told of %d times", n)
	}
}

// B1: in flight is not failed, whatever the pane says of it.
func TestWhatIsHeldIsNotJudged(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now})
	w.pane(ref, record.PaneLive, "life-2") // its outcome is about to be committed
	w.cycle()
	if row := w.row(ref, id); !row.Started() || row.MayRepeat || row.Attempts != 1 {
		t.Errorf("the row in flight is %+v", row.Delivery)
	}
	w.pane(ref, record.PaneLive, "life-1", "poll-comment-"+id)
	w.cycle()
	w.want(ref, id, record.Pending, "")
}

// B2, D3: a verdict needs a look that was taken after the deadline.
func TestALookFromBeforeTheDeadlineIsNoVerdict(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	until := w.now.Add(90 * time.Second)
	w.change(ref, record.Start{Comment: id, On: "life-1", Until: until})
	w.restart("run-2", "v1.0.0")
	w.say(ref, "mallory", "bump")
	w.src.onRead = func() { w.onLook = func() { w.now = until.Add(time.Second) } } // tmux took its time
	w.cycle()
	if row := w.row(ref, id); !row.Started() {
		t.Errorf("decided on a look from before the deadline: %+v", row.Delivery)
	}
}

// B6: something new that is said gives the spawn's budget back; what was said
// before does not.
func TestNewWordsGiveTheSpawnItsBudgetBack(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	for range 3 {
		w.cycle()
		w.take()
		w.change(ref, record.Start{On: record.OnNewPane, Until: w.now}, record.Fail{MayRepeat: true})
	}
	w.cycle()
	if s := w.records[ref.Key()].Item.Spawn; !s.GaveUp {
		t.Fatalf("the spawn row is %+v", s)
	}
	w.say(ref, "mallory", "bump")
	w.cycle()
	w.wantQueued()
	id := w.say(ref, "octocat", "try once more")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id) // one dispatch, counted on the comment alone
	if s := w.records[ref.Key()].Item.Spawn; s.GaveUp || s.Attempts != 0 || s.Notice != record.NoticeOwed || !s.MayRepeat {
		t.Errorf("the spawn row is %+v", s)
	}
}

// B7: which give-ups a release tries again.
func TestHeals(t *testing.T) {
	for _, tt := range []struct {
		gaveUp, running string
		want            bool
	}{
		{"v1.0.0", "v1.0.0", false}, {"v1.0.0", "v1.0.1", true}, {"v1.0.1", "v1.0.0", true},
		{"", "v1.0.0", true}, {"6.1.0", "v1.0.0", true}, {"dev", "v1.0.0", true},
		{"v1.0.0", "dev", false}, {"6.1.0", "dev", true}, {"", "dev", true}, {"dev", "dev", false},
	} {
		if got := heals(tt.gaveUp, tt.running); got != tt.want {
			t.Errorf("given up by %q, running %q: %v", tt.gaveUp, tt.running, got)
		}
	}
}

// B7: a give-up is re-armed though nothing else of its item is open; not while
// its author is revoked, and not into a session that is stopped.
func TestAGiveUpIsRearmed(t *testing.T) {
	for name, tt := range map[string]struct {
		before func(*world, workitem.Ref)
		want   bool
	}{
		"by an upgrade":             {func(*world, workitem.Ref) {}, true},
		"its author was taken off":  {func(w *world, _ workitem.Ref) { w.policy.AuthorizedUsers = []string{"octocat"} }, false},
		"the session is stopped":    {func(w *world, ref workitem.Ref) { w.change(ref, control("stop", "octocat")) }, false},
		"the comment was our own":   {func(w *world, ref workitem.Ref) { w.src.threads[ref.Key()][1].Body += policy.Marker }, false},
		"the comment was withdrawn": {func(w *world, ref workitem.Ref) { w.src.threads[ref.Key()] = w.src.threads[ref.Key()][:1] }, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			id := w.say(ref, "hubot", "hello")
			w.fails(ref, id, 3)
			w.cycle()
			w.change(ref, record.PostNotice{Comment: id})
			w.unreadCycle()
			w.restart("run-2", "v1.0.1")
			tt.before(w, ref)
			w.cycle()
			if got := slices.Contains(w.take(), "deliver poll-comment-"+id); got != tt.want {
				t.Errorf("tried again: %v", got)
			}
			if row := w.row(ref, id); !tt.want && row.State != record.GaveUp {
				t.Errorf("the row is %s", row.State)
			}
		})
	}
}

// The decision trail says what became of an attempt that another process, or an
// unanswered call, left behind, in the words of its catalogue; once each.
func TestWhatIsToldOfARecovery(t *testing.T) {
	start := func(w *world, ref workitem.Ref, id string) {
		w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now})
	}
	for name, tt := range map[string]struct {
		before func(*world, workitem.Ref, string)
		run    string
		want   string
	}{
		"it is in the ring": {func(w *world, ref workitem.Ref, id string) {
			start(w, ref, id)
			w.pane(ref, record.PaneLive, "life-1", "poll-comment-"+id)
		}, "run-2", "mark"},
		"its pane lives without it": {start, "run-2", "none"},
		"its pane is gone":          {func(w *world, ref workitem.Ref, id string) { start(w, ref, id); w.pane(ref, record.PaneAbsent, "") }, "run-2", "none"},
		"another process queued it": {func(*world, workitem.Ref, string) {}, "run-2", "never-started"},
		"this process queued it":    {func(*world, workitem.Ref, string) {}, "run-1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			id := w.say(ref, "octocat", "hello")
			w.cycle()
			tt.before(w, ref, id)
			w.restart(tt.run, "v1.0.0")
			w.cycle()
			w.cycle()
			var told []string
			for _, e := range w.events {
				if e.Name == "poll.recovered" {
					told = append(told, fmt.Sprint(e.Fields["proof"]))
				}
			}
			if got := strings.Join(told, ","); got != tt.want {
				t.Errorf("told %q, want %q", got, tt.want)
			}
		})
	}
}

// B2, D3: while a spawn may still land nothing else of its session is queued.
func TestNothingIsQueuedWhileASpawnIsUndecided(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.change(ref, record.Start{On: record.OnNewPane, Until: w.now.Add(90 * time.Second)})
	w.restart("run-2", "v1.0.0")
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	w.wantQueued()
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
}

// What was removed with the oldest rows is not sent again.
func TestACommentOfARemovedRowIsLate(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "long ago")
	rec := w.records[ref.Key()]
	rec.Item.LateUntil = w.now
	w.records[ref.Key()] = rec
	fresh := w.say(ref, "octocat", "hello")
	w.cycle()
	w.want(ref, id, record.Baselined, record.Late)
	w.wantQueued("deliver poll-comment-" + fresh)
}

// A6, A7: what has started is not judged anew, whatever becomes of its text and
// of its author; its outcome decides.
func TestWhatHasStartedIsNotJudgedAnew(t *testing.T) {
	for name, edit := range map[string]func(*world, *workitem.Comment){
		"edited":          func(_ *world, c *workitem.Comment) { c.Body = "other words" },
		"now a command":   func(_ *world, c *workitem.Comment) { c.Body = "the-loop stop" },
		"now our own":     func(_ *world, c *workitem.Comment) { c.Body = policy.Marker },
		"of somebody new": func(w *world, _ *workitem.Comment) { w.policy.AuthorizedUsers = []string{"octocat"} },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			id := w.say(ref, "hubot", "hello")
			w.cycle()
			w.change(ref, record.Start{Comment: id, On: "life-1", Until: w.now.Add(time.Hour)})
			before := w.row(ref, id)
			edit(w, &w.src.threads[ref.Key()][1])
			if r := w.cycle(); len(r.Errors) > 0 {
				t.Error(r.Errors)
			}
			if row := w.row(ref, id); row != before {
				t.Errorf("the row is %+v", row)
			}
		})
	}
}

// B6, B7: a re-armed comment is something new for the spawn as well.
func TestARearmGivesTheSpawnItsBudgetBack(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	id := w.say(ref, "octocat", "hello")
	for range 3 {
		w.cycle()
		w.take()
		w.change(ref, record.Start{Comment: id, On: record.OnNewPane, Until: w.now}, record.Fail{Comment: id, MayRepeat: true})
	}
	for range 3 {
		w.cycle()
		w.take()
		w.change(ref, record.Start{On: record.OnNewPane, Until: w.now}, record.Fail{MayRepeat: true})
	}
	w.cycle()
	if s := w.records[ref.Key()].Item.Spawn; !s.GaveUp || w.row(ref, id).State != record.GaveUp {
		t.Fatalf("the spawn row is %+v, the comment %s", s, w.row(ref, id).State)
	}
	w.restart("run-2", "v1.0.1")
	w.cycle()
	w.wantQueued("deliver poll-comment-" + id)
	if s := w.records[ref.Key()].Item.Spawn; s.GaveUp || s.Attempts != 0 {
		t.Errorf("the spawn row is %+v", s)
	}
}

// B2, I2: a give-up does not hold up what was said behind it.
func TestAGiveUpMakesWayForTheNext(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	a, b := w.say(ref, "octocat", "a"), w.say(ref, "octocat", "b")
	w.fails(ref, a, 3)
	w.cycle()
	w.want(ref, a, record.GaveUp, "")
	w.wantQueued("deliver poll-comment-" + b)
}

// half is a ledger that cannot read every item.
type half struct{ *world }

func (l half) Release(ctx context.Context, held []record.Held) ([]record.Held, error) {
	back, _ := l.world.Release(ctx, held)
	return back, errTracker
}

// B4: what came back is told of, also when not all of it did.
func TestAReleaseThatDidNotGoThroughIsToldOf(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.cycle()
	told := 0
	n, err := ReleaseAbandoned(t.Context(), half{w}, []record.Held{{Ref: ref.String(), DeliveryID: "poll-comment-" + id}},
		func(string, map[string]any) { told++ })
	if n != 1 || told != 1 || !errors.Is(err, errTracker) {
		t.Errorf("%d came back, told %d times, %v", n, told, err)
	}
	if n, err := ReleaseAbandoned(t.Context(), nil, nil, nil); n != 0 || err != nil {
		t.Errorf("nothing abandoned: %d, %v", n, err)
	}
}

// B3, P1: a notice is asked for once in each run until it is posted, whether its
// item changes or not.
func TestAnOwedNoticeIsAskedForOnceARun(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "hello")
	w.fails(ref, id, 3)
	want := []string{}
	for run := range 3 {
		w.cycle()
		w.say(ref, "mallory", "bump")
		w.cycle()
		if run < 2 {
			want = append(want, ref.String()+" "+id)
		}
		if !slices.Equal(w.notices, want) {
			t.Errorf("run %d: asked for %q, want %q", run, w.notices, want)
		}
		w.unreadCycle()
		if run == 1 {
			w.change(ref, record.PostNotice{Comment: id})
		}
		w.restart("again", "v1.0.0")
	}
}

// B3, B6: a spawn that is given up a second time in one run has a notice of its
// own, although the first one was asked for.
func TestEachGiveUpOfASpawnIsNoticed(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	want := []string{}
	for range 2 {
		w.say(ref, "octocat", "the-loop start")
		for range 3 {
			w.cycle()
			w.take()
			w.change(ref, record.Start{On: record.OnNewPane, Until: w.now}, record.Fail{MayRepeat: true})
		}
		w.cycle()
		w.quietCycle()
		if want = append(want, ref.String()+" "); !slices.Equal(w.notices, want) {
			t.Fatalf("asked for %q, want %q", w.notices, want)
		}
		w.change(ref, record.PostNotice{})
	}
}

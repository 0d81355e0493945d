package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/workitem"
)

// The protocol of one delivery into a session, branch by branch (B8, B9, D3, D5).
func TestDeliver(t *testing.T) {
	mark := record.Mark("poll-comment-IC_1")
	for _, c := range []struct {
		name string
		make func(*world)
		want want
		// calls that must have been made to tmux, in order; nil: not looked at
		calls []string
		event string
	}{
		{"live", func(w *world) { w.live() },
			want{Done, record.IsDone, 1, false, 1}, []string{"look", "ready", "paste"}, "dispatch.succeeded"},
		{"tmux silent (D4, B9)", func(w *world) { w.live(); w.tmux.silent = true },
			want{Unknown, record.Queued, 1, false, 0}, []string{"look"}, ""},
		{"the mark is in the ring (D7)", func(w *world) { p := w.live(); p.look.Ring = []string{mark} },
			want{Done, record.IsDone, 1, false, 0}, []string{"look"}, "dispatch.succeeded"},
		{"the mark is in the ring, not proved, and the pane lives (story 1)", func(w *world) { p := w.live(); p.look.Ring = []string{"_" + mark} },
			want{Done, record.IsDone, 1, false, 0}, []string{"look"}, "dispatch.succeeded"},
		{"a dead pane's ring has the mark (story 13)", func(w *world) { p := w.dead(); p.look.Ring = []string{mark} },
			want{Done, record.IsDone, 1, false, 0}, []string{"look"}, "dispatch.succeeded"},
		{"occupied by another ledger's session (D5)", func(w *world) {
			w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: "ffffffff-0123456789abcdef"})
		}, want{Dropped, record.Idle, 0, false, 0}, []string{"look"}, "dispatch.dropped"},
		{"occupied by a user's session (D5)", func(w *world) {
			w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", StartCommand: "vim"})
		}, want{Dropped, record.Idle, 0, false, 0}, []string{"look"}, "dispatch.dropped"},
		{"no answer, not sent", func(w *world) { w.live(); w.tmux.script["paste"] = []string{"never"} },
			want{Unknown, record.Running, 1, false, 0}, []string{"look", "ready", "paste"}, ""},
		{"no answer, sent", func(w *world) { w.live(); w.tmux.script["paste"] = []string{"lost"} },
			want{Unknown, record.Running, 1, false, 1}, []string{"look", "ready", "paste"}, ""},
		{"refused once (D3)", func(w *world) { w.live(); w.tmux.script["paste"] = []string{"skip"} },
			want{Done, record.IsDone, 1, false, 1}, []string{"look", "ready", "paste", "look", "look", "paste"}, "dispatch.succeeded"},
		{"refused twice (D3)", func(w *world) { w.live(); w.tmux.script["paste"] = []string{"skip", "skip"} },
			want{Failed, record.Idle, 1, false, 0}, nil, "dispatch.failed"},
		{"refused, and then silent", func(w *world) {
			w.live()
			w.tmux.script["paste"] = []string{"skip"}
			w.tmux.on["paste"] = func() { w.tmux.silent = true }
		}, want{Unknown, record.Queued, 1, false, 0}, nil, ""},
		{"refused since the mark has come meanwhile", func(w *world) {
			p := w.live()
			w.tmux.on["paste"] = func() { p.look.Ring = []string{mark} }
		}, want{Done, record.IsDone, 1, false, 0}, []string{"look", "ready", "paste", "look"}, "dispatch.succeeded"},
		{"the harness ends between look and paste (D5)", func(w *world) {
			p := w.live()
			w.tmux.on["ready"] = func() { w.tmux.die(p, "exit 0", true) }
		}, want{Done, record.IsDone, 1, false, 1}, nil, "session.respawned"},
		{"the pane goes between look and paste (D5)", func(w *world) {
			p := w.live()
			w.tmux.on["ready"] = func() { w.tmux.die(p, "", false) }
		}, want{Done, record.IsDone, 1, false, 1}, nil, "session.respawned"},
		{"refused twice, and resolved meanwhile", func(w *world) {
			w.live()
			w.tmux.script["paste"] = []string{"skip", "skip"}
			w.tmux.on["paste"] = func() {
				if w.tmux.count("paste") == 1 {
					w.ledger.put(octoRef, record.Fail{Comment: "IC_1"}, record.Settle{Note: record.Note{ID: "IC_1"}, Outcome: record.Deleted})
				}
			}
		}, want{Dropped, record.IsSet, 1, false, 0}, nil, ""},
		{"the text was edited after the decision (A6)", func(w *world) {
			w.live()
			edited := octoComment("IC_1", "octocat", "something else")
			w.ledger.put(octoRef, record.Revise{Note: record.NoteOf(edited)})
		}, want{Dropped, record.Idle, 0, false, 0}, []string{}, ""},
		{"the row is resolved already", func(w *world) { w.live(); w.ledger.put(octoRef, record.Deliver{Comment: "IC_1"}) },
			want{Dropped, record.IsDone, 1, false, 0}, []string{}, ""},
		{"the attempt was released", func(w *world) {
			w.live()
			w.ledger.put(octoRef, record.Release{Comment: "IC_1", DeliveryID: "poll-comment-IC_1"})
		}, want{Dropped, record.Idle, 0, false, 0}, []string{}, ""},
		{"another process has the attempt", func(w *world) {
			w.live()
			w.ledger.put(octoRef, record.Queue{Comment: "IC_1", DeliveryID: "poll-comment-IC_1", Run: "run-0"})
		}, want{Dropped, record.Queued, 1, false, 0}, []string{}, ""},
		{"its start is in the ledger already", func(w *world) {
			w.live()
			w.ledger.put(octoRef, record.Start{Comment: "IC_1", On: "1/2/3", Until: noon.Add(-time.Minute)})
		}, want{Dropped, record.Running, 1, false, 0}, []string{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			comment := w.queued("IC_1")
			c.make(w)
			got := w.deliver(comment)
			w.expect(comment, got, c.want)
			if c.calls != nil && strings.Join(c.calls, " ") != strings.Join(w.tmux.calls, " ") {
				t.Errorf("calls %v, not %v", w.tmux.calls, c.calls)
			}
			if c.event != "" && !w.emitted(c.event) {
				t.Errorf("%s is not among %v", c.event, w.events)
			}
			if c.event == "" && len(w.events) > 0 {
				t.Errorf("it tells of %v", w.events)
			}
		})
	}
}

// D12: a failure names what happened and what to do, and whether there is another
// attempt.
func TestFailureSaysWhy(t *testing.T) {
	w := newWorld(t)
	w.live().look.InputOff = true
	w.tmux.script["paste"] = []string{"skip", "skip"}
	if got := w.deliver(w.queued("IC_1")); got != Failed {
		t.Fatal(got)
	}
	f := w.fields["dispatch.failed"]
	if said, _ := f["error"].(string); !strings.Contains(said, "select-pane -e") || f["will_retry"] != true {
		t.Errorf("the event is %v", f)
	}
	w.settings.MaxRetries = 1
	w.tmux.script["paste"] = []string{"skip", "skip"}
	w.ledger.put(octoRef, record.Settle{Note: record.Note{ID: "IC_1"}, Outcome: record.Deleted})
	if got := w.deliver(w.queued("IC_2")); got != Failed || w.fields["dispatch.failed"]["will_retry"] != false {
		t.Errorf("%s, the event is %v", got, w.fields["dispatch.failed"])
	}
}

// D8, A5: what an event carries of a text is one short line without anything that
// hides.
func TestSafeText(t *testing.T) {
	if got := safeText("a\x1b[31m\nb\u202e\xff"+strings.Repeat("é", 600), 100); len(got) > 100 || strings.ContainsAny(got, "\x1b\n\u202e") || !strings.HasPrefix(got, "a [31m b ?é") {
		t.Errorf("%q", got)
	}
}

// B8, D3: the start is committed before tmux is asked, on the pane that is typed
// into, until ten whole seconds later.
func TestStartIsCommittedFirst(t *testing.T) {
	w := newWorld(t)
	p, c := w.live(), w.queued("IC_1")
	w.tmux.on["paste"] = func() {
		row := w.ledger.row(octoRef, "IC_1")
		if row.StartedOn != p.look.Identity || !row.Until.Equal(noon.Add(10*time.Second)) {
			t.Errorf("at the paste the row is started on %q until %s", row.StartedOn, row.Until)
		}
	}
	if got := w.deliver(c); got != Done {
		t.Fatal(got)
	}
	row := w.ledger.row(octoRef, "IC_1")
	if row.InHand() || row.Started() || !row.Until.IsZero() {
		t.Errorf("the outcome leaves %+v", row.Delivery)
	}
	if s := w.ledger.get(octoRef).Session; !s.LastEventAt.Equal(w.clock.Now()) {
		t.Errorf("lastEventAt is %s", s.LastEventAt)
	}
	if f := w.fields["dispatch.succeeded"]; f["via"] != "paste" || f["delivery_id"] != "poll-comment-IC_1" || f["gh_event"] != "issue_comment" || f["work_item"] != octoRef.String() {
		t.Errorf("the event is %v", f)
	}
}

// Stories 2 and 20, X5, A7: what was committed before the start decides, however
// late it came. Nothing is sent, the attempt comes back or the row is settled.
func TestAdmittedOnTheRecordAsItStands(t *testing.T) {
	stop := record.Command{Control: record.Control{Command: "stop", Source: "cli"}}
	for _, c := range []struct {
		name   string
		change []record.Change
		want   want
		event  string
	}{
		{"stop", []record.Change{stop}, want{Dropped, record.IsSet, 0, false, 0}, "dispatch.dropped"},
		{"older comment", []record.Change{record.Hold{Note: record.Note{ID: "IC_0", At: noon.Add(-time.Minute)}}}, want{Dropped, record.Idle, 0, false, 0}, ""},
		{"something else", []record.Change{record.Withhold{Author: "x"}}, want{Done, record.IsDone, 1, false, 1}, "dispatch.succeeded"},
		{"an edit", []record.Change{record.Revise{Note: record.NoteOf(octoComment("IC_1", "octocat", "else"))}}, want{Dropped, record.Idle, 0, false, 0}, ""},
	} {
		for _, when := range []string{"look", "commit"} {
			t.Run(c.name+" at the "+when, func(t *testing.T) {
				w := newWorld(t)
				w.live()
				comment := w.queued("IC_1")
				meanwhile := func() { w.ledger.put(octoRef, c.change...) }
				if when == "look" {
					w.tmux.on["ready"] = func() { meanwhile(); delete(w.tmux.on, "ready") }
				} else {
					w.ledger.before = once(isStart, func() error { meanwhile(); return nil })
				}
				w.expect(comment, w.deliver(comment), c.want)
				if c.event != "" && !w.emitted(c.event) {
					t.Errorf("%s is not among %v", c.event, w.events)
				}
			})
		}
	}
}

// B9: a commit that failed says nothing; nothing is sent behind it, and what was
// sent stays started.
func TestCommitErrors(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(*world)
		want  want
		paste int
	}{
		{"start, not applied", func(w *world) { w.ledger.before = once(isStart, func() error { return record.ErrUnknown }) },
			want{Unknown, record.Queued, 1, false, 0}, 0},
		{"start, applied", func(w *world) { w.ledger.after = once(isStart, func() error { return record.ErrUnknown }) },
			want{Unknown, record.Running, 1, false, 0}, 0},
		{"start, disk full", func(w *world) { w.ledger.before = once(isStart, func() error { return errDisk }) },
			want{Unknown, record.Queued, 1, false, 0}, 0},
		{"outcome, not applied", func(w *world) { w.ledger.before = once(isDeliver, func() error { return record.ErrUnknown }) },
			want{Unknown, record.Running, 1, false, 1}, 1},
		{"outcome, applied", func(w *world) { w.ledger.after = once(isDeliver, func() error { return record.ErrUnknown }) },
			want{Unknown, record.IsDone, 1, false, 1}, 1},
		{"outcome, the record moved", func(w *world) {
			w.ledger.before = once(isDeliver, func() error {
				w.ledger.put(octoRef, record.Withhold{Author: "x"})
				return nil
			})
		}, want{Done, record.IsDone, 1, false, 1}, 1},
		{"outcome, the cycle was faster", func(w *world) {
			w.ledger.before = once(isDeliver, func() error {
				w.ledger.put(octoRef, record.Deliver{Comment: "IC_1"})
				return nil
			})
		}, want{Done, record.IsDone, 1, false, 1}, 1},
		{"start, the record moves all the time", func(w *world) {
			w.ledger.before = func([]record.Change) error {
				w.ledger.put(octoRef, record.Withhold{Author: w.clock.Now().String()})
				w.clock.advance(1)
				return nil
			}
		}, want{Unknown, record.Queued, 1, false, 0}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.live()
			comment := w.queued("IC_1")
			c.make(w)
			w.expect(comment, w.deliver(comment), c.want)
			if n := w.tmux.count("paste"); n != c.paste {
				t.Errorf("%d pastes", n)
			}
		})
	}
}

// Story 18, D3: until the deadline of a call that was not answered has passed,
// nothing else of that session happens; after it, it does.
func TestDeadlineHoldsTheSession(t *testing.T) {
	for _, late := range []bool{false, true} {
		w := newWorld(t)
		w.live()
		first := w.queued("IC_1")
		w.tmux.script["paste"] = []string{"never"}
		w.expect(first, w.deliver(first), want{Unknown, record.Running, 1, false, 0})
		second := w.queued("IC_2")
		w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
		w.clock.now = noon.Add(10 * time.Second) // the deadline itself
		if late {
			w.clock.advance(time.Nanosecond)
			w.ledger.put(octoRef, record.Fail{Comment: "IC_1"}, record.Settle{Note: record.Note{ID: "IC_1"}, Outcome: record.Deleted})
		}
		w.host = w.newHost(testRun) // across a restart, too
		w.tmux.calls = nil
		commits := w.ledger.commits
		if !late {
			w.expect(second, w.deliver(second), want{Unknown, record.Queued, 1, false, 0})
			for name, got := range map[string]Result{
				"spawn": w.host.Spawn(t.Context(), Spawn{Ref: octoRef, DeliveryID: "poll-spawn-1"}),
				"close": w.host.Close(t.Context(), Close{Ref: octoRef}),
			} {
				if got != Unknown {
					t.Errorf("%s: %s", name, got)
				}
			}
			if _, err := w.host.Adopt(t.Context(), Adoption{Ref: octoRef}); err == nil {
				t.Error("adopted")
			}
			if len(w.tmux.calls) != 0 || w.ledger.commits != commits {
				t.Errorf("before the deadline: calls %v, %d commits", w.tmux.calls, w.ledger.commits-commits)
			}
			continue
		}
		w.expect(second, w.deliver(second), want{Done, record.IsDone, 1, false, 1})
	}
}

// Story 18, D3: a spawn that was not answered holds its session as well.
func TestSpawnsDeadlineHoldsTheSession(t *testing.T) {
	w := newWorld(t)
	w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
	w.tmux.script["spawn"] = []string{"late"}
	if got := w.host.Spawn(t.Context(), Spawn{Ref: octoRef, DeliveryID: "poll-spawn-1", Story: Story{Item: octoItem()}}); got != Unknown {
		t.Fatal(got)
	}
	c := w.queued("IC_1")
	w.tmux.calls = nil
	w.expect(c, w.deliver(c), want{Unknown, record.Queued, 1, false, 0})
	if len(w.tmux.calls) != 0 {
		t.Errorf("before the deadline: calls %v", w.tmux.calls)
	}
	w.tmux.goOn() // it comes late, and is in time
	w.clock.advance(11 * time.Second)
	w.expect(c, w.deliver(c), want{Done, record.IsDone, 1, false, 1})
	if len(w.tmux.panes) != 1 {
		t.Errorf("%d sessions", len(w.tmux.panes))
	}
}

// P3: a pull request's comment is counted on the pull request and goes into its
// target's session, whose row, commands and deadlines count.
func TestPullRequestIntoItsTarget(t *testing.T) {
	pr := octoRef
	pr.Number = 21
	setUp := func(t *testing.T) (*world, Delivery) {
		w := newWorld(t)
		c := octoComment("PRRC_1", "octocat", "rename this")
		w.ledger.put(pr, record.Observe{Item: workitem.Item{Ref: pr, Kind: workitem.PullRequest}}, record.FirstSeen{At: noon},
			record.PutLink{Link: record.Link{Target: octoRef.String()}},
			record.Hold{Note: record.NoteOf(c)}, queue(c.ID))
		return w, Delivery{Ref: pr, Session: octoRef, DeliveryID: "poll-comment-PRRC_1", Comment: c}
	}
	t.Run("delivered", func(t *testing.T) {
		w, d := setUp(t)
		p := w.live()
		if got := w.host.Deliver(t.Context(), d); got != Done || len(p.told) != 1 || w.ledger.row(pr, "PRRC_1").State != record.Delivered {
			t.Errorf("%s, told %q", got, p.told)
		}
		if w.ledger.get(pr).Session != nil || !w.ledger.get(octoRef).Session.LastEventAt.Equal(w.clock.Now()) {
			t.Error("the session row is not its target's")
		}
	})
	t.Run("spawned", func(t *testing.T) {
		w, d := setUp(t)
		got := w.host.Deliver(t.Context(), d)
		if s := w.ledger.get(octoRef).Session; got != Done || s == nil || w.ledger.get(pr).Session != nil || !w.ledger.get(octoRef).Item.Control.Served {
			t.Errorf("%s, %+v", got, s)
		}
	})
	t.Run("the target was stopped meanwhile (X5)", func(t *testing.T) {
		w, d := setUp(t)
		w.live()
		w.ledger.before = once(isStart, func() error {
			w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "stop"}})
			return nil
		})
		got := w.host.Deliver(t.Context(), d)
		if row := w.ledger.row(pr, "PRRC_1"); got != Dropped || row.Outcome != record.SessionStopped || w.tmux.count("paste") != 0 {
			t.Errorf("%s, %+v", got, row)
		}
	})
	t.Run("whoever decides is shown what else waits for the session (B8)", func(t *testing.T) {
		w, d := setUp(t)
		w.live()
		other, admit := octo(22), w.host.Admit
		w.ledger.put(other, record.PutLink{Link: record.Link{Target: octoRef.String()}},
			record.Observe{Item: workitem.Item{Ref: other, Kind: workitem.PullRequest}}, record.FirstSeen{At: noon})
		var shown []string
		w.host.Admit = func(a Admission) ([]record.Change, bool) {
			for _, rec := range a.Others {
				shown = append(shown, rec.Item.Ref)
			}
			return admit(a)
		}
		got := w.host.Deliver(t.Context(), d)
		if want := []string{octoRef.String(), other.String()}; got != Done || !slices.Equal(shown, want) {
			t.Errorf("%s, shown %q", got, shown)
		}
	})
	t.Run("its deadline holds the target's session (story 18)", func(t *testing.T) {
		w, d := setUp(t)
		p := w.live()
		w.tmux.script["paste"] = []string{"never"}
		if got := w.host.Deliver(t.Context(), d); got != Unknown {
			t.Fatal(got)
		}
		if got := w.host.Close(t.Context(), Close{Ref: octoRef}); got != Unknown || p.look.State != tmux.Live {
			t.Errorf("closed: %s", got)
		}
	})
}

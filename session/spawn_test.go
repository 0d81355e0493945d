package session

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/workitem"
)

// The protocol of a delivery that finds no session alive, branch by branch (D5).
func TestDeliverBringsUp(t *testing.T) {
	for _, c := range []struct {
		name   string
		make   func(*world)
		want   want
		events string
	}{
		{"absent: fresh", func(w *world) {},
			want{Done, record.IsDone, 1, false, 1}, "dispatch.succeeded session.spawned"},
		{"dead: in place, resumed", func(w *world) { w.dead() },
			want{Done, record.IsDone, 1, false, 1}, "dispatch.succeeded session.respawned"},
		{"ends at once", func(w *world) { w.tmux.exit = []string{"exit 3"} },
			want{Failed, record.Idle, 1, true, 1}, "session.spawn_failed dispatch.failed"},
		{"ends at once and takes the pane along", func(w *world) { w.tmux.exit = []string{"gone exit 3"} },
			want{Failed, record.Idle, 1, true, 0}, "session.spawn_failed dispatch.failed"},
		{"ends between the probe and its proof", func(w *world) {
			w.tmux.on["prove"] = func() { w.tmux.die(w.tmux.panes[0], "exit 3", true) }
		}, want{Failed, record.Idle, 1, true, 1}, "session.spawn_failed dispatch.failed"},
		{"the resumed one ends at once: a fresh one", func(w *world) { w.dead(); w.tmux.exit = []string{"exit 1"} },
			want{Done, record.IsDone, 1, false, 2}, "session.resume_failed dispatch.succeeded session.respawned"},
		{"the resumed one takes its pane along: a fresh one", func(w *world) { w.dead(); w.tmux.exit = []string{"gone exit 1"} },
			want{Done, record.IsDone, 1, false, 1}, "session.resume_failed dispatch.succeeded session.respawned"},
		{"the resumed and the fresh one end at once", func(w *world) { w.dead(); w.tmux.exit = []string{"exit 1", "exit 2"} },
			want{Failed, record.Idle, 1, true, 2}, "session.resume_failed session.spawn_failed dispatch.failed"},
		{"the fresh one after a resumed one is refused", func(w *world) {
			w.dead()
			w.tmux.exit = []string{"exit 1"}
			w.tmux.script["respawn"] = []string{"", "skip"}
		}, want{Failed, record.Idle, 1, true, 1}, "session.resume_failed dispatch.failed"},
		{"the resumed one ends at once, and then tmux is silent (D4)", func(w *world) {
			w.dead()
			w.tmux.exit = []string{"exit 1"}
			looks := 0
			w.tmux.on["look"] = func() { looks++; w.tmux.silent = looks > 2 }
			w.tmux.script["spawn"] = []string{"lost"}
		}, want{Unknown, record.Running, 1, false, 1}, "session.resume_failed"},
		{"no answer to the spawn, made (story 1)", func(w *world) { w.tmux.script["spawn"] = []string{"lost"} },
			want{Unknown, record.Running, 1, false, 1}, ""},
		{"no answer to the spawn, not made", func(w *world) { w.tmux.script["spawn"] = []string{"never"} },
			want{Unknown, record.Running, 1, false, 0}, ""},
		{"no answer to the probe", func(w *world) {
			w.at["pasted"] = func() { w.tmux.silent = true }
		}, want{Unknown, record.Running, 1, false, 1}, ""},
		{"no answer to the proof", func(w *world) { w.tmux.script["prove"] = []string{"never"} },
			want{Unknown, record.Running, 1, false, 1}, ""},
		{"refused once", func(w *world) { w.tmux.script["spawn"] = []string{"skip"} },
			want{Done, record.IsDone, 1, false, 1}, "dispatch.succeeded session.spawned"},
		{"refused twice", func(w *world) { w.tmux.script["spawn"] = []string{"skip", "skip"} },
			want{Failed, record.Idle, 1, false, 0}, "dispatch.failed"},
		{"somebody else makes it meanwhile (D2)", func(w *world) {
			w.tmux.on["spawn"] = func() {
				delete(w.tmux.on, "spawn")
				w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: octoOwner})
			}
		}, want{Done, record.IsDone, 1, false, 1}, "dispatch.succeeded"},
		{"no such harness", func(w *world) { w.settings.Harness = "vim" },
			want{Failed, record.Idle, 1, false, 0}, "dispatch.failed"},
		{"no such folder", func(w *world) { w.settings.Workdir = "/nonexistent/x" },
			want{Failed, record.Idle, 1, false, 0}, "dispatch.failed"},
		{"last words do not bring a session up (P8)", func(w *world) { w.dead(); w.ledger.put(octoRef, record.End{At: noon}) },
			want{Dropped, record.IsSet, 0, false, 0}, "poll.comment_settled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			comment := w.queued("IC_1")
			c.make(w)
			w.expect(comment, w.deliver(comment), c.want)
			if got := strings.Join(w.events, " "); got != c.events {
				t.Errorf("events %q, not %q", got, c.events)
			}
			if n := len(w.tmux.panes); n > 1 {
				t.Errorf("%d sessions (D2)", n)
			}
		})
	}
}

// D5, D10: a fresh session is made with owner, mark and conversation, is told the
// item, and has its row when it has proved itself.
func TestFreshSession(t *testing.T) {
	w := newWorld(t)
	c := w.queued("IC_1")
	mark := record.Mark("poll-comment-IC_1")
	w.tmux.on["prove"] = func() {
		if ring := w.tmux.panes[0].look.Ring; len(ring) != 1 || ring[0] != "_"+mark {
			t.Errorf("before the proof the ring is %q", ring)
		}
		if row := w.ledger.row(octoRef, "IC_1"); row.StartedOn != record.OnNewPane {
			t.Errorf("it was started on %q", row.StartedOn)
		}
	}
	w.settings.HarnessArgs = map[string][]string{"claude": {"--model", "big"}}
	if got := w.deliver(c); got != Done {
		t.Fatal(got)
	}
	p, s := w.tmux.panes[0], w.ledger.get(octoRef).Session
	want := record.Session{
		Harness: "claude", HarnessSessionID: p.look.HarnessSession, Cwd: w.settings.Workdir,
		TmuxTarget: "loop-github-octo-repo-15", Pane: p.look.PaneID, Identity: p.look.Identity,
		Status: record.Active, Host: testHost, CreatedAt: w.clock.Now(), LastEventAt: w.clock.Now(),
	}
	if diff := cmp.Diff(want, *s); diff != "" {
		t.Error(diff)
	}
	argv := []string{"claude", "--session-id", s.HarnessSessionID, "--model", "big", "{{prompt}}"}
	if diff := cmp.Diff(argv, p.argv); diff != "" || !usableSessionID(s.HarnessSessionID) {
		t.Error(diff)
	}
	if p.look.Owner != octoOwner || p.look.Ring[0] != mark || p.dir != w.settings.Workdir {
		t.Errorf("the pane is %+v in %s", p.look, p.dir)
	}
	if d := data(t, p.told[0]); d.Item == nil || d.Item.Text != octoItem().Body || d.Event.Text != c.Body {
		t.Errorf("it was told %q", p.told[0])
	}
	if !w.ledger.get(octoRef).Item.Control.Served {
		t.Error("the start is not served (X7)")
	}
}

// D5, D10: a conversation that goes on is resumed in its folder and told the event
// alone; its row keeps what it was.
func TestResumedSession(t *testing.T) {
	w := newWorld(t)
	p, c := w.dead(), w.queued("IC_1")
	p.look.Ring = []string{"00000000000000aa"}
	before := *w.ledger.get(octoRef).Session
	before.Cwd, before.Announced = t.TempDir(), "poll-comment-IC_0"
	w.ledger.put(octoRef, record.PutSession{Session: before})
	dead := p.look.Identity
	w.tmux.on["respawn"] = func() {
		if row := w.ledger.row(octoRef, "IC_1"); row.StartedOn != dead {
			t.Errorf("it was started on %q, not on the dead pane", row.StartedOn)
		}
	}
	if got := w.deliver(c); got != Done {
		t.Fatal(got)
	}
	if a := w.admitted[0]; a.Start.On != record.OnNewPane {
		t.Errorf("admitted as %+v: it starts a harness", a.Start)
	}
	if diff := cmp.Diff([]string{"claude", "--resume", sessionID, "{{prompt}}"}, p.argv); diff != "" {
		t.Error(diff)
	}
	if d := data(t, p.told[0]); d.Item != nil || d.Event.Text != c.Body || p.dir != before.Cwd {
		t.Errorf("it was told in %s:\n%s", p.dir, p.told[0])
	}
	if len(p.look.Ring) != 2 {
		t.Errorf("the ring is %q: a respawn keeps it (D5)", p.look.Ring)
	}
	s := w.ledger.get(octoRef).Session
	if s.HarnessSessionID != sessionID || !s.CreatedAt.Equal(before.CreatedAt) || s.Identity == dead || s.Announced != before.Announced {
		t.Errorf("the row is %+v", s)
	}
	if f := w.fields["session.respawned"]; f["resumed"] != true || f["tmux_target"] != p.look.Name {
		t.Errorf("the event is %v", f)
	}
}

// D5: a conversation whose folder is gone goes on in the configured one; without
// that there is an error which names it.
func TestFolderOfASession(t *testing.T) {
	old, now := t.TempDir(), t.TempDir()
	s := Settings{Workdir: now}
	for before, want := range map[string]string{"": now, old: old, filepath.Join(old, "gone"): now} {
		if got, err := s.workdir(before); got != want || err != nil {
			t.Errorf("%q: %s %v", before, got, err)
		}
	}
	s.Workdir = filepath.Join(now, "gone")
	if _, err := s.workdir(""); err == nil || !strings.Contains(err.Error(), s.Workdir) || !strings.Contains(err.Error(), "routing.spawnWorkdir") {
		t.Errorf("%v", err)
	}
}

// D5: which conversation a respawn goes on with, and when it begins afresh.
func TestWhichConversation(t *testing.T) {
	for _, c := range []struct {
		name    string
		make    func(*world, *fakePane, *record.Session)
		resumes string // the id; empty: fresh
		empties bool
	}{
		{"the row's", func(*world, *fakePane, *record.Session) {}, sessionID, false},
		{"stopped and started again (X4)", func(w *world, _ *fakePane, s *record.Session) {
			s.Status, s.EndedAt = record.Shut, noon
		}, sessionID, false},
		{"of before the item's first sight (P8)", func(w *world, _ *fakePane, s *record.Session) {
			s.Status, s.EndedAt = record.Shut, noon.Add(-time1h)
		}, "", true},
		{"closed, imported without a time", func(w *world, _ *fakePane, s *record.Session) {
			s.Status, s.CreatedAt = record.Shut, noon.Add(-2*time1h)
		}, "", true},
		{"made after the reopening, never committed", func(w *world, p *fakePane, s *record.Session) {
			s.Status, s.EndedAt, p.look.HarnessSession = record.Shut, noon.Add(-time1h), "newer"
			p.look.Identity, p.look.Ring = "9/9/9", []string{"_" + record.Mark("poll-comment-IC_1")}
		}, "newer", true},
		{"cleaned up, and forgotten: only its pane still names it (P8)", func(_ *world, _ *fakePane, s *record.Session) {
			*s = record.Session{Status: record.Shut, EndedAt: noon.Add(-time1h)}
		}, "", true},
		{"resuming is off", func(w *world, _ *fakePane, _ *record.Session) { w.settings.ResumeOnRespawn = false }, "", false},
		{"the harness cannot", func(w *world, _ *fakePane, _ *record.Session) {
			w.settings.Harnesses = map[string]Harness{"claude": {Command: []string{"mine", "{{sessionId}}"}}}
		}, "", false},
		{"the harness is not configured any more", func(w *world, _ *fakePane, s *record.Session) { s.Harness = "gone" }, "", false},
		{"no id", func(w *world, p *fakePane, s *record.Session) { s.HarnessSessionID, p.look.HarnessSession = "", "" }, "", false},
		{"an id of a strange form", func(w *world, p *fakePane, s *record.Session) {
			s.HarnessSessionID, p.look.HarnessSession = "--help", "$(x)"
		}, "", false},
		{"the pane's, before its row was written", func(w *world, p *fakePane, s *record.Session) { s.HarnessSessionID = "" }, sessionID, false},
		{"another machine's", func(w *world, p *fakePane, s *record.Session) {
			s.Host, s.HarnessSessionID, p.look.HarnessSession = "machine-2", "x", ""
		}, "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			p, comment := w.dead(), w.queued("IC_1")
			p.look.Ring = []string{"00000000000000aa"}
			s := *w.ledger.get(octoRef).Session
			c.make(w, p, &s)
			w.ledger.put(octoRef, record.PutSession{Session: s})
			if got := w.deliver(comment); got != Done {
				t.Fatal(got)
			}
			if i := slices.Index(p.argv, "--resume"); c.resumes == "" && i >= 0 || c.resumes != "" && (i < 0 || p.argv[i+1] != c.resumes) {
				t.Errorf("started as %q", p.argv)
			}
			if fresh := data(t, p.told[0]).Item != nil; fresh != (c.resumes == "") {
				t.Errorf("told as a fresh conversation: %v", fresh)
			}
			if empty := len(p.look.Ring) == 1; empty != c.empties {
				t.Errorf("the ring is %q", p.look.Ring)
			}
			if row := w.ledger.get(octoRef).Session; row.Status != record.Active || row.HarnessSessionID != p.look.HarnessSession || row.Host != testHost || !row.EndedAt.IsZero() {
				t.Errorf("the row is %+v", row)
			}
		})
	}
}

// D5: a pane that another program was put into during the probe is not the
// harness that was started; a harness that is not there starts nothing.
func TestProbeIsOfTheSameLife(t *testing.T) {
	w := newWorld(t)
	comment := w.queued("IC_1")
	w.at["pasted"] = func() { w.tmux.panes[0].look.Identity = "100/200/9999" }
	w.expect(comment, w.deliver(comment), want{Failed, record.Idle, 1, true, 1})
	if w.tmux.count("prove") != 0 || !strings.Contains(w.fields["dispatch.failed"]["error"].(string), "the harness ended within") {
		t.Errorf("calls %v, the event is %v", w.tmux.calls, w.fields["dispatch.failed"])
	}

	w = newWorld(t)
	comment = w.queued("IC_1")
	w.tmux.missing = errors.New("no such program")
	w.expect(comment, w.deliver(comment), want{Failed, record.Idle, 1, false, 0})
	if w.tmux.count("spawn") != 0 || w.fields["dispatch.failed"]["error"] != "no such program" {
		t.Errorf("calls %v, the event is %v", w.tmux.calls, w.fields["dispatch.failed"])
	}
}

// X4: behind a cleanup the next start begins a fresh conversation, although the
// kept pane still names the old one; a session that was made and never committed
// is told from that by its start, which had it, and by its ring. The next start may
// be one of the poller's own, when the item was opened again (P8).
func TestFreshAfterCleanup(t *testing.T) {
	start := record.Command{Control: record.Control{Command: "start", Source: "cli"}}
	for _, c := range []struct {
		what    string
		last    string // in the ring
		since   []record.Change
		resumes bool
	}{
		{"a start", "IC_0", []record.Change{start}, false},
		{"made, and never committed", "IC_1", []record.Change{start, record.Serve{}}, true},
		{"of a life before, under a start that was served", "IC_0", []record.Change{start, record.Serve{}}, false},
		{"opened again", "IC_0", []record.Change{record.End{At: noon}, record.Forget{}, record.FirstSeen{At: noon}}, false},
	} {
		w := newWorld(t)
		p := w.dead()
		p.look.Ring = []string{"_" + record.Mark(record.CommentDeliveryID(c.last))}
		w.ledger.put(octoRef, append([]record.Change{record.SetStatus{Status: record.Shut, At: noon}, record.DropSession{}}, c.since...)...)
		if got := w.deliver(w.queued("IC_1")); got != Done {
			t.Fatal(got)
		}
		if resumed := slices.Contains(p.argv, "--resume"); resumed != c.resumes {
			t.Errorf("%s: started as %q", c.what, p.argv)
		}
	}
}

const time1h = 60 * 60 * 1e9

// Story 12, D7, I11: what cannot be proved either way says that it may be a repeat.
func TestRepeatsSaySo(t *testing.T) {
	const note = "This may be a repeat"
	for _, c := range []struct {
		name string
		make func(*world)
		want []bool // what each prompt says, in the order they were sent
	}{
		{"first try", func(w *world) { w.live() }, []bool{false}},
		{"an earlier attempt is not proved", func(w *world) {
			w.live()
			w.ledger.put(octoRef, record.Start{Comment: "IC_1", On: "1/2/3"}, record.Fail{Comment: "IC_1", MayRepeat: true}, queue("IC_1"))
		}, []bool{true}},
		{"a fresh conversation after a resumed one that ended at once", func(w *world) { w.dead(); w.tmux.exit = []string{"exit 1"} }, []bool{false, true}},
		{"the pane died with it", func(w *world) { w.dead().look.Ring = []string{"_" + record.Mark("poll-comment-IC_1")} }, []bool{true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			comment := w.queued("IC_1")
			c.make(w)
			if got := w.deliver(comment); got != Done {
				t.Fatal(got)
			}
			var told []bool
			p := w.tmux.panes[0]
			for _, prompt := range slices.Concat(slices.Concat(p.lives...), p.told) {
				told = append(told, strings.Contains(prompt, note))
			}
			if !slices.Equal(told, c.want) {
				t.Errorf("the prompts say %v", told)
			}
			if w.ledger.row(octoRef, "IC_1").MayRepeat {
				t.Error("proof did not clear it")
			}
		})
	}
}

// B6, D2: a session that no comment asks for; one that lives needs none, and the
// attempt comes back (story 8).
func TestSpawn(t *testing.T) {
	const id = "poll-spawn-github-octo-repo-15-1"
	for _, c := range []struct {
		name     string
		make     func(*world)
		result   Result
		attempts int
		started  bool
		served   bool
		told     string // how its prompt begins; empty: nothing was told
	}{
		{"absent", func(*world) {}, Done, 1, false, true, "# the-loop: work item"},
		{"dead", func(w *world) { w.dead() }, Done, 1, false, true, "# the-loop: go on"},
		{"live", func(w *world) { w.live() }, Done, 0, false, true, ""},
		{"live without a row", func(w *world) {
			w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: octoOwner, HarnessSession: sessionID})
		}, Done, 0, false, true, ""},
		{"occupied", func(w *world) { w.tmux.add(tmux.Look{State: tmux.Live, Name: "loop-github-octo-repo-15"}) }, Dropped, 0, false, false, ""},
		{"silent", func(w *world) { w.tmux.silent = true }, Unknown, 1, false, false, ""},
		{"no answer", func(w *world) { w.tmux.script["spawn"] = []string{"lost"} }, Unknown, 1, true, false, "# the-loop: work item"},
		{"ends at once (story 11)", func(w *world) { w.tmux.exit = []string{"exit 1"} }, Failed, 1, false, false, "# the-loop: work item"},
		{"stopped meanwhile", func(w *world) {
			w.ledger.before = once(isStart, func() error {
				w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "stop"}})
				return nil
			})
		}, Dropped, 0, false, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: id, Run: testRun})
			c.make(w)
			got := w.host.Spawn(t.Context(), Spawn{Ref: octoRef, DeliveryID: id, Story: Story{Item: octoItem()}})
			rec := w.ledger.get(octoRef)
			spawn := rec.Item.Spawn
			if got != c.result || spawn.Attempts != c.attempts || spawn.Started() != c.started || spawn.InHand() && c.result != Unknown {
				t.Errorf("%s, row %+v", got, spawn)
			}
			if rec.Item.Control.Served != c.served || (rec.Session != nil && rec.Session.Status == record.Active) != c.served {
				t.Errorf("served %v, session %+v", rec.Item.Control.Served, rec.Session)
			}
			var told []string
			for _, p := range w.tmux.panes {
				told = append(told, p.told...)
			}
			if c.told == "" && len(told) > 0 || c.told != "" && (len(told) != 1 || !strings.HasPrefix(told[0], c.told)) {
				t.Errorf("told %q", told)
			}
		})
	}
}

// D6: a second item with the same slug gets a name with a hash; names in rows win.
func TestSessionNames(t *testing.T) {
	w := newWorld(t)
	twin := workitem.Ref{Provider: "github", Host: "octo.example", Owner: "a", Repo: "b", Number: 1}
	other := workitem.Ref{Provider: "github", Owner: "octo.example-a", Repo: "b", Number: 1} // the same slug
	if sessionName(twin) != sessionName(other) || sessionName(twin) != "loop-github-octo_example-a-b-1" {
		t.Fatalf("%s and %s", sessionName(twin), sessionName(other))
	}
	w.tmux.add(tmux.Look{State: tmux.Live, Name: sessionName(twin), Owner: tmux.OwnerMark(testInstance, twin.Key())})
	p := w.host.find(t.Context(), other, record.Record{}, "")
	if want := sessionName(other) + "-" + other.SlugHash(); p.name != want || p.pane.State != record.PaneNone {
		t.Errorf("the second is %s, %s", p.name, p.pane.State)
	}
	if p := w.host.find(t.Context(), twin, record.Record{}, ""); p.name != sessionName(twin) || p.pane.State != record.PaneLive {
		t.Errorf("the first is %s, %s", p.name, p.pane.State)
	}
	row := record.Session{TmuxTarget: "loop-old.name:1"}
	rec := record.Record{Session: &row}
	if p := w.host.find(t.Context(), octoRef, rec, ""); p.name != "loop-old_name_1" || p.pane.State != record.PaneAbsent {
		t.Errorf("a row's name gives %s, %s", p.name, p.pane.State)
	}
	row.TmuxTarget = "my session; #(x)"
	if p := w.host.find(t.Context(), octoRef, rec, ""); p.name != "loop-github-octo-repo-15" {
		t.Errorf("a strange name gives %s", p.name)
	}
	long := workitem.Ref{Provider: "github", Host: strings.Repeat("a.", 120) + "b", Owner: "o", Repo: strings.Repeat("r", 100), Number: 1}
	if n := sessionName(long); len(n) > 240 || !strings.HasSuffix(n, long.SlugHash()) || !plainWord(n) {
		t.Errorf("a long name: %s", n)
	}
}

// B4: a stop during the probe leaves the attempt to the next decision, which
// finds the mark.
func TestStopDuringProbe(t *testing.T) {
	w := newWorld(t)
	comment := w.queued("IC_1")
	ctx, stop := context.WithCancel(t.Context())
	w.at["pasted"] = stop
	w.expect(comment, w.host.Deliver(ctx, w.delivery(comment)), want{Unknown, record.Running, 1, false, 1})
	row := w.ledger.row(octoRef, "IC_1")
	w.clock.advance(time1h)
	if proof := record.Judge(row.Delivery, w.host.Look(t.Context(), octoRef, w.ledger.get(octoRef)), w.clock.Now()); proof != record.ProvedSent {
		t.Errorf("the next decision finds %s", proof)
	}
}

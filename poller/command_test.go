package poller

import (
	"slices"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
)

// at brings an item into a column of the table of commands.
func (w *world) at(c column) {
	w.t.Helper()
	ref := w.started()
	switch c {
	case none:
		w.records[ref.Key()] = without(w.records[ref.Key()])
		delete(w.panes, ref.Key())
	case paused:
		w.change(ref, record.SetStatus{Status: record.Paused, At: w.now})
	case closed:
		w.change(ref, record.SetStatus{Status: record.Shut, At: w.now.Add(time.Second)})
		w.pane(ref, record.PaneDead, "life-1")
	case "dead":
		w.pane(ref, record.PaneDead, "life-1")
	case "unknown":
		w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
	}
}

// without is an item that was never started.
func without(rec record.Record) record.Record {
	rec.Session, rec.Item.Control, rec.Item.Spawn = nil, nil, record.Spawn{N: rec.Item.Spawn.N}
	return rec
}

// X4: what each command does in each state of the session, as a document.
func TestTheTableOfCommands(t *testing.T) {
	const spawn, shut = "spawn poll-spawn-github-octo-repo-1-2", "close close"
	type cell struct {
		effect string // of the event; empty: refused, nothing recorded
		status record.Status
		served bool
		queued string
	}
	for command, row := range map[string]map[column]cell{
		"start": {
			none: {"spawned", "", false, spawn}, active: {"noop", record.Active, true, ""}, paused: {"resumed", record.Active, true, ""},
			closed: {"spawned", record.Shut, false, spawn}, "dead": {"spawned", record.Active, false, spawn},
			"unknown": {"noop", record.Active, true, ""},
		},
		"resume": {
			none: {}, active: {status: record.Active, served: true}, paused: {"resumed", record.Active, true, ""},
			closed: {status: record.Shut, served: true}, "dead": {status: record.Active, served: true},
		},
		"pause": {
			none: {"paused", "", false, ""}, active: {"paused", record.Paused, false, ""}, paused: {"noop", record.Paused, false, ""},
			closed: {"paused", record.Shut, false, ""}, "dead": {"paused", record.Active, false, ""},
		},
		"stop": {
			none: {"stopped", "", false, ""}, active: {"stopped", record.Active, false, shut}, paused: {"stopped", record.Paused, false, shut},
			closed: {"stopped", record.Shut, false, ""}, "dead": {"stopped", record.Active, false, shut},
		},
		"cleanup": {
			none: {"nothing-to-clean", "", false, ""}, active: {"cleaned", record.Active, false, shut}, paused: {"cleaned", record.Paused, false, shut},
			closed: {"cleaned", "", false, ""}, "dead": {"cleaned", record.Active, false, shut},
		},
	} {
		for _, word := range append([]string{command}, map[string][]string{"start": {"do", "contribute"}}[command]...) {
			for col, want := range row {
				t.Run(word+" at "+string(col), func(t *testing.T) {
					w := newWorld(t)
					w.at(col)
					id := w.say(issue(1), "octocat", "the-loop "+word)
					w.cycle()
					rec := w.records[issue(1).Key()]
					outcome, name := record.ControlExecuted, word
					if want.effect == "" {
						outcome, name = record.ControlRejected, "start"
					}
					w.want(issue(1), id, record.Settled, outcome)
					got := cell{served: rec.Item.Control != nil && rec.Item.Control.Served}
					for _, e := range w.events {
						if e.Name == "control.command" && e.Fields["command"] == word {
							got.effect, _ = e.Fields["effect"].(string)
						}
					}
					if rec.Session != nil {
						got.status = rec.Session.Status
					}
					if q := w.take(); len(q) > 0 {
						got.queued = q[0]
					}
					if got != want {
						t.Errorf("got %+v, want %+v", got, want)
					}
					if c := rec.Item.Control; want.effect == "" && col == none {
						if c != nil {
							t.Errorf("a refused command was recorded: %+v", c)
						}
					} else if c == nil || c.Command != name || c.Actor != "octocat" || c.Source != "comment" {
						t.Errorf("the control record is %+v", c)
					}
				})
			}
		}
	}
}

// X4, X5: every word that halts is one of policy's, and every command has its
// row of the table.
func TestTheWordsOfPolicyAndRecordAgree(t *testing.T) {
	for _, c := range policy.AllCommands() {
		control := &record.Control{Command: string(c)}
		if control.Arming() != c.Arming() {
			t.Errorf("%s arms for one of them alone", c)
		}
		if halts := halted(record.Record{Item: record.Item{Control: control}}) != ""; halts == c.Arming() {
			t.Errorf("%s halts: %v", c, halts)
		}
		for _, col := range []column{none, active, paused, closed} {
			if act, ok := commands[c.ActsAs()][col]; !ok || !act.refuse && act.effect == "" {
				t.Errorf("%s at %s is not in the table", c, col)
			}
		}
	}
	for _, word := range []string{"", "Start", "execute", "halt"} {
		control := &record.Control{Command: word}
		if control.Arming() || halted(record.Record{Item: record.Item{Control: control}}) != "" {
			t.Errorf("%q is taken for a command", word)
		}
	}
}

// X6: an edit of a pending comment that brings a command runs it, once.
func TestAPendingCommentIsEditedIntoACommand(t *testing.T) {
	for _, tt := range []struct {
		body, command string
		state         record.State
		outcome       string
	}{
		{"the-loop stop", "stop", record.Settled, record.ControlExecuted},
		{"the-loop pause, I said", "pause", record.Settled, record.ControlExecuted},
		{"the-loop start", "start", record.Settled, record.ControlExecuted},
		{"the-loop do it with Postgres", "do", record.Pending, ""},
		{"the-loop resume", "start", record.Settled, record.ControlRejected},
		{"the-loop start or the-loop stop?", "start", record.Settled, record.ControlAmbiguous},
	} {
		t.Run(tt.body, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			id, other := w.say(ref, "octocat", "one"), w.say(ref, "octocat", "two")
			w.cycle()
			w.src.threads[ref.Key()][1].Body = tt.body
			for range 3 {
				if r := w.cycle(); len(r.Errors) > 0 {
					t.Fatal(r.Errors)
				}
			}
			w.want(ref, id, tt.state, tt.outcome)
			if c := w.records[ref.Key()].Item.Control; c.Command != tt.command {
				t.Errorf("the record says %s", c.Command)
			}
			halts := tt.command == "stop" || tt.command == "pause"
			if row := w.row(ref, other); halts != (row.State == record.Settled) {
				t.Errorf("what was queued behind it is %s", row.State)
			}
			if n := w.told("control.command"); n != 1+btoi(tt.command != "start" || tt.body == "the-loop start") {
				t.Errorf("commands were told of %d times", n)
			}
		})
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A6: a keyword edited into a resolved comment does nothing.
func TestAResolvedCommentIsNotObeyedAgain(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id := w.say(ref, "octocat", "one")
	w.cycle()
	w.deliver(ref, id)
	w.src.threads[ref.Key()][1].Body = "the-loop stop"
	w.say(ref, "mallory", "bump")
	w.cycle()
	w.wantQueued()
	if c := w.records[ref.Key()].Item.Control; c.Command != "start" {
		t.Errorf("the record says %s", c.Command)
	}
}

// X4: cleanup drops the row of the closed session, so that the next start begins
// afresh; also when that start comes before the poller has looked again.
func TestCleanupDropsTheSessionRow(t *testing.T) {
	for name, hurried := range map[string]bool{"then quiet": false, "then a start at once": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			w.say(ref, "octocat", "the-loop cleanup")
			w.cycle()
			w.wantQueued("close close")
			w.change(ref, record.SetStatus{Status: record.Shut, At: w.now})
			w.pane(ref, record.PaneDead, "life-1")
			if hurried {
				w.say(ref, "octocat", "the-loop start")
			}
			w.cycle()
			if s := w.records[ref.Key()].Session; s != nil {
				t.Errorf("the row is still there: %+v", s)
			}
			if !hurried {
				w.wantQueued()
				w.quietCycle()
			}
		})
	}
}

// A ledger that was copied here keeps the other machine's row, and its cleanup is
// no fault.
func TestCleanupLeavesAnotherMachinesSession(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.change(ref, record.PutSession{Session: record.Session{Status: record.Active, Host: "there"}})
	delete(w.panes, ref.Key())
	w.say(ref, "octocat", "the-loop cleanup")
	if r := w.cycle(); len(r.Errors) > 0 {
		t.Fatal(r.Errors)
	}
	if s := w.records[ref.Key()].Session; s == nil || s.Host != "there" {
		t.Errorf("its row is %+v", s)
	}
	w.unreadCycle()
}

// X7: a start that is said while the session is being closed is served by none,
// and gets its own when the close is through.
func TestAStartDuringACloseIsOwedASession(t *testing.T) {
	for name, silent := range map[string]bool{"queued": false, "not answered": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			w.say(ref, "octocat", "the-loop stop")
			w.cycle() // the close is queued, and held from now on
			if silent {
				w.take()
				s := *w.records[ref.Key()].Session
				s.Until = w.now.Add(time.Hour)
				w.change(ref, record.PutSession{Session: s})
				w.panes[ref.Key()] = record.Pane{State: record.PaneUnknown}
			}
			w.say(ref, "octocat", "the-loop start")
			w.cycle()
			if w.records[ref.Key()].Item.Control.Served {
				t.Error("what is being closed serves it")
			}
			if got := w.take(); slices.ContainsFunc(got, func(s string) bool { return s != "close close" }) {
				t.Errorf("queued %q before the close is through", got)
			}
			s := *w.records[ref.Key()].Session
			s.Status, s.Until, s.EndedAt = record.Shut, time.Time{}, w.now
			w.change(ref, record.PutSession{Session: s})
			w.pane(ref, record.PaneDead, "life-1")
			w.cycle()
			w.wantQueued("spawn poll-spawn-github-octo-repo-1-2")
		})
	}
}

// The same when the close finds that it has lapsed: the session lives on and has
// the words beside the start.
func TestAStartBeforeACloseKeepsTheSession(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	id := w.say(ref, "octocat", "the-loop start, and use Postgres")
	w.cycle()
	if got := w.take(); !slices.Contains(got, "deliver poll-comment-"+id) {
		t.Errorf("queued %q", got)
	}
	w.cycle()
	if !w.records[ref.Key()].Item.Control.Served {
		t.Error("a session that lives serves the start")
	}
}

// X5: a stop gives a queued spawn's attempt back; one that has started stays.
func TestAStopTakesAQueuedSpawnBack(t *testing.T) {
	w := newWorld(t)
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	if s := w.records[ref.Key()].Item.Spawn; s.InHand() || s.Attempts != 0 {
		t.Errorf("the spawn row is %+v", s)
	}
	w = newWorld(t)
	ref = w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.change(ref, record.Start{On: record.OnNewPane, Until: w.now.Add(time.Hour)})
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	if s := w.records[ref.Key()].Item.Spawn; !s.Started() || s.Attempts != 1 {
		t.Errorf("the started spawn row is %+v", s)
	}
}

// X5: at most one delivery that had started may still arrive after a stop.
func TestAStopLeavesWhatHasStarted(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	a, b := w.say(ref, "octocat", "a"), w.say(ref, "octocat", "b")
	w.cycle()
	w.change(ref, record.Start{Comment: a, On: "life-1", Until: w.now.Add(time.Hour)})
	w.say(ref, "octocat", "the-loop stop")
	w.cycle()
	w.want(ref, a, record.Pending, "")
	w.want(ref, b, record.Settled, record.SessionStopped)
	if got := w.take(); !slices.Contains(got, "close close") {
		t.Errorf("queued %q: the close is to be behind what runs", got)
	}
}

// X4: commands that were said between two cycles are obeyed in their order, each
// on what the one before has made.
func TestAPauseAndAResumeInOneCycle(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	w.say(ref, "octocat", "the-loop pause")
	id := w.say(ref, "octocat", "the-loop resume")
	w.cycle()
	w.want(ref, id, record.Settled, record.ControlExecuted)
	if s := w.records[ref.Key()].Session; s.Status != record.Active {
		t.Errorf("the session is %s", s.Status)
	}
}

// X6: a row runs a command once, also when its other words are edited; and a
// keyword that was made one since is no command of words that are on their way.
func TestAPendingCommentRunsItsCommandOnce(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	id, plain := w.say(ref, "octocat", "the-loop start, and use MySQL"), w.say(ref, "octocat", "please halt the deploy")
	w.cycle()
	w.src.threads[ref.Key()][1].Body = "the-loop start, and use Postgres"
	w.policy.Keywords = map[policy.Command]string{policy.Stop: "halt"}
	w.cycle()
	if n := w.told("control.command"); n != 2 {
		t.Errorf("%d commands were obeyed", n)
	}
	w.want(ref, id, record.Pending, "")
	w.want(ref, plain, record.Pending, "")
	if row := w.row(ref, id); row.SHA256 != record.TextHash("the-loop start, and use Postgres") || row.Ran != "start" {
		t.Errorf("the row is %+v", row)
	}
}

// A1, A7: a listed bot's start counts until the bot is taken off.
func TestABotsStart(t *testing.T) {
	w := newWorld(t)
	w.policy.AuthorizedUsers = append(w.policy.AuthorizedUsers, "copilot[bot]")
	ref := w.open(1, "mallory")
	w.say(ref, "Copilot", "the-loop start")
	w.src.threads[ref.Key()][0].Author.Bot = true
	w.cycle()
	w.wantQueued("spawn poll-spawn-github-octo-repo-1-1")
	w.policy.AuthorizedUsers = []string{"octocat", "Copilot"} // a person of that name
	w.cycle()
	w.wantQueued()
}

// A1, A2, X2: at first sight, too, nobody else's command is obeyed.
func TestCommandsOfOthersBeforeWeLooked(t *testing.T) {
	for name, tt := range map[string]struct{ author, body, outcome string }{
		"a stranger's": {"mallory", "the-loop start", record.Unauthorized},
		"our own":      {"octocat", "say the-loop start " + policy.Marker, record.SelfAuthored},
		"two at once":  {"octocat", "the-loop start the-loop stop", record.FirstSight},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.open(1, "octocat")
			id := w.say(ref, tt.author, tt.body)
			w.cycle()
			w.want(ref, id, record.Baselined, tt.outcome)
			if c := w.records[ref.Key()].Item.Control; c != nil {
				t.Errorf("obeyed: %+v", c)
			}
			w.wantQueued()
		})
	}
}

// X4: a cleanup whose closed session lives again closes it again, and keeps what
// its row knows until then; on an unknown nothing is dropped.
func TestCleanupOfAClosedSession(t *testing.T) {
	for name, tt := range map[string]struct {
		pane   record.PaneState
		queued []string
	}{
		"it lives again": {record.PaneLive, []string{"close close"}},
		"tmux is silent": {record.PaneUnknown, nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.started()
			s := *w.records[ref.Key()].Session
			s.Status, s.EndedAt, s.HarnessSessionID = record.Shut, w.now.Add(time.Hour), "the conversation"
			w.change(ref, record.PutSession{Session: s}, control("cleanup", "octocat"))
			w.pane(ref, tt.pane, "life-2")
			w.cycle()
			w.wantQueued(tt.queued...)
			if s := w.records[ref.Key()].Session; s == nil || s.HarnessSessionID != "the conversation" {
				t.Errorf("the row is %+v", s)
			} else if live := tt.pane == record.PaneLive; live && (s.Status != record.Active || s.Identity != "life-2" || !s.EndedAt.IsZero()) {
				t.Errorf("the row is %+v", s)
			}
		})
	}
}

// X4: a pause holds a session that came up while it was on its way, also when
// the tracker is down.
func TestAPauseHoldsASessionThatComesUp(t *testing.T) {
	for name, down := range map[string]bool{"at its turn": false, "the tracker is down": true} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			ref := w.open(1, "octocat")
			w.say(ref, "octocat", "the-loop start")
			w.cycle()
			w.change(ref, record.Start{On: record.OnNewPane, Until: w.now.Add(time.Minute)})
			w.say(ref, "octocat", "the-loop pause")
			w.cycle()
			w.take()
			w.change(ref, record.PutSession{Session: record.Session{Status: record.Active, Host: "here", Identity: "life-1"}}, record.Deliver{})
			w.pane(ref, record.PaneLive, "life-1")
			if down {
				w.src.listErr = errTracker
			}
			w.cycle()
			if s := w.records[ref.Key()].Session; s.Status != record.Paused {
				t.Errorf("the session is %s", s.Status)
			}
		})
	}
}

// X4: the spawn policy binds an item without a session alone.
func TestThePolicyBindsTheFirstColumnAlone(t *testing.T) {
	for _, col := range []column{active, paused, closed, "dead"} {
		w := newWorld(t)
		w.at(col)
		w.policy.SpawnOnUnmatched = policy.SpawnNever
		id := w.say(issue(1), "octocat", "the-loop start")
		w.cycle()
		if row := w.row(issue(1), id); row.Outcome != record.ControlExecuted {
			t.Errorf("%s: the start is %s", col, row.Outcome)
		}
	}
}

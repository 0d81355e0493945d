//go:build unix

package session

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"theloop/record"
	"theloop/session/tmux"
	"theloop/testdata/harness/harnesslog"
	"theloop/workitem"
)

func wild(id string) workitem.Comment {
	return octoComment(id, "octocat", id+": several\nlines\twith `ticks`, \x1b[201~ and \u202e, $(touch x); #{pid} {{sessionId}} é")
}

// D5, D3, D7, D8, D9, D10, A5 on the real tmux, from the harness's log: a session
// comes up with the event in its first prompt, takes the next comment once, ends,
// comes up again with the next one, and is closed.
func TestRealLife(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	first, second, third := wild("IC_1"), wild("IC_2"), wild("IC_3")
	if got := r.deliver(first); got != Done {
		t.Fatalf("%s, events %v", got, r.events)
	}
	start := harnesslog.Starts(r.records())[0]
	row := r.ledger.get(octoRef).Session
	if d := data(t, r.texts(1)[0]); d.Event.Text != first.Body || d.Item.Text != octoItem().Body {
		t.Errorf("the first prompt is %q", start.Prompt)
	}
	if start.Session != row.HarnessSessionID || start.Dir != r.dir || row.TmuxTarget != "loop-github-octo-repo-15" {
		t.Errorf("started as %+v, row %+v", start, row)
	}
	for _, kv := range start.Env { // D8
		if strings.HasPrefix(kv, "TMUX") || strings.Contains(kv, "a-secret") {
			t.Errorf("the harness sees %s", kv)
		}
	}
	if l := r.look(); l.Owner != octoOwner || !slices.Equal(l.Ring, []string{record.Mark("poll-comment-IC_1")}) || l.HarnessSession != row.HarnessSessionID || l.Identity != row.Identity {
		t.Errorf("the pane is %+v", l)
	}

	if got := r.deliver(second); got != Done {
		t.Fatalf("%s, events %v", got, r.events)
	}
	if d := data(t, r.texts(2)[1]); d.Event.Text != second.Body || d.Item != nil {
		t.Errorf("pasted %+v", d)
	}
	r.again(second, 2)

	r.exits()
	r.again(second, 2) // D7: its ring is read before the pane is used again
	if got := r.deliver(third); got != Done {
		t.Fatalf("%s, events %v", got, r.events)
	}
	if d := data(t, r.texts(3)[2]); d.Event.Text != third.Body {
		t.Errorf("resumed with %+v", d)
	}
	starts := harnesslog.Starts(r.records())
	if len(starts) != 2 || starts[1].Resume != row.HarnessSessionID || r.look().PaneID != row.Pane {
		t.Errorf("started %d times, last resuming %q", len(starts), starts[len(starts)-1].Resume)
	}

	if got := r.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done {
		t.Fatalf("%s, events %v", got, r.events)
	}
	if l := r.look(); l.State != tmux.Dead || r.ledger.get(octoRef).Session.Open() {
		t.Errorf("after the close the pane is %s", l.State)
	}
	if n := len(r.texts(3)); n != 3 {
		t.Errorf("%d texts in all", n)
	}
}

// again delivers as one would whose ledger lost what became of it.
func (r *rig) again(c workitem.Comment, texts int) {
	r.t.Helper()
	session := r.ledger.get(octoRef).Session
	lost := newMemory(r.t)
	lost.put(octoRef, record.Observe{Item: octoItem()}, record.FirstSeen{At: time.Now().Add(-time.Hour)}, record.PutSession{Session: *session})
	kept := r.ledger
	r.ledger, r.host = lost, nil
	r.host = r.newHost(testRun)
	if got := r.deliver(c); got != Done {
		r.t.Errorf("again: %s", got)
	}
	if n := len(harnesslog.Texts(r.records())); n != texts {
		r.t.Errorf("again: %d texts, not %d", n, texts)
	}
	r.ledger, r.host = kept, nil
	r.host = r.newHost(testRun)
}

// B8, F5: a kill between start and tmux sends nothing; one behind tmux leaves the
// mark, by which the next decision knows.
func TestRealKills(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at    string
		live  bool
		proof record.Proof
		texts int
	}{
		{"started", true, record.ProvedUnsent, 1},
		{"pasted", true, record.ProvedSent, 2},
		{"started", false, record.Unproved, 0},
		{"pasted", false, record.ProvedSent, 1},
		{"proved", false, record.ProvedSent, 1},
	} {
		t.Run(fmt.Sprintf("%s, live %v", c.at, c.live), func(t *testing.T) {
			t.Parallel()
			r := newRig(t)
			if c.live {
				if got := r.deliver(wild("IC_0")); got != Done {
					t.Fatalf("%s, events %v", got, r.events)
				}
			}
			r.killed(c.at, func() { r.deliver(wild("IC_1")) })
			r.texts(c.texts)
			rec := r.ledger.get(octoRef)
			row, pane := r.ledger.row(octoRef, "IC_1"), r.host.Look(t.Context(), octoRef, rec)
			if proof := record.Judge(row.Delivery, pane, row.Until.Add(time.Second)); proof != c.proof || row.Phase() != record.Running {
				t.Errorf("%s proves %s, pane %+v", row.Phase(), proof, pane)
			}
			if n := len(harnesslog.Texts(r.records())); n != c.texts {
				t.Errorf("%d texts", n)
			}
			if c.at == "proved" && rec.Session == nil {
				// Nobody's row names the session: it is taken over as it is (D5).
				r.ledger.put(octoRef, record.Deliver{Comment: "IC_1"})
				if got, err := r.host.Adopt(t.Context(), Adoption{Ref: octoRef}); got != Done || err != nil {
					t.Errorf("%s %v", got, err)
				}
				if s := r.ledger.get(octoRef).Session; s.HarnessSessionID != harnesslog.Starts(r.records())[0].Session {
					t.Errorf("adopted %+v", s)
				}
			}
		})
	}
}

// D5: a harness that exits at once is a failed attempt that names its exit; a
// resumed conversation that does gives way to a fresh one.
func TestRealEarlyDeath(t *testing.T) {
	t.Run("fresh", func(t *testing.T) {
		r := newRig(t, "-exit-after", "1ms", "-exit-code", "3")
		r.dies = true
		if got := r.deliver(wild("IC_1")); got != Failed {
			t.Errorf("%s, events %v", got, r.events)
		}
		if row := r.ledger.row(octoRef, "IC_1"); row.Phase() != record.Idle || !row.MayRepeat || r.look().ExitStatus != "exit 3" {
			t.Errorf("%s, pane %+v", row.Phase(), r.look())
		}
	})
	t.Run("resumed", func(t *testing.T) {
		r := newRig(t, "-fail-resume")
		if got := r.deliver(wild("IC_1")); got != Done {
			t.Fatalf("%s, events %v", got, r.events)
		}
		r.exits()
		if got := r.deliver(wild("IC_2")); got != Done {
			t.Fatalf("%s, events %v", got, r.events)
		}
		starts := harnesslog.Starts(r.records())
		last := string(starts[len(starts)-1].Prompt)
		if len(starts) != 3 || starts[1].Resume == "" || starts[2].Session == "" || !strings.Contains(last, "may be a repeat") || data(t, last).Item == nil {
			t.Errorf("%d starts, the last with %q", len(starts), last)
		}
		if s := r.ledger.get(octoRef).Session; s.HarnessSessionID != starts[2].Session || r.look().HarnessSession != starts[2].Session {
			t.Errorf("the row names %s", s.HarnessSessionID)
		}
	})
}

// D2, D5, D9: what a user has under the session's name is neither typed into nor
// killed, and no second session is made beside it.
func TestRealForeignSession(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.user("new-session", "-d", "-s", "loop-github-octo-repo-15", harnessPath, "-log", r.log)
	r.eventually("it is ready", func() bool {
		return slices.ContainsFunc(r.records(), func(rec harnesslog.Record) bool { return rec.Kind == "raw" })
	})
	if got := r.deliver(wild("IC_1")); got != Dropped {
		t.Errorf("delivered: %s", got)
	}
	if got := r.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done {
		t.Errorf("closed: %s", got)
	}
	records := r.records()
	if len(harnesslog.Input(records, 0)) > 0 || slices.ContainsFunc(records, func(rec harnesslog.Record) bool { return rec.Kind == "signal" || rec.Kind == "exit" }) {
		t.Errorf("it was touched: %+v", records)
	}
	if all := r.user("list-sessions", "-F", "#{session_name}"); all != "loop-github-octo-repo-15" {
		t.Errorf("sessions %q", all)
	}
	// On the operator's word it is taken over, and then it is one of ours.
	if got, err := r.host.Adopt(t.Context(), Adoption{Ref: octoRef, Force: true}); got != Done || err != nil {
		t.Fatalf("adopted: %s %v", got, err)
	}
	if got := r.deliver(wild("IC_1")); got != Done || len(r.texts(1)) != 1 {
		t.Errorf("delivered: %s", got)
	}
}

// D9: a harness that is deaf to TERM is killed, and its pane taken away when it is
// not to be kept.
func TestRealClose(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-ignore-term")
	if got := r.deliver(wild("IC_1")); got != Done {
		t.Fatalf("%s, events %v", got, r.events)
	}
	r.settings.KeepSessionOnClose, r.settings.KillGrace = false, 50*time.Millisecond
	if n, err := r.host.Live(t.Context()); n != 1 || err != nil {
		t.Errorf("%d live, %v", n, err)
	}
	if got := r.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done || r.look().State != tmux.Absent {
		t.Errorf("%s, the pane is %s", got, r.look().State)
	}
	if n, err := r.host.Live(t.Context()); n != 0 || err != nil {
		t.Errorf("%d live, %v", n, err)
	}
	pid := harnesslog.Starts(r.records())[0].PID
	r.eventually("the harness is gone", func() bool { return syscall.Kill(pid, 0) != nil })
	if !slices.ContainsFunc(r.records(), func(rec harnesslog.Record) bool { return rec.Text == "terminated" }) {
		t.Error("it was not asked first")
	}
}

// D2: several hosts that want the same session make one.
func TestRealSpawnRace(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const hosts = 6
	results := make(chan Result, hosts)
	for i := range hosts {
		lone := newMemory(t)
		lone.put(octoRef, record.Observe{Item: octoItem()}, record.FirstSeen{At: time.Now()},
			record.QueueSpawn{DeliveryID: fmt.Sprintf("poll-spawn-%d", i), Run: testRun})
		kept := r.ledger
		r.ledger = lone
		h := r.newHost(testRun)
		h.Emit = func(string, map[string]any) {}
		r.ledger = kept
		go func() {
			results <- h.Spawn(context.Background(), Spawn{Ref: octoRef, DeliveryID: fmt.Sprintf("poll-spawn-%d", i), Story: Story{Item: octoItem()}})
		}()
	}
	for range hosts {
		if got := <-results; got != Done {
			t.Errorf("%s", got)
		}
	}
	r.texts(1)
	if n := len(harnesslog.Starts(r.records())); n != 1 {
		t.Errorf("%d harnesses", n)
	}
}

// D4, B9: of a server that is stopped nothing is concluded. Before the start it
// costs nothing; after it the attempt waits for its deadline, and is proved by
// the ring when the server goes on.
func TestRealStoppedServer(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		at    string
		phase record.Phase
		lands bool
	}{{"look", record.Queued, false}, {"started", record.Running, true}} {
		t.Run(c.at, func(t *testing.T) {
			t.Parallel()
			r := newRigWith(t, tmux.Options{CallTimeout: 1500 * time.Millisecond})
			if got := r.deliver(wild("IC_0")); got != Done {
				t.Fatal(got)
			}
			server := r.server()
			stop := func() { r.signal(server, syscall.SIGSTOP) }
			defer func() { _ = syscall.Kill(server, syscall.SIGCONT) }()
			if r.at["started"] = stop; c.at == "look" {
				delete(r.at, "started")
				stop()
			}
			if got, row := r.deliver(wild("IC_1")), r.ledger.row(octoRef, "IC_1"); got != Unknown || row.Phase() != c.phase || row.Attempts != 1 {
				t.Errorf("%s, %s, %d attempts", got, row.Phase(), row.Attempts)
			}
			if got := r.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Unknown || !r.ledger.get(octoRef).Session.Open() {
				t.Errorf("closed: %s", got)
			}
			r.signal(server, syscall.SIGCONT)
			r.eventually("it answers", func() bool { return r.look().State == tmux.Live })
			if !c.lands {
				if n := len(harnesslog.Texts(r.records())); n != 1 {
					t.Errorf("%d texts", n)
				}
				if got := r.deliver(wild("IC_1")); got != Done {
					t.Errorf("afterwards: %s", got)
				}
			}
			r.texts(2)
			row, pane := r.ledger.row(octoRef, "IC_1"), r.host.Look(t.Context(), octoRef, r.ledger.get(octoRef))
			if proof := record.Judge(row.Delivery, pane, time.Now()); c.lands && proof != record.ProvedSent {
				t.Errorf("the ring says %s", proof)
			}
		})
	}
}

// server is the process of the rig's tmux server.
func (r *rig) server() int {
	r.t.Helper()
	server, err := strconv.Atoi(strings.Split(r.look().Identity, "/")[0])
	if err != nil {
		r.t.Fatal(err)
	}
	return server
}

func (r *rig) signal(pid int, sig syscall.Signal) {
	r.t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		r.t.Error(err)
	}
}

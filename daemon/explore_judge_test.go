package daemon

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"theloop/eventlog"
	"theloop/localapi"
	"theloop/record"
	"theloop/testdata/harness/harnesslog"
	"theloop/workitem"
)

// operated is what an operator can do, with a poller and without.
type operated interface {
	Order(context.Context, localapi.Order) (localapi.Ordered, error)
	Forget(context.Context, localapi.Forget) ([]string, error)
	Adopt(context.Context, workitem.Ref) (localapi.Adopted, error)
}

// judge waits until the item rests, and holds what is recorded against what is so.
// Nothing of it may be left to do.
func (e *explorer) judge() {
	e.t.Helper()
	e.stopped()
	rec := e.rests()
	e.note("at rest: control %+v, session %+v, spawn %+v, panes %q", rec.Item.Control, rec.Session, rec.Item.Spawn, e.panes())
	switch {
	case rec.InHand() || len(rec.Comments.Pending()) > 0:
		e.bad("something is left: %+v %+v", rec.Item.Spawn, rec.Comments.Pending())
	case e.closed && rec.Item.Known():
		e.bad("it has ended, and is not sealed")
	}
	e.judgePane(rec)
	e.judgeTold(rec)
	e.judgeConversations()
	if cleaned := rec.Item.Known() && rec.Item.Control.CleansUp(); e.closed || cleaned {
		e.noMore(e.closed)
	}
}

func (e *explorer) bad(format string, args ...any) {
	e.t.Helper()
	e.note("FAULT: "+format, args...)
	e.t.Fatalf(format, args...)
}

// rests runs cycles until two in a row find the same.
func (e *explorer) rests() (rec record.Record) {
	e.t.Helper()
	before := ""
	e.until("it rests", func() bool {
		seen := len(e.events("*"))
		o := e.options()
		o.Once = true
		if _, err := Run(e.t.Context(), o); err != nil {
			e.t.Fatalf("a cycle: %v\n%s", err, &e.log)
		}
		rec = e.record(1)
		now, err := json.Marshal([]any{rec.Item.Rev, rec.Item.Control, rec.Item.Spawn, rec.Session, rec.Comments.All(), e.panes()})
		if err != nil {
			e.t.Fatal(err)
		}
		same := string(now) == before
		before = string(now)
		told := slices.ContainsFunc(e.events("*")[seen:], func(entry eventlog.Entry) bool { return entry.Fields["work_item"] != nil })
		waits := rec.InHand() || rec.Session != nil && rec.Session.Until.After(time.Now()) // for a deadline, behind a kill
		return same && !told && !waits
	})
	return rec
}

// panes are the marks and states of what runs, and of what is kept.
func (e *explorer) panes() string {
	return e.tmux("list-panes", "-a", "-F", "#{@the_loop_owner} #{pane_id} #{pid}/#{session_created}/#{pane_pid} #{@the_loop_session} #{pane_dead}")
}

// judgePane holds the row against the pane: D2, X4, X7.
func (e *explorer) judgePane(rec record.Record) {
	e.t.Helper()
	var live [][]string
	for line := range strings.Lines(e.panes()) {
		if f := strings.Fields(line); len(f) == 5 && f[4] == "0" {
			live = append(live, f)
		}
	}
	s, c := rec.Session, rec.Item.Control
	e.torn = e.torn && len(live) == 0
	halted := rec.Item.Known() && c != nil && (c.Command == "stop" || c.Command == "cleanup")
	switch {
	case len(live) > 1:
		e.bad("%d sessions run: %q", len(live), live)
	case len(live) == 1 && !s.Open():
		e.bad("%q runs, and the row is %+v", live[0], s)
	case len(live) == 1 && (s.Pane != live[0][1] || s.Identity != live[0][2] || s.HarnessSessionID != live[0][3]):
		e.bad("%q runs, and the row is %+v", live[0], s)
	case len(live) == 0 && s.Open() && !e.torn:
		e.bad("nothing runs, and the row is %+v", s)
	case halted && (len(live) > 0 || s.Open()), c.CleansUp() && rec.Item.Known() && s != nil:
		e.bad("it was told to %s: %q, %+v", c.Command, live, s)
	case e.owed && len(live) == 0:
		e.bad("a session was to come up, and none is there")
	case !e.closed && c.Arming() && !c.Served && (c.Source == "cli" || strings.Contains(e.users, c.Actor)):
		e.bad("a session is owed: %+v", c)
	}
}

// judgeTold holds the rows of the comments against what the agents were told: A1,
// D7, X5.
func (e *explorer) judgeTold(rec record.Record) {
	e.t.Helper()
	for _, id := range e.ids {
		row, known := rec.Comments.Get(id)
		if row.State == record.Delivered && !e.torn {
			e.until(id+" is told", func() bool { times, _ := e.tellings(id); return times > 0 })
		}
		times, once := e.tellings(id)
		switch {
		case !once:
			e.bad("%s was told twice", id)
		case strings.Contains(id, "mallory") && times > 0:
			e.bad("a stranger was told: %s", id)
		case !known && rec.Item.Known():
			e.bad("%s has no row", id)
		case known && times > 0 && row.State != record.Delivered && !e.past[id] && !e.torn:
			e.bad("%s was told, and is %s %s", id, row.State, row.Outcome)
		}
	}
}

// tellings counts how often a comment was told as news. once says that no agent was
// told it twice, and no second one without a word that it may be a repeat.
func (e *explorer) tellings(id string) (times int, once bool) {
	e.t.Helper()
	sure := 0
	records := e.agents()
	for _, start := range harnesslog.Starts(records) {
		here := 0
		for _, text := range harnesslog.Texts(ofAgent(records, start.PID)) {
			if !strings.Contains(text, "delivery "+record.CommentDeliveryID(id)+")") {
				continue
			}
			here++
			if !strings.Contains(text, "may be a repeat") {
				sure++
			}
		}
		if times += here; here > 1 {
			return times, false
		}
	}
	return times, sure <= 1 || e.past[id]
}

func (e *explorer) agents() []harnesslog.Record {
	e.t.Helper()
	records, err := harnesslog.Read(e.path("agent.log"))
	if err != nil {
		e.t.Fatal(err)
	}
	return records
}

func ofAgent(records []harnesslog.Record, pid int) []harnesslog.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r harnesslog.Record) bool { return r.PID != pid })
}

// judgeConversations looks whether one was gone on with that is over: P8, X4.
func (e *explorer) judgeConversations() {
	e.t.Helper()
	for _, start := range harnesslog.Starts(e.agents())[e.starts:] {
		if e.old[start.Resume] {
			e.bad("the conversation %s was gone on with", start.Resume)
		}
	}
}

// noMore says that no conversation so far may be gone on with and, of a new life of
// the item, that what was said so far is nothing to it.
func (e *explorer) noMore(newLife bool) {
	e.t.Helper()
	starts := harnesslog.Starts(e.agents())
	e.starts = len(starts)
	for _, start := range starts {
		e.old[start.Session] = start.Session != ""
	}
	for _, id := range e.ids {
		e.past[id] = e.past[id] || newLife
	}
}

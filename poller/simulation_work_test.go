package poller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// terminal is the tmux session of one item.
type terminal struct {
	state record.PaneState
	life  string
	ring  []string
	// told is what this life of the pane was told.
	told []hearing
	// exits says that its harness ends at once when it is started.
	exits bool
}

// hearing is one comment that reached a pane.
type hearing struct {
	id        string
	mayRepeat bool
}

// late is a call whose client is gone and which a hung server carries out when it
// goes on.
type late struct {
	t  *task
	at time.Time
}

// stage is how far a worker has come with its job.
type stage string

const (
	begun   stage = "begin"   // nothing is committed
	acting  stage = "act"     // the start is committed, tmux was not asked
	probing stage = "probe"   // a harness was started
	ending  stage = "outcome" // tmux has answered, the outcome is not committed
)

// task is one job of a lane.
type task struct {
	e         Effect
	stage     stage
	on        string // the life that it was started on, or OnNewPane
	until     time.Time
	mayRepeat bool
	skips     int
}

func (t *task) row() string { return t.e.Comment.ID }

func (t *task) mark() string { return record.Mark(t.e.ID) }

func (s *sim) Held(ref workitem.Ref) (ids []string) {
	s.call()
	for _, t := range s.lanes[ref.Key()] {
		ids = append(ids, t.e.ID)
	}
	return ids
}

func (s *sim) Put(e Effect) bool {
	s.call()
	if s.dead {
		return false
	}
	key := (&task{e: e}).session().Key()
	if e.Kind == DoNotice { // posts have a queue of their own (C6)
		s.posts = append(s.posts, e)
		return true
	}
	for _, t := range s.lanes[key] {
		if t.e.ID == e.ID {
			s.fail("F7: %s is queued twice", e.ID)
		}
	}
	s.checkEffect(e)
	s.lanes[key] = append(s.lanes[key], &task{e: e, stage: begun})
	return true
}

func (s *sim) Look(_ context.Context, ref workitem.Ref, rec record.Record) record.Pane {
	s.call()
	return s.look(ref, rec)
}

func (s *sim) look(ref workitem.Ref, rec record.Record) record.Pane {
	p := s.tmux[ref.Key()]
	switch {
	case s.silent:
		return record.Pane{State: record.PaneUnknown}
	case p.state == record.PaneForeign:
		return record.Pane{State: record.PaneForeign, Holder: "somebody"}
	case p.state == record.PaneAbsent && rec.Session == nil:
		return record.Pane{State: record.PaneNone}
	case p.state == record.PaneAbsent:
		return record.Pane{State: record.PaneAbsent}
	}
	return record.Pane{State: p.state, ID: "%1", Identity: p.life, Ring: slices.Clone(p.ring), Adoptable: true}
}

func (s *sim) Live(context.Context) (n int, err error) {
	s.call()
	if s.silent {
		return 0, errors.New("no answer")
	}
	for _, p := range s.tmux {
		if p.state == record.PaneLive {
			n++
		}
	}
	return n, nil
}

// terminals lets something happen to a pane.
func (s *sim) terminals() {
	p := s.some()
	switch what := pick(s, "pane", "dies", "dies", "vanishes", "is somebody else's", "is free"); {
	case what == "dies" && p.state == record.PaneLive:
		p.end(s.keeps)
	case what == "vanishes" && p.state != record.PaneForeign:
		p.end(false)
	case what == "is somebody else's" && p.state == record.PaneAbsent:
		p.state = record.PaneForeign
	case what == "is free" && p.state == record.PaneForeign:
		p.state = record.PaneAbsent
	default:
		return
	}
	s.note("  a pane is %s", p.state)
}

func (p *terminal) end(keep bool) {
	p.state = record.PaneDead
	if !keep {
		*p = terminal{state: record.PaneAbsent, exits: p.exits}
	}
}

// land lets the late calls happen whose time has come.
func (s *sim) land() {
	calls := s.late
	s.late = nil
	for _, c := range calls {
		if s.now.Before(c.at) {
			s.late = append(s.late, c)
		} else if s.tell(c.t, c.at) {
			s.note("  %s took effect late", c.t.e.ID)
		}
	}
}

// workOne takes the first job of some lane one stage further.
func (s *sim) workOne() {
	var busy []string
	for _, item := range s.src.items { // in a fixed order, so that a story can be replayed
		if key := item.Ref.Key(); len(s.lanes[key]) > 0 {
			busy = append(busy, key)
		}
	}
	if len(busy) > 0 && !s.dead {
		key := pick(s, "lane", busy...)
		s.disk = pick(s, "disk", "", "", "", "", "", "", "", "", "", "", "disk, applied", "disk, not applied")
		s.advance(key, pick(s, "tmux", "ok", "ok", "lost", "late", "late", "never"))
	}
}

// workAll works every queue empty, without faults.
func (s *sim) workAll() {
	for len(s.posts) > 0 {
		s.post("ok")
	}
	for _, item := range s.src.items {
		for key := item.Ref.Key(); len(s.lanes[key]) > 0 && !s.dead; {
			s.advance(key, "ok")
		}
	}
}

// advance takes the first job of a lane one stage further and ends it when it is
// through. how is what becomes of a tmux call.
func (s *sim) advance(key, how string) {
	t := s.lanes[key][0]
	from := t.stage
	more := map[stage]func(*task, string) bool{
		begun: s.begin, acting: s.act, probing: s.probe, ending: func(t *task, _ string) bool { return s.finish(t) },
	}[t.stage](t, how)
	s.disk = ""
	s.note("  %s: %s, %s (%s)", t.e.ID, from, map[bool]string{true: "goes on", false: "is through"}[more], how)
	if !more {
		s.lanes[key] = s.lanes[key][1:]
	}
}

// cut ends a running job for a stop: before its tmux call it takes start and
// attempt back (B4), after it what was begun is finished.
func (s *sim) cut(key string) {
	t := s.lanes[key][0]
	if t.stage == acting && (t.e.Kind == DoDeliver || t.e.Kind == DoSpawn) && pick(s, "is cut", true, false) {
		s.update(t.e.Ref, func(rec record.Record) []record.Change {
			if !t.delivery(rec).Started() {
				return nil
			}
			return []record.Change{record.Unstart{Comment: t.row(), GiveBack: true}}
		})
		s.lanes[key] = s.lanes[key][1:]
		return
	}
	s.advance(key, "ok")
}

// update commits what decide makes of the record; false when that is unknown.
func (s *sim) update(ref workitem.Ref, decide func(record.Record) []record.Change) bool {
	rec := s.records[ref.Key()]
	changes := decide(rec)
	if len(changes) == 0 {
		return true
	}
	_, _, err := s.write(context.Background(), ref, rec.Item.Rev, changes, nil)
	return err == nil
}

func (t *task) delivery(rec record.Record) record.Delivery {
	if t.row() == "" {
		return rec.Item.Spawn.Delivery
	}
	if row, ok := rec.Comments.Get(t.row()); ok && row.State == record.Pending {
		return row.Delivery
	}
	return record.Delivery{}
}

// waits says that the session stands still until a deadline has passed (D3).
func (s *sim) waits(t *task) bool {
	var until time.Time
	for _, rec := range append(s.sharing(t.session()), s.records[t.e.Ref.Key()], s.records[t.session().Key()]) {
		rows := append(rec.Comments.Pending(), record.Comment{Delivery: rec.Item.Spawn.Delivery})
		if rec.Session != nil {
			rows = append(rows, record.Comment{Delivery: record.Delivery{Until: rec.Session.Until}})
		}
		for _, row := range rows {
			if row.Until.After(until) {
				until = row.Until
			}
		}
	}
	return !s.now.After(until)
}

// begin looks and commits that the job starts; true when it goes on.
func (s *sim) begin(t *task, _ string) bool {
	rec := s.records[t.e.Ref.Key()]
	pane := s.look(t.session(), s.records[t.session().Key()])
	switch {
	case s.waits(t) || pane.State == record.PaneUnknown:
		return false
	case t.e.Kind == DoClose:
		return s.beginClose(t, rec, pane)
	case t.e.Kind == DoAdopt:
		if pane.State == record.PaneLive {
			s.update(t.e.Ref, s.alive)
		}
		return false
	}
	row := t.delivery(rec)
	release := []record.Change{record.Release{Comment: t.row(), DeliveryID: t.e.ID}}
	known, _ := rec.Comments.Get(t.row())
	switch {
	case !row.InHand() || row.Started() || row.DeliveryID != t.e.ID || row.Run != s.runID():
		return false
	case pane.State == record.PaneForeign, t.row() != "" && known.SHA256 != record.TextHash(t.e.Comment.Body):
		s.update(t.e.Ref, func(record.Record) []record.Change { return release })
		return false
	case slices.Contains(pane.Ring, t.mark()):
		return s.finish(t)
	case pane.State == record.PaneLive && t.row() == "":
		s.update(t.e.Ref, func(rec record.Record) []record.Change { return append(s.alive(rec), release...) })
		return false
	}
	t.mayRepeat = row.MayRepeat || slices.Contains(pane.Ring, "_"+t.mark())
	return s.start(t, rec, pane)
}

func (s *sim) start(t *task, rec record.Record, pane record.Pane) bool {
	asked := record.Start{Comment: t.row(), On: record.OnNewPane, Until: s.now.Truncate(time.Second).Add(10 * time.Second)}
	if t.on = asked.On; pane.State == record.PaneLive {
		asked.On, t.on = pane.Identity, pane.Identity
	}
	changes, ok := Admit(rec, s.records[t.session().Key()], s.others(t), asked, s.rules)
	if ok && pane.State == record.PaneDead {
		t.on = pane.Identity
		changes = []record.Change{record.Start{Comment: t.row(), On: t.on, Until: asked.Until}}
	}
	s.acting = t
	known := s.update(t.e.Ref, func(record.Record) []record.Change { return changes })
	t.until, t.stage = asked.Until, acting
	return known && ok
}

// act asks tmux; true when it answered.
func (s *sim) act(t *task, how string) bool {
	if t.e.Kind == DoClose {
		return s.actClose(t, how)
	}
	if s.silent && how != "late" {
		how = "never"
	}
	p := s.tmux[t.session().Key()]
	switch how {
	case "never":
		return false
	case "late":
		s.late = append(s.late, late{t, s.now.Add(time.Duration(s.upTo("seconds late", 12)) * time.Second)})
		return false
	}
	done := s.tell(t, s.now)
	switch {
	case how == "lost":
		return false
	case !done:
		return s.skipped(t, p)
	}
	t.stage = ending
	if t.on == record.OnNewPane || p.life != t.on {
		t.stage = probing
	}
	return true
}

// tell is one guarded tmux sequence: it puts the event into the pane it was
// started on, or makes a session that has it in its first prompt. at is the
// server's clock.
func (s *sim) tell(t *task, at time.Time) bool {
	p := s.tmux[t.session().Key()]
	has := slices.Contains(p.ring, t.mark())
	switch {
	case !at.Before(t.until) || has:
		return false
	case p.state == record.PaneLive && p.life == t.on:
		p.ring = append(p.ring, t.mark())
	case p.state == record.PaneAbsent && t.on == record.OnNewPane, p.state == record.PaneDead && p.life == t.on:
		s.lives++
		p.state, p.life, p.told = record.PaneLive, fmt.Sprint("life-", s.lives), nil
		if s.records[t.session().Key()].Bygone() {
			p.ring = nil
		}
		p.ring = append(p.ring, "_"+t.mark())
		defer func() {
			if p.exits {
				s.lost[t.row()]++
				p.end(s.keeps)
			}
		}()
	default:
		return false
	}
	if t.row() != "" {
		s.hear(t, p)
	}
	return true
}

// skipped: the guard proves that nothing was sent.
func (s *sim) skipped(t *task, p *terminal) bool {
	if slices.Contains(p.ring, t.mark()) && p.state != record.PaneAbsent {
		return s.finish(t)
	}
	t.skips++
	change := record.Change(record.Unstart{Comment: t.row()})
	if t.skips == 2 {
		change = record.Fail{Comment: t.row()}
	}
	known := s.update(t.e.Ref, func(rec record.Record) []record.Change {
		if !t.delivery(rec).Started() {
			return nil
		}
		return []record.Change{change}
	})
	t.stage = begun
	return known && t.skips < 2
}

// probe waits until the harness has lived long enough, and takes the underscore
// away (D5).
func (s *sim) probe(t *task, how string) bool {
	p := s.tmux[t.session().Key()]
	s.now = s.now.Add(2 * time.Second)
	at := slices.Index(p.ring, "_"+t.mark())
	switch {
	case s.silent || how == "never" || how == "late":
		return false
	case p.state != record.PaneLive || at < 0:
		s.update(t.e.Ref, func(rec record.Record) []record.Change {
			if !t.delivery(rec).InHand() {
				return nil
			}
			return []record.Change{record.Fail{Comment: t.row(), MayRepeat: true}}
		})
		return false
	}
	p.ring[at] = t.mark()
	t.stage = ending
	return how == "ok"
}

// finish commits that the attempt has arrived.
func (s *sim) finish(t *task) bool {
	rec, of := s.records[t.e.Ref.Key()], s.records[t.session().Key()]
	var changes []record.Change
	if row := t.delivery(rec); row.DeliveryID == t.e.ID && (row.InHand() || t.row() != "") {
		changes = []record.Change{record.Deliver{Comment: t.row()}}
	}
	if t.session() == t.e.Ref {
		_, _, _ = s.write(context.Background(), t.e.Ref, rec.Item.Rev, append(s.alive(rec), changes...), nil)
		return false
	}
	_, _, _ = s.write(context.Background(), t.e.Ref, rec.Item.Rev, changes, &aside{t.session(), of.Item.Rev, s.alive(of)})
	return false
}

// alive is what the ledger is told of a living session.
func (s *sim) alive(rec record.Record) []record.Change {
	row := record.Session{CreatedAt: s.now, Status: record.Active}
	if rec.Session != nil {
		row = *rec.Session
	}
	if row.Status == record.Shut {
		row.Status = record.Active
	}
	key := s.keyOf(rec)
	row.Host, row.Identity, row.EndedAt, row.Until = "here", s.tmux[key].life, time.Time{}, time.Time{}
	return []record.Change{record.PutSession{Session: row}, record.Serve{}}
}

func (s *sim) keyOf(rec record.Record) string {
	ref, err := workitem.ParseRef(rec.Item.Ref)
	if err != nil {
		s.fail("%v", err)
	}
	return ref.Key()
}

package poller

import (
	"context"
	"slices"
	"strings"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// book is what the checks remember.
type book struct {
	// acting is the job whose worker is about to start it.
	acting *task
	// passed are the steps of the second record in a transaction.
	passed []record.Record
	said   int
	disk   string
	// edited holds the comments whose text was changed.
	edited map[string]bool
	// heard says how often a comment reached a pane, in any life; lost how often
	// that life ended before it had begun.
	heard, lost map[string]int
	// newest is the last comment of an item that arrived for the first time.
	newest map[string]workitem.Position
	// rearmed comments arrive out of order.
	rearmed map[string]bool
	// starts counts what reached tmux, or may have: by comment, or by item for
	// spawns.
	starts map[string]int
	// posted holds the markers that stand on a tracker; healed says that the last
	// upgrade is over.
	posted map[string]bool
	healed bool
	// obeyed and gaveUp hold what may happen once.
	obeyed, gaveUp map[string]bool
	// newestCommand is when the last command of a thread was said.
	newestCommand map[string]time.Time
}

func newBook() book {
	return book{
		edited: map[string]bool{}, heard: map[string]int{}, lost: map[string]int{}, newest: map[string]workitem.Position{}, rearmed: map[string]bool{},
		starts: map[string]int{}, posted: map[string]bool{}, obeyed: map[string]bool{}, gaveUp: map[string]bool{}, newestCommand: map[string]time.Time{},
	}
}

// hear is a comment that reaches a pane: once in each of its lives (I1), in thread
// order (I7), and one that comes again says that it may (I11).
func (s *sim) hear(t *task, p *terminal) {
	id := t.row()
	s.note("    %s hears %s, may repeat %v", p.life, id, t.mayRepeat)
	if slices.ContainsFunc(p.told, func(h hearing) bool { return h.id == id }) {
		s.fail("I1: %s came twice into %s", id, p.life)
	}
	if s.heard[id] > 0 && !t.mayRepeat {
		s.fail("I11: %s comes again and does not say so", id)
	}
	c := t.e.Comment
	if c.Author.Login == "mallory" || c.Author.Nobody() || policy.SelfAuthored(c.Body) {
		s.fail("I5: a pane is told %q by %q", c.Body, c.Author.Login)
	}
	key := t.e.Ref.Key()
	if t.session() != t.e.Ref && s.forge.links[key].ForeignHead {
		s.fail("I5: what is said on a stranger's fork reaches %s", t.session())
	}
	if s.heard[id] == 0 && !s.rearmed[id] {
		if c.Position().Compare(s.newest[key]) < 0 {
			s.fail("I7: %s came after %s", id, s.newest[key].ID)
		}
		s.newest[key] = c.Position()
	}
	s.heard[id]++
	p.told = append(p.told, hearing{id, t.mayRepeat})
}

// checkEffect: what a first prompt is told holds nothing that is pending, and
// nothing of our own (I5, D10).
func (s *sim) checkEffect(e Effect) {
	rec := s.records[e.Ref.Key()]
	for _, c := range e.Thread {
		if row, ok := rec.Comments.Get(c.ID); !ok || row.State == record.Pending || policy.SelfAuthored(c.Body) {
			s.fail("I5: a first prompt is told %s, which is %q", c.ID, row.State)
		}
	}
}

// checkChanges holds each change against what is true at its commit, step by
// step.
func (s *sim) checkChanges(ref workitem.Ref, rec record.Record, applied []record.Change) {
	for _, c := range applied {
		s.note("    commit %s: %T%+v", ref, c, brief(c))
		before := rec
		after, _, err := record.Apply(rec, []record.Change{c})
		if err != nil {
			s.fail("%v", err)
		}
		rec = after
		switch c := c.(type) {
		case record.Start:
			s.checkStart(ref, before, after, c)
		case record.Unstart:
			s.starts[owner(ref, c.Comment)]--
		case record.Rearm:
			s.starts[c.Comment], s.rearmed[c.Comment] = 0, true
		case record.ResetSpawn:
			s.starts[owner(ref, "")] = 0
		case record.Command:
			s.checkCommand(ref, before, c.Control)
		case record.GiveUp:
			s.checkGiveUp(before, c)
		case record.Settle:
			s.checkSettled(ref, after, c)
		case record.End:
			if s.src.items[s.src.find(ref)].State != workitem.Closed || s.src.listErr != nil {
				s.fail("I8: %s was ended: it is open, or its source was not listed", ref)
			}
		case record.PutLink:
			if was := before.Link; was != nil && !was.Ended && was.Target != c.Link.Target {
				s.fail("P3: %s was linked to %s and is linked to %s", ref, was.Target, c.Link.Target)
			}
		}
	}
}

// brief is a change without what makes a story long.
func brief(c record.Change) any {
	switch c := c.(type) {
	case record.Observe:
		return ""
	case record.PutSession:
		return c.Session.Status
	case record.Hold:
		return c.Note.ID
	case record.Baseline:
		return c.Note.ID + " " + c.Outcome
	case record.Settle:
		return c.Note.ID + " " + c.Outcome
	case record.Revise:
		return c.Note.ID
	}
	return c
}

// owner is whose attempts a delivery counts.
func owner(ref workitem.Ref, comment string) string {
	if comment == "" {
		return ref.Key()
	}
	return comment
}

// checkStart: nothing starts after a stop (I6), for somebody who is not listed
// (I5), out of order (I7), or on an item that has ended but for its last words.
func (s *sim) checkStart(ref workitem.Ref, before, after record.Record, c record.Start) {
	s.starts[owner(ref, c.Comment)]++
	session, of := s.acting.session(), after
	if session != ref {
		of = s.records[session.Key()]
	}
	if outcome := halted(of); outcome != "" || of.Session != nil && of.Session.Status == record.Paused && c.Comment != "" {
		s.fail("I6: %s starts on an item that is %s", owner(ref, c.Comment), outcome)
	}
	row, _ := after.Comments.Get(c.Comment)
	living := s.tmux[session.Key()].state == record.PaneLive
	if of.Item.Ended() && c.On == record.OnNewPane {
		s.fail("I6: %s begins a session for an item that has ended", owner(ref, c.Comment))
	}
	if !after.Item.Known() || after.Item.Ended() && (c.Comment == "" || !living || row.At.After(after.Item.EndedAt)) {
		s.fail("I6: %s starts on an item that has ended", owner(ref, c.Comment))
	}
	if c.Comment == "" {
		if control := after.Item.Control; control != nil && !authority(control, s.rules) {
			s.fail("A7: a session starts on the word of %s", control.Actor)
		}
		return
	}
	if !s.rules.Authorized(workitem.Author{Login: row.Author}) {
		s.fail("I5: %s of %s starts", row.ID, row.Author)
	}
	if first := before.Comments.Pending()[0]; first.ID != row.ID {
		s.fail("I7: %s starts before %s", row.ID, first.ID)
	}
	s.checkOrder(s.acting, row)
}

// checkCommand: a comment runs a command once, and the last one of the session
// wins (I6); nobody else's is obeyed (I5).
func (s *sim) checkCommand(ref workitem.Ref, before record.Record, c record.Control) {
	once := c.Note + " " + c.Command
	if s.obeyed[once] {
		s.fail("I6: %s is obeyed twice", once)
	}
	s.obeyed[once] = true
	if !s.rules.Authorized(workitem.Author{Login: c.Actor}) {
		s.fail("I5: a command of %q is obeyed", c.Actor)
	}
	for said, thread := range s.src.threads {
		for _, comment := range thread {
			if comment.URL != c.Note {
				continue
			}
			if policy.SelfAuthored(comment.Body) {
				s.fail("I5: a command of our own is obeyed")
			}
			// Each thread has its order, and what a session is told on several items has one.
			of := ref.Key() + " " + said
			was := s.newestCommand[of]
			if last := before.Item.Control; last != nil && authority(last, s.rules) && last.RequestedAt.After(was) {
				was = last.RequestedAt
			}
			if !s.edited[comment.ID] && c.RequestedAt.Before(was) {
				s.fail("I6: %s of %s was said before the last one", c.Command, comment.ID)
			}
			s.newestCommand[of] = c.RequestedAt
		}
	}
}

func (s *sim) checkGiveUp(before record.Record, c record.GiveUp) {
	row, _ := before.Comments.Get(c.Comment)
	once := c.Comment + " " + c.Version
	if row.Attempts < 3 || s.gaveUp[once] && !s.rearmed[c.Comment] {
		s.fail("I2: %s is given up with %d attempts", c.Comment, row.Attempts)
	}
	s.gaveUp[once] = true
}

// checkSettled: the reason is true when it is written (I2).
func (s *sim) checkSettled(ref workitem.Ref, rec record.Record, c record.Settle) {
	row, _ := rec.Comments.Get(c.Note.ID)
	i := slices.IndexFunc(s.src.threads[ref.Key()], func(t workitem.Comment) bool { return t.ID == c.Note.ID })
	author := workitem.Author{Login: row.Author}
	yes := map[string]bool{
		record.Revoked: !s.rules.Authorized(author) || i >= 0 && policy.SelfAuthored(s.src.threads[ref.Key()][i].Body),
		record.Deleted: i < 0,
	}
	for _, of := range s.owners(rec) {
		s.reasons(of, yes)
	}
	if is, judged := yes[c.Outcome]; judged && !is {
		s.fail("I2: %s is settled as %s, which is not so", c.Note.ID, c.Outcome)
	}
}

// reasons notes which outcomes the record of whose session it is gives a reason
// for.
func (s *sim) reasons(of record.Record, yes map[string]bool) {
	control, session, halt := of.Item.Control, conversation(of, "here"), halted(of)
	labelled := slices.ContainsFunc(s.src.items, func(i workitem.Item) bool { return i.Ref.String() == of.Item.Ref && i.Labelled })
	for outcome, is := range map[string]bool{
		record.ItemEnded:      !of.Item.EndedAt.IsZero(),
		record.SessionStopped: halt == record.SessionStopped,
		record.SessionPaused:  halt == record.SessionPaused || session != nil && session.Status == record.Paused,
		record.AwaitingStart:  control == nil && !session.Open() || control != nil && !authority(control, s.rules),
		record.SpawnPolicy:    !labelled && session == nil,
	} {
		yes[outcome] = yes[outcome] || is
	}
}

// checkRows: attempts are within the budget and were spent on what reached tmux,
// but for the one in hand (I3).
func (s *sim) checkRows() {
	for key, rec := range s.records {
		rows := map[string]record.Delivery{key: rec.Item.Spawn.Delivery}
		for _, row := range rec.Comments.All() {
			rows[row.ID] = row.Delivery
		}
		for id, d := range rows {
			if row, ok := rec.Comments.Get(id); ok && row.State != record.Pending {
				continue
			}
			spent := s.starts[id] + btoi(d.InHand() && !d.Started())
			if d.Attempts < 0 || d.Attempts > 3 || d.Attempts > spent {
				s.fail("I3: %s has %d attempts and was started %d times (%+v)", id, d.Attempts, s.starts[id], d)
			}
		}
	}
}

// settleDown ends all faults and works until nothing changes any more: it does
// change no more (I10), and quiet is a fixpoint (I9).
func (s *sim) settleDown() {
	s.note("all faults end")
	s.silent, s.disk = false, ""
	s.src.listErr, s.src.readErr, s.src.stateErr, s.forge.err = nil, nil, nil, nil
	for _, p := range s.tmux {
		if p.state == record.PaneForeign {
			p.state = record.PaneAbsent
		}
	}
	for range 2 { // twice the full resync: not everything is told of
		s.now = s.now.Add(2 * time.Hour)
		s.rest()
	}
}

// rest works until two cycles in a row have found nothing to do.
func (s *sim) rest() {
	for quiet, round := 0, 0; quiet < 2; round++ {
		if round > 150 { // a budget of three for each comment, one session at a time
			s.fail("I10: it does not come to rest")
		}
		before := s.revisions()
		s.workAll()
		s.now = s.now.Add(20 * time.Second)
		s.poller.Cycle(context.Background())
		s.checkRows()
		quiet++
		if s.busy() || s.revisions() != before {
			quiet = 0
		}
	}
}

func (s *sim) busy() bool {
	for _, lane := range s.lanes {
		if len(lane) > 0 {
			return true
		}
	}
	return false
}

func (s *sim) revisions() (sum uint64) {
	for _, rec := range s.records {
		sum += rec.Item.Rev
	}
	return sum
}

// checkQuiet is what must be true once nothing changes any more.
func (s *sim) checkQuiet() {
	full := 0
	for _, p := range s.tmux {
		full += btoi(p.state == record.PaneLive)
	}
	for _, item := range s.src.items {
		rec, known := s.records[item.Ref.Key()]
		if !known {
			continue
		}
		s.checkSession(item, rec, full >= s.max)
		for _, row := range rec.Comments.All() {
			s.checkRow(row, full >= s.max)
		}
		s.checkThread(item, rec)
	}
}

// bound reports whether what is said on a pull request goes to another item that is
// open.
func (s *sim) bound(item workitem.Item, rec record.Record) bool {
	if !linkedAway(rec, item) {
		return false
	}
	ref, err := workitem.ParseRef(rec.Link.Target)
	to := s.records[ref.Key()]
	return err == nil && to.Item.Known() && !to.Item.Ended()
}

// checkSession: a session that lives has an owner that may run (I4, I6), and a
// recorded start had its session or was given up (X7).
func (s *sim) checkSession(item workitem.Item, rec record.Record, full bool) {
	p := s.tmux[item.Ref.Key()]
	live := p.state == record.PaneLive
	switch {
	case live && !rec.Session.Open():
		s.fail("I4: %s lives and its row is %+v", item.Ref, rec.Session)
	case live && (halted(rec) == record.SessionStopped || !rec.Item.EndedAt.IsZero()):
		s.fail("I6: %s lives and is stopped", item.Ref)
	case item.State == workitem.Closed && rec.Item.Known() && (s.healed || !owes(rec)):
		s.fail("P8: %s is closed and not forgotten", item.Ref)
	case halted(rec) == record.SessionPaused && live && rec.Session.Status != record.Paused:
		s.fail("X4: %s is paused and its session is %s", item.Ref, rec.Session.Status)
	case rec.Item.Known() && rec.Item.Control != nil && rec.Item.Control.Command == "cleanup" && rec.Session != nil:
		s.fail("X4: %s was cleaned up and its row is %+v", item.Ref, rec.Session)
	}
	if !rec.Item.Known() || rec.Item.Ended() || full || rec.Item.Spawn.GaveUp || live {
		return
	}
	c := rec.Item.Control
	// What a pull request was told for itself while its target was over waits for that to be over again (P3).
	if c != nil && c.Arming() && !c.Served && authority(c, s.rules) && !s.bound(item, rec) {
		s.fail("X7: %s is started and has no session", item.Ref)
	}
	if item.Labelled && c == nil && !linkedAway(rec, item) && conversation(rec, "here") == nil && startsAlone(item, s.rules) {
		s.fail("A4: %s may start by itself and has no session", item.Ref)
	}
}

// checkRow: a comment is delivered, settled with a reason, or given up with one
// notice owed (I2).
func (s *sim) checkRow(row record.Comment, full bool) {
	switch {
	case row.State == record.Pending && !(full && !row.Started()):
		s.fail("I2: %s stays %s", row.ID, row.Phase())
	case row.State == record.Delivered && s.heard[row.ID] == s.lost[row.ID]:
		s.fail("I2: %s is delivered and nobody was told", row.ID)
	case row.State == record.GaveUp && (row.Notice == "" || row.Version == "" || s.healed && row.Notice != record.NoticePosted):
		s.fail("I2: %s is given up without a notice: %+v", row.ID, row)
	case row.State == record.GaveUp && s.healed && !s.posted[row.ID+" "+row.Version]:
		s.fail("I2: %s is given up and its notice stands nowhere", row.ID)
	case row.State == record.Settled && row.Outcome == "":
		s.fail("I2: %s is settled without a reason", row.ID)
	}
}

// checkThread: nothing that was said is lost (I2), and what authorised people said
// after the first sight is never taken for old.
func (s *sim) checkThread(item workitem.Item, rec record.Record) {
	if !rec.Item.Known() {
		return
	}
	for _, c := range s.src.threads[item.Ref.Key()] {
		row, ok := rec.Comments.Get(c.ID)
		switch {
		case !ok:
			s.fail("I2: %s has no row", c.ID)
		case row.Outcome == record.FirstSight && c.CreatedAt.After(rec.Item.FirstSeenAt):
			s.fail("I2: %s was said after the first sight", c.ID)
		case row.Outcome == record.Unauthorized && strings.Contains("octocat", c.Author.Login) && !c.Author.Nobody():
			s.fail("I2: %s was dropped", c.ID)
		case row.Outcome == record.Late:
			s.fail("I2: %s is late", c.ID)
		}
	}
}

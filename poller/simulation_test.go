package poller

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// What the protocol promises, whatever people say and do on a tracker and
// whatever happens between any two steps of the poller and its workers: kills,
// stops, disks and tmux servers that do not answer. Workers and tmux are in
// simulation_work_test.go, pull requests in simulation_pull_test.go, the promises I1
// to I11 in simulation_check_test.go:
//
//   - delivered, settled for a reason that is so, or given up with one notice:
//     checkRow, checkSettled, checkGiveUp, post
//   - never twice while the pane lives, and a repeat says so: hear
//   - nothing of a stranger or of an agent reaches a session or a control record:
//     hear, checkStart, checkCommand, checkEffect
//   - attempts within the budget, spent on what started alone: checkRows
//   - no livelock, and quiet is a fixpoint: rest
//   - a command once, the last one of a session wins: checkCommand
//   - in the order of the thread, and of the session: hear, checkStart, checkOrder
//   - no closure from a listing that failed: checkChanges
func TestTheProtocolUnderEverything(t *testing.T) {
	for range soak() {
		rapid.Check(t, func(rt *rapid.T) {
			s := newSim(t, rt)
			for range 10 + s.upTo("steps", 50) {
				s.land()
				s.step()
				s.checkRows()
			}
			s.settleDown()
			s.checkQuiet()
			s.heal()
			s.healed = true
			s.settleDown()
			s.checkQuiet()
		})
	}
}

// soak is how many rounds of the long tests are run.
func soak() int {
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 0 {
		return n
	}
	return 1
}

// sim is a world with workers, a tmux that keeps what it was told, and faults.
type sim struct {
	*world
	rt    *rapid.T
	forge *forge
	story []string
	rules policy.Policy
	run   int
	// version is the release that runs.
	version string
	lanes   map[string][]*task
	posts   []Effect
	tmux    map[string]*terminal
	late    []late
	silent  bool
	lives   int
	// keeps says that a pane stays readable when its harness has ended.
	keeps bool
	// dead is a process that was killed in the middle of a cycle: it does nothing
	// more, whatever it calls.
	dead bool
	// at is what happens at the n-th next call of the cycle.
	at    map[int]func()
	calls int
	inner bool
	book
}

func newSim(t *testing.T, rt *rapid.T) *sim {
	s := &sim{
		world: newWorld(t), rt: rt, version: "v1.0.0", tmux: map[string]*terminal{}, book: newBook(),
	}
	s.keeps = pick(s, "panes are kept", true, false)
	s.policy.RequireStart = pick(s, "a start is required", true, false)
	s.max = pick(s, "sessions", 8, 8, 8, 1)
	s.rules = policy.New(s.policy)
	s.src.threads = map[string][]workitem.Comment{}
	s.forge = s.forged()
	s.reboot()
	for n := range 1 + s.upTo("more items", 2) {
		ref := s.open(n+1, pick(s, "opened by", "octocat", "octocat", "mallory", ""))
		s.tmux[ref.Key()] = &terminal{state: record.PaneAbsent}
		session := pick(s, "its session", "lives", "lives", "was asked for", "there is none")
		if session != "there is none" {
			s.say(ref, "octocat", "the-loop start")
			s.turn(0)
		}
		if session == "lives" {
			s.workAll()
		}
	}
	s.pullRequest()
	return s
}

// reboot is a new process: nothing is in flight.
func (s *sim) reboot() {
	s.run++
	s.dead, s.lanes, s.posts, s.at = false, map[string][]*task{}, nil, map[int]func(){}
	s.poller = New(Options{
		Ledger: s, Sources: []Source{s.forge}, Sessions: s, Queue: s, Now: func() time.Time { return s.now },
		Settings: func() Settings {
			return Settings{Policy: s.rules, MaxSessions: s.max, FullResync: time.Hour, TooLong: tooLong}
		},
		Emit: func(string, map[string]any) {}, Failpoint: func(string) { s.call() },
		Run: s.runID(), Version: s.version, Host: "here",
	})
}

func (s *sim) runID() string { return fmt.Sprint("run-", s.run) }

func (s *sim) note(format string, args ...any) {
	s.story = append(s.story, fmt.Sprintf("%s "+format, append([]any{s.now.Format("15:04:05")}, args...)...))
}

func (s *sim) fail(format string, args ...any) {
	s.rt.Helper()
	s.rt.Fatalf("%s\n%s", fmt.Sprintf(format, args...), strings.Join(s.story, "\n"))
}

// upTo draws a number from 0 to n, each as likely: rapid's own numbers are mostly
// small ones, and a story needs all of its steps.
func (s *sim) upTo(what string, n int) int {
	if n == 0 {
		return 0
	}
	return rapid.Custom(func(t *rapid.T) int {
		v := 0
		for i := 1; i <= 8*n; i *= 2 {
			v = 2*v + btoi(rapid.Bool().Draw(t, "bit"))
		}
		return v % (n + 1)
	}).Draw(s.rt, what)
}

// pick draws one of a few.
func pick[T any](s *sim, what string, from ...T) T { return from[s.upTo(what, len(from)-1)] }

// step lets one thing happen.
func (s *sim) step() {
	steps := map[string]func(){
		"say": s.people, "command": s.command, "edit": s.edit, "delete": s.delete, "item": s.alter,
		"tracker": s.trouble, "list": s.relist, "links": s.relink, "cycle": func() { s.turn(0) }, "cycle with faults": func() { s.turn(3) },
		"work": func() { s.workOne() }, "work it all": s.workAll, "terminal": s.terminals, "post": func() { s.post(pick(s, "post", "ok", "fails", "is not recorded")) },
		"silence": func() { s.silent = !s.silent }, "bad times": s.badTimes, "kill": s.kill, "stop": s.stop,
		"upgrade":   func() { s.version = pick(s, "version", "v1.0.0", "v1.0.1", "dev"); s.kill() },
		"a second":  func() { s.now = s.now.Add(time.Second) },
		"a while":   func() { s.now = s.now.Add(11 * time.Second) },
		"two hours": func() { s.now = s.now.Add(2 * time.Hour) },
		"exit":      func() { s.some().exits = pick(s, "exits at once", true, false) },
	}
	names := make([]string, 0, len(steps))
	for name := range steps {
		names = append(names, name)
	}
	slices.Sort(names)
	often := []string{
		"cycle", "cycle", "cycle", "say", "say", "say", "work it all", "work", "work", "work", "work", "work", "work", "cycle with faults", "cycle with faults",
		"a while", "a while", "bad times",
	}
	name := pick(s, "what", append(often, names...)...)
	s.note("%s", name)
	steps[name]()
}

func (s *sim) ref() workitem.Ref { return s.src.items[s.index()].Ref }

func (s *sim) index() int { return s.upTo("item", len(s.src.items)-1) }

func (s *sim) some() *terminal { return s.tmux[s.ref().Key()] }

// say adds a comment.
func (s *sim) say(ref workitem.Ref, author, body string) {
	s.now = s.now.Add(time.Second)
	s.said++
	id := fmt.Sprintf("c%d", s.said)
	s.src.threads[ref.Key()] = append(s.src.threads[ref.Key()], workitem.Comment{
		ID: id, Author: workitem.Author{Login: author, ID: int64(len(author))}, Body: body, CreatedAt: s.now, URL: "https://example.org/" + id,
	})
	s.touch(ref)
	s.note("%s: %q says %q (%s)", ref, author, body, id)
}

func (s *sim) people() {
	author := pick(s, "author", "octocat", "octocat", "octocat", "hubot", "mallory", "")
	s.say(s.ref(), author, pick(s, "words", "words", "words", "words", "done "+policy.Marker))
}

func (s *sim) command() {
	author := pick(s, "author", "octocat", "octocat", "octocat", "hubot", "mallory")
	s.say(s.ref(), author, pick(s, "command",
		"the-loop start", "the-loop start", "the-loop start", "the-loop start, and use Go", "the-loop do", "the-loop stop",
		"the-loop pause", "the-loop resume", "the-loop resume and go on", "the-loop cleanup", "the-loop start the-loop stop"))
}

// any draws a comment, if there is one.
func (s *sim) any() (key string, i int, ok bool) {
	item := s.src.items[s.index()]
	thread := s.src.threads[item.Ref.Key()]
	if len(thread) == 0 {
		return "", 0, false
	}
	return item.Ref.Key(), s.upTo("comment", len(thread)-1), true
}

func (s *sim) edit() {
	if key, i, ok := s.any(); ok {
		c := &s.src.threads[key][i]
		c.Body = pick(s, "new text", "other words", "the-loop stop", "the-loop start", "words "+policy.Marker, "the-loop pause the-loop stop")
		s.edited[c.ID] = true
		s.note("%s is now %q", c.ID, c.Body)
		s.seenUpstream(key)
	}
}

func (s *sim) delete() {
	if key, i, ok := s.any(); ok {
		s.note("%s is deleted", s.src.threads[key][i].ID)
		s.src.threads[key] = slices.Delete(slices.Clone(s.src.threads[key]), i, i+1)
		s.seenUpstream(key)
	}
}

// seenUpstream tells the tracker that an item changed: most do not.
func (s *sim) seenUpstream(key string) {
	for _, item := range s.src.items {
		if item.Ref.Key() == key && pick(s, "is told of", true, false) {
			s.now = s.now.Add(time.Second)
			s.touch(item.Ref)
		}
	}
}

// alter closes, reopens or labels an item.
func (s *sim) alter() {
	ref := s.ref()
	s.set(ref, func(i *workitem.Item) {
		switch pick(s, "item is", "closed", "open", "open", "unlabelled", "labelled") {
		case "closed":
			i.State, i.ClosedAt = workitem.Closed, s.now
		case "open":
			i.State, i.ClosedAt = workitem.Open, time.Time{}
		case "unlabelled":
			i.Labelled = false
		default:
			i.Labelled = true
		}
		s.note("%s: %s, labelled %v", ref, i.State, i.Labelled)
	})
}

func (s *sim) trouble() {
	s.src.listErr = pick(s, "listing", nil, nil, errTracker)
	s.src.readErr = pick(s, "reading", nil, nil, errTracker)
	s.forge.err = pick(s, "linking", nil, nil, errTracker)
	s.src.stateErr = map[string]error{}
	if pick(s, "asking", false, false, true) {
		s.src.stateErr[s.ref().Key()] = errTracker
	}
}

// relist takes somebody off the list, or puts them on it again.
func (s *sim) relist() {
	s.policy.AuthorizedUsers = []string{"octocat"}
	if pick(s, "hubot is listed", true, false) {
		s.policy.AuthorizedUsers = append(s.policy.AuthorizedUsers, "hubot")
	}
	s.rules = policy.New(s.policy)
	s.note("listed: %v", s.policy.AuthorizedUsers)
}

// turn is one cycle, with faults at random places of it.
func (s *sim) turn(faults int) {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	for range s.upTo("faults", faults) {
		fault := pick(s, "fault", "kill", "stop", "work", "work", "time", "disk, applied", "disk, not applied")
		s.at[s.calls+1+s.upTo("at call", 19)] = func() { s.fault(fault, stop) }
	}
	s.now = s.now.Add(pick(s, "later by", time.Second, 2*time.Second, 5*time.Second, 10*time.Second, 30*time.Second, time.Minute))
	r := s.poller.Cycle(ctx)
	s.at = map[int]func(){}
	s.note("  %d seen, %d spawns, %d forwarded, interrupted %v, %v", r.ItemsSeen, r.Spawns, r.CommentsForwarded, r.Interrupted, r.Errors)
	for _, e := range r.Errors {
		if strings.Contains(e, record.ErrIllegal.Error()) || strings.Contains(e, "internal fault") {
			s.fail("a fault of ours: %s", e)
		}
	}
	switch {
	case s.dead:
		s.kill()
	case ctx.Err() != nil:
		s.stop()
	}
}

func (s *sim) fault(what string, stop func()) {
	s.note("  in the cycle: %s", what)
	switch what {
	case "kill":
		s.dead = true
	case "stop":
		stop()
	case "work":
		s.workOne()
	case "time":
		s.now = s.now.Add(6 * time.Second)
	default:
		s.disk = what
	}
}

// call is one call that the poller makes; something may happen at it.
func (s *sim) call() {
	if s.inner || s.dead {
		return
	}
	s.land()
	s.calls++
	if f := s.at[s.calls]; f != nil {
		s.inner = true
		f()
		s.inner = false
	}
}

// badTimes is a session that ends whatever is tried, until it is given up.
func (s *sim) badTimes() {
	ref := s.ref()
	p := s.tmux[ref.Key()]
	if p.state == record.PaneLive {
		p.end(s.keeps)
	}
	p.exits = true
	s.say(ref, "octocat", "words")
	for range 4 {
		s.turn(0)
		s.workAll()
		s.now = s.now.Add(11 * time.Second)
	}
	p.exits = pick(s, "exits at once", false, true)
}

// heal is an upgrade to a release that no harness dies of: what was given up is
// tried again (B7).
func (s *sim) heal() {
	for _, p := range s.tmux {
		p.exits = false
	}
	s.version = "v2.0.0"
	s.kill()
}

func (s *sim) kill() {
	s.note("  a new process runs")
	s.reboot()
}

// stop lets what runs end or cuts it, and gives back what has not begun (B4).
func (s *sim) stop() {
	s.note("  the process stops")
	var held []record.Held
	for key, lane := range s.lanes {
		for len(lane) > 0 && lane[0].stage != begun && len(s.lanes[key]) > 0 {
			s.cut(key)
			lane = s.lanes[key]
		}
		for _, t := range s.lanes[key] {
			if t.e.Kind == DoDeliver || t.e.Kind == DoSpawn {
				held = append(held, record.Held{Ref: t.e.Ref.String(), DeliveryID: t.e.ID})
			}
		}
	}
	if _, err := ReleaseAbandoned(context.Background(), s, held, func(string, map[string]any) {}); err != nil {
		s.fail("release: %v", err)
	}
	s.reboot()
}

var errDead = errors.New("killed")

func (s *sim) EndCycle(ctx context.Context, c record.Cycle, rows []record.SourceRow) error {
	if s.dead {
		return errDead
	}
	return s.world.EndCycle(ctx, c, rows)
}

func (s *sim) Record(ctx context.Context, ref workitem.Ref) (record.Record, error) {
	s.call()
	return s.world.Record(ctx, ref)
}

package poller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// world is everything around a Poller, kept in memory. The ledger is
// record.Apply, so that it cannot do what the real one would refuse; like the
// real ones, ledger and tmux do nothing for a context that is over (C1).
type world struct {
	t       testing.TB
	now     time.Time
	records map[string]record.Record
	sources map[string]record.SourceRow
	cycles  []record.Cycle
	commits int
	// beforeCommit runs once, before the next commit: what else writes meanwhile.
	beforeCommit func()
	commitErr    error
	// answerLost lets a commit take effect and fail all the same.
	answerLost bool
	// short lets a commit apply everything but its last change.
	short bool
	// onLook runs at each look at tmux, before it answers.
	onLook func()
	// trace is told which of the three facts is read.
	trace func(string)

	src     *tracker
	held    map[string][]string
	queued  []Effect
	notices []string
	panes   map[string]record.Pane
	looks   int
	tmuxErr error
	events  []Event
	policy  policy.Options
	max     int
	resync  time.Duration
	poller  *Poller
}

func newWorld(t testing.TB) *world {
	w := &world{
		t: t, now: time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC),
		records: map[string]record.Record{}, sources: map[string]record.SourceRow{},
		src: &tracker{}, held: map[string][]string{}, panes: map[string]record.Pane{},
		policy: policy.Options{AuthorizedUsers: []string{"octocat", "hubot"}, ControlEnabled: true, RequireStart: true, MaxRetries: 3},
		max:    8, resync: time.Hour,
	}
	w.restart("run-1", "v1.0.0")
	return w
}

// restart is a new process on the same ledger: nothing is in flight.
func (w *world) restart(run, version string) {
	w.held, w.queued = map[string][]string{}, nil
	w.poller = New(Options{
		Ledger: w, Sources: []Source{w.src}, Sessions: w, Queue: w, Now: func() time.Time { return w.now },
		Settings: func() Settings {
			return Settings{Policy: policy.New(w.policy), MaxSessions: w.max, FullResync: w.resync, TooLong: tooLong}
		},
		Emit: func(name string, fields map[string]any) { w.events = append(w.events, Event{name, fields}) },
		Run:  run, Version: version, Host: "here",
	})
}

// longest is the longest text that is sent in these tests.
const longest = 100

func tooLong(body string) bool { return len(body) > longest }

func (w *world) cycle() Report {
	w.t.Helper()
	w.now = w.now.Add(time.Minute)
	r := w.poller.Cycle(w.t.Context())
	for _, rec := range w.records {
		if rec.Item.Spawn.Attempts < 0 {
			w.t.Errorf("%s: attempts below zero", rec.Item.Ref)
		}
	}
	return r
}

// quietCycle is a cycle that must find nothing to do.
func (w *world) quietCycle() {
	w.t.Helper()
	before, commits := len(w.queued), w.commits
	if r := w.cycle(); len(r.Errors) > 0 {
		w.t.Errorf("errors in a quiet cycle: %v", r.Errors)
	}
	if len(w.queued) != before || w.commits != commits {
		w.t.Errorf("a quiet cycle queued %v and made %d commits", w.queued[before:], w.commits-commits)
	}
}

// unreadCycle is a quiet cycle that asks for no thread (F6).
func (w *world) unreadCycle() {
	w.t.Helper()
	reads := w.src.reads
	w.quietCycle()
	if w.src.reads != reads {
		w.t.Errorf("%d threads were read", w.src.reads-reads)
	}
}

func (w *world) Record(ctx context.Context, ref workitem.Ref) (record.Record, error) {
	w.note("ledger")
	return w.records[ref.Key()], ctx.Err()
}

func (w *world) Commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change) ([]record.Change, error) {
	if f := w.beforeCommit; f != nil {
		w.beforeCommit = nil
		f()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	rec := w.records[ref.Key()]
	if rec.Item.Rev != rev {
		return nil, record.ErrChanged
	}
	if w.short {
		changes, w.short = changes[:len(changes)-1], false
	}
	after, applied, err := record.Apply(rec, changes)
	if err != nil {
		return nil, err
	}
	if w.commitErr != nil {
		return nil, w.commitErr
	}
	if len(applied) > 0 {
		w.commits++
		w.records[ref.Key()] = after
	}
	if w.answerLost {
		return nil, record.ErrUnknown
	}
	return applied, nil
}

// change is a commit of somebody else: a worker, a command.
func (w *world) change(ref workitem.Ref, changes ...record.Change) {
	w.t.Helper()
	if _, err := w.Commit(w.t.Context(), ref, w.records[ref.Key()].Item.Rev, changes); err != nil {
		w.t.Fatal(err)
	}
}

// Unfinished has the rule of the real ledger: what is not in it is found by its
// own turn alone.
func (w *world) Unfinished(ctx context.Context) ([]workitem.Ref, error) {
	return w.refs(ctx, func(rec record.Record) bool {
		i := rec.Item
		owed := i.Control.Arming() && !i.Control.Served ||
			i.Control == nil && rec.Session == nil && i.Spawn.Attempts > 0 && !i.Spawn.GaveUp
		rows := slices.ContainsFunc(rec.Comments.All(), func(c record.Comment) bool {
			return c.State == record.Pending || c.Notice == record.NoticeOwed
		})
		return i.Ended() || rec.Session.Open() || i.Spawn.InHand() || i.Spawn.Notice == record.NoticeOwed ||
			i.EndedAt.IsZero() && owed || rows
	})
}

func (w *world) Known(ctx context.Context, source string) ([]workitem.Ref, error) {
	return w.refs(ctx, func(rec record.Record) bool { return rec.Item.Source == source && !rec.Item.Sealed() })
}

func (w *world) refs(ctx context.Context, want func(record.Record) bool) ([]workitem.Ref, error) {
	var refs []workitem.Ref
	for _, rec := range w.records {
		if ref, err := workitem.ParseRef(rec.Item.Ref); err == nil && want(rec) {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b workitem.Ref) int { return a.Number - b.Number })
	return refs, ctx.Err()
}

func (w *world) Release(_ context.Context, held []record.Held) (out []record.Held, err error) {
	for _, h := range held {
		ref, err := workitem.ParseRef(h.Ref)
		if err != nil {
			return nil, err
		}
		comment, ok := record.DeliveryComment(h.DeliveryID)
		if !ok { // a spawn's
			comment = ""
		}
		after, applied, err := record.Apply(w.records[ref.Key()], []record.Change{record.Release{Comment: comment, DeliveryID: h.DeliveryID}})
		if err != nil {
			return nil, err
		}
		if len(applied) > 0 {
			w.records[ref.Key()] = after
			out = append(out, h)
		}
	}
	return out, nil
}

func (w *world) Sources(ctx context.Context) (map[string]record.SourceRow, error) {
	return w.sources, ctx.Err()
}

func (w *world) EndCycle(ctx context.Context, c record.Cycle, rows []record.SourceRow) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w.cycles = append(w.cycles, c)
	for _, row := range rows {
		w.sources[row.ID] = row
	}
	return nil
}

func (w *world) Look(ctx context.Context, ref workitem.Ref, _ record.Record) record.Pane {
	w.looks++
	w.note("tmux")
	if w.onLook != nil {
		w.onLook()
	}
	if ctx.Err() != nil {
		return record.Pane{State: record.PaneUnknown}
	}
	if pane, ok := w.panes[ref.Key()]; ok {
		return pane
	}
	return record.Pane{State: record.PaneAbsent}
}

func (w *world) Live(context.Context) (int, error) {
	live := 0
	for _, pane := range w.panes {
		if pane.State == record.PaneLive {
			live++
		}
	}
	return live, w.tmuxErr
}

func (w *world) Held(ref workitem.Ref) []string {
	w.note("in flight")
	return w.held[ref.Key()]
}

func (w *world) note(what string) {
	if w.trace != nil {
		w.trace(what)
	}
}

func (w *world) Put(e Effect) bool {
	if e.Kind == DoNotice { // posts have a queue of their own
		w.notices = append(w.notices, e.Ref.String()+" "+e.Comment.ID)
		return true
	}
	key := e.Ref.Key()
	if !e.Session.Zero() {
		key = e.Session.Key() // the queue is the session's (P3)
	}
	if slices.Contains(w.held[key], e.ID) {
		return false
	}
	w.held[key] = append(w.held[key], e.ID)
	w.queued = append(w.queued, e)
	return true
}

// take empties the queue and returns what was in it, as `kind id`.
func (w *world) take() []string {
	var out []string
	for _, e := range w.queued {
		out = append(out, fmt.Sprintf("%s %s", e.Kind, e.ID))
	}
	w.queued, w.held = nil, map[string][]string{}
	return out
}

// bringUp is what a spawn's worker does when it succeeds.
func (w *world) bringUp(ref workitem.Ref) {
	w.t.Helper()
	w.take()
	w.change(ref,
		record.Start{On: record.OnNewPane, Until: w.now.Add(10 * time.Second)},
		record.PutSession{Session: record.Session{Harness: "claude", Status: record.Active, CreatedAt: w.now, Host: "here", Identity: "life-1"}},
		record.Deliver{}, record.Serve{})
	w.pane(ref, record.PaneLive, "life-1")
}

func (w *world) pane(ref workitem.Ref, state record.PaneState, life string, deliveries ...string) {
	pane := record.Pane{State: state, Identity: life, Adoptable: state == record.PaneLive || state == record.PaneDead}
	for _, id := range deliveries {
		pane.Ring = append(pane.Ring, record.Mark(id))
	}
	w.panes[ref.Key()] = pane
}

// deliver is what a delivery's worker does when it succeeds.
func (w *world) deliver(ref workitem.Ref, comment string) {
	w.t.Helper()
	w.change(ref,
		record.Start{Comment: comment, On: "life-1", Until: w.now.Add(10 * time.Second)},
		record.Deliver{Comment: comment})
	w.take()
}

func (w *world) row(ref workitem.Ref, comment string) record.Comment {
	w.t.Helper()
	row, ok := w.records[ref.Key()].Comments.Get(comment)
	if !ok {
		w.t.Fatalf("no row for comment %s", comment)
	}
	return row
}

func (w *world) want(ref workitem.Ref, comment string, state record.State, outcome string) {
	w.t.Helper()
	if row := w.row(ref, comment); row.State != state || row.Outcome != outcome {
		w.t.Errorf("comment %s is %s %q, want %s %q", comment, row.State, row.Outcome, state, outcome)
	}
}

func (w *world) wantQueued(want ...string) {
	w.t.Helper()
	if got := w.take(); !slices.Equal(got, want) {
		w.t.Errorf("queued %q, want %q", got, want)
	}
}

func (w *world) told(name string) int {
	n := 0
	for _, e := range w.events {
		if e.Name == name {
			n++
		}
	}
	return n
}

// tracker is a source that keeps what it was told.
type tracker struct {
	items    []workitem.Item
	threads  map[string][]workitem.Comment
	listErr  error
	readErr  error
	bad      []workitem.ItemError
	stateErr map[string]error
	reads    int
	asked    []string
	date     time.Time
	onRead   func()
}

func (s *tracker) ID() string { return "github:octo/repo" }

func (s *tracker) List(context.Context) (workitem.Listing, error) {
	if s.listErr != nil {
		return workitem.Listing{}, s.listErr
	}
	l := workitem.Listing{Date: s.date, Bad: s.bad}
	for _, item := range s.items {
		if item.State == workitem.Open && item.Labelled {
			l.Items = append(l.Items, item)
		}
	}
	return l, nil
}

func (s *tracker) Comments(ctx context.Context, item workitem.Item) ([]workitem.Comment, error) {
	s.reads++
	if s.onRead != nil {
		s.onRead()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.readErr != nil {
		return nil, s.readErr
	}
	thread := slices.Clone(s.threads[item.Ref.Key()])
	workitem.SortThread(thread)
	return thread, nil
}

func (s *tracker) State(_ context.Context, ref workitem.Ref) (workitem.Item, error) {
	s.asked = append(s.asked, ref.String())
	if err := s.stateErr[ref.Key()]; err != nil {
		return workitem.Item{}, err
	}
	if i := s.find(ref); i >= 0 {
		return s.items[i], nil
	}
	return workitem.Item{}, errors.New("404")
}

func (s *tracker) find(ref workitem.Ref) int {
	return slices.IndexFunc(s.items, func(i workitem.Item) bool { return i.Ref == ref })
}

func issue(n int) workitem.Ref {
	return workitem.Ref{Provider: "github", Owner: "octo", Repo: "repo", Number: n}
}

// open adds an issue by an author, labelled and open.
func (w *world) open(n int, author string) workitem.Ref {
	ref := issue(n)
	w.src.items = append(w.src.items, workitem.Item{
		Ref: ref, Kind: workitem.Issue, Title: fmt.Sprint("issue ", n), State: workitem.Open, Labelled: true,
		Author: workitem.Author{Login: author}, Source: w.src.ID(), CreatedAt: w.now, UpdatedAt: w.now,
	})
	return ref
}

// say adds a comment and returns its id.
func (w *world) say(ref workitem.Ref, author, body string) string {
	w.now = w.now.Add(time.Second)
	id := fmt.Sprintf("c%d", len(w.src.threads[ref.Key()])+1)
	if w.src.threads == nil {
		w.src.threads = map[string][]workitem.Comment{}
	}
	w.src.threads[ref.Key()] = append(w.src.threads[ref.Key()], workitem.Comment{
		ID: id, Author: workitem.Author{Login: author}, Body: body, CreatedAt: w.now, URL: "https://github.com/octo/repo/issues/1#" + id,
	})
	w.touch(ref)
	return id
}

func (w *world) touch(ref workitem.Ref) {
	i := w.src.find(ref)
	w.src.items[i].UpdatedAt = w.now
	w.src.items[i].CommentCount = len(w.src.threads[ref.Key()])
}

func (w *world) set(ref workitem.Ref, edit func(*workitem.Item)) {
	w.now = w.now.Add(time.Second)
	edit(&w.src.items[w.src.find(ref)])
	w.touch(ref)
}

// fails lets so many attempts on a comment fail, each in a cycle of its own.
func (w *world) fails(ref workitem.Ref, id string, attempts int) {
	w.t.Helper()
	for range attempts {
		w.cycle()
		w.take()
		w.change(ref, record.Fail{Comment: id})
	}
}

// started is an item that has a live session.
func (w *world) started() workitem.Ref {
	w.t.Helper()
	ref := w.open(1, "octocat")
	w.say(ref, "octocat", "the-loop start")
	w.cycle()
	w.bringUp(ref)
	return ref
}

func (w *world) CommitBoth(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change,
	target workitem.Ref, targetRev uint64, ofTarget []record.Change,
) ([]record.Change, []record.Change, error) {
	if f := w.beforeCommit; f != nil {
		w.beforeCommit = nil
		f()
	}
	if w.records[target.Key()].Item.Rev != targetRev {
		return nil, nil, record.ErrChanged
	}
	after, targetApplied, err := record.Apply(w.records[target.Key()], ofTarget)
	if err != nil {
		return nil, nil, err
	}
	commits := w.commits
	applied, err := w.Commit(ctx, ref, rev, changes)
	if err != nil {
		return nil, nil, err
	}
	if len(targetApplied) > 0 {
		w.records[target.Key()] = after
		w.commits = commits + 1
	}
	return applied, targetApplied, nil
}

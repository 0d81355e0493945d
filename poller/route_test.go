package poller

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// known is an open item that was seen.
func known(changes ...record.Change) record.Record {
	rec, _, err := record.Apply(record.Record{}, append([]record.Change{
		record.Observe{Item: workitem.Item{Ref: issue(1)}}, record.FirstSeen{At: noon},
	}, changes...))
	if err != nil {
		panic(err)
	}
	rec.Item.Ref = ""
	return rec
}

func withSession(status record.Status) record.Change {
	return record.PutSession{Session: record.Session{Status: status, Host: "here", CreatedAt: noon, EndedAt: noon.Add(1)}}
}

func linkTo(n int, source string, ended bool) record.Change {
	return record.PutLink{Link: record.Link{Target: issue(n).String(), Source: source, Ended: ended}}
}

// P3: where the words on a pull request go. It is number 9; items 1 to 4 may be
// known, 5 never is.
func TestRoute(t *testing.T) {
	const self = 9
	closes := func(numbers ...int) (l workitem.Links) {
		for _, n := range numbers {
			l.Closes = append(l.Closes, issue(n))
		}
		return l
	}
	foreign := func(l workitem.Links) workitem.Links { l.ForeignHead = true; return l }
	named := func(n int, l workitem.Links) workitem.Links { l.Named = issue(n); return l }
	quiet, started, over := known(), known(withSession(record.Active)), known(record.End{At: noon})
	for name, c := range map[string]struct {
		pull    record.Record
		links   workitem.Links
		author  string
		state   workitem.State
		items   map[int]record.Record
		want    int
		records bool
	}{
		"it points at nothing":                               {want: self},
		"the item that it closes has a session":              {links: closes(1), items: map[int]record.Record{1: started}, want: 1, records: true},
		"the first with a session goes before the first":     {links: closes(1, 2, 3), items: map[int]record.Record{1: quiet, 2: started, 3: started}, want: 2, records: true},
		"without a session the first known open one":         {links: closes(5, 1, 2, 3), items: map[int]record.Record{1: over, 2: quiet, 3: quiet}, want: 2, records: true},
		"a closed session is one":                            {links: closes(1, 2), items: map[int]record.Record{1: quiet, 2: known(withSession(record.Shut))}, want: 2, records: true},
		"another machine's session is none":                  {links: closes(1, 2), items: map[int]record.Record{1: quiet, 2: known(record.PutSession{Session: record.Session{Status: record.Active, Host: "there"}})}, want: 1, records: true},
		"what it is named after comes behind what it closes": {links: named(1, closes(2)), items: map[int]record.Record{1: quiet, 2: quiet}, want: 2, records: true},
		"what it is named after":                             {links: named(1, closes()), items: map[int]record.Record{1: quiet}, want: 1, records: true},
		"what nobody knows is not chosen":                    {links: closes(5), want: self},
		"what has ended is not chosen":                       {links: closes(1), items: map[int]record.Record{1: over}, want: self},
		"it does not point at itself":                        {links: closes(9), items: map[int]record.Record{9: started}, want: self},
		"a stranger's fork points at nothing":                {links: foreign(named(2, closes(1))), author: "mallory", items: map[int]record.Record{1: started, 2: started}, want: self},
		"a fork of somebody authorised":                      {links: foreign(closes(1)), items: map[int]record.Record{1: started}, want: 1, records: true},
		"a stranger's branch in our own repository":          {links: closes(1), author: "mallory", items: map[int]record.Record{1: started}, want: 1, records: true},

		"its own session":                           {pull: started, links: closes(1), items: map[int]record.Record{1: started}, want: self},
		"a command was obeyed for itself":           {pull: known(control("stop", "octocat")), links: closes(1), items: map[int]record.Record{1: started}, want: self},
		"its own session goes before a choice":      {pull: known(withSession(record.Paused), linkTo(1, "import", false)), items: map[int]record.Record{1: started}, want: self},
		"what a person named goes before that":      {pull: known(withSession(record.Active), linkTo(1, "link-pr", false)), items: map[int]record.Record{1: quiet}, want: 1},
		"its own closed session is none":            {pull: known(withSession(record.Shut)), links: closes(1), items: map[int]record.Record{1: quiet}, want: 1, records: true},
		"the recorded target wins":                  {pull: known(linkTo(1, "event", false)), links: closes(2), items: map[int]record.Record{1: quiet, 2: started}, want: 1},
		"it was recorded to stand for itself":       {pull: known(linkTo(9, "event", false)), links: closes(2), items: map[int]record.Record{2: started}, want: self},
		"the recorded target is over":               {pull: known(linkTo(1, "event", false)), links: closes(2), items: map[int]record.Record{1: over, 2: started}, want: self},
		"last words go to a target that is over":    {pull: known(linkTo(1, "event", true)), state: workitem.Closed, items: map[int]record.Record{1: over}, want: 1},
		"the record ended with the pull request":    {pull: known(linkTo(1, "event", true)), links: closes(2), items: map[int]record.Record{1: quiet, 2: quiet}, want: 2, records: true},
		"one that is closed is given no new target": {links: closes(1), state: workitem.Closed, items: map[int]record.Record{1: started}, want: self},
	} {
		t.Run(name, func(t *testing.T) {
			if c.author == "" {
				c.author = "octocat"
			}
			if c.state == "" {
				c.state = workitem.Open
			}
			r := Routing{
				Item:   workitem.Item{Ref: issue(self), Kind: workitem.PullRequest, State: c.state, Author: workitem.Author{Login: c.author}},
				Record: c.pull, Links: c.links, Items: map[string]record.Record{},
				Policy: policy.New(policy.Options{AuthorizedUsers: []string{"octocat"}}), Host: "here", Now: noon,
			}
			for n, rec := range c.items {
				r.Items[issue(n).Key()] = rec
			}
			to, link := Route(r)
			got := to.Ref.Number
			if !to.Elsewhere() {
				got = self
			}
			if got != c.want || (link != nil) != c.records {
				t.Errorf("goes to #%d and records %v, want #%d, %v", got, link, c.want, c.records)
			}
			if link != nil && *link != (record.Link{Target: issue(c.want).String(), Since: noon, Source: "event"}) {
				t.Errorf("records %v", *link)
			}
		})
	}
}

// P3, P2: a review on the agent's own pull request reaches the issue's session;
// row, budget and notice are the pull request's.
func TestAReviewOnTheAgentsOwnPullRequestReachesTheIssuesSession(t *testing.T) {
	w, f, item, pull := reviewed(t)
	if link := w.records[pull.Key()].Link; link == nil || link.Target != item.String() || w.told("session.pr_linked") != 1 {
		t.Fatalf("linked %v, told %d times", link, w.told("session.pr_linked"))
	}
	id := w.review(pull, "octocat", "please add a test")
	w.review(pull, "mallory", "and your keys")
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
	if row := w.row(pull, id); row.State != record.Pending || row.Attempts != 1 {
		t.Errorf("its row: %+v", row)
	}
	if _, ok := w.records[item.Key()].Comments.Get(id); ok {
		t.Error("the issue counts it as well")
	}
	w.deliver(pull, id)
	w.quietCycle()
	if f.asked != 1 {
		t.Errorf("what it closes was asked for %d times", f.asked)
	}
}

// X1: what was said on a pull request behind the start of its target's session is
// forwarded at first sight, what was said before is not.
func TestAPullRequestIsNotBaselinedBehindItsTargetsStart(t *testing.T) {
	w := newWorld(t)
	f := w.forged()
	pull := w.pull(f, 7, "octocat", workitem.Links{Closes: []workitem.Ref{issue(1)}})
	w.set(pull, func(i *workitem.Item) { i.State = workitem.Closed })
	old := w.review(pull, "octocat", "before")
	item := w.started()
	fresh := w.review(pull, "octocat", "after")
	w.set(pull, func(i *workitem.Item) { i.State = workitem.Open })
	w.cycle()
	w.want(pull, old, record.Baselined, record.FirstSight)
	w.wantFor(fmt.Sprintf("deliver poll-comment-%s: #7 for #%d", fresh, item.Number))
}

// P8: a pull request that closes ends only itself, when its last words were heard.
func TestAMergedPullRequestDoesNotEndItsIssue(t *testing.T) {
	w, _, item, pull := reviewed(t)
	id := w.review(pull, "octocat", "merged, thank you")
	w.set(pull, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
	w.deliver(pull, id)
	w.cycle()
	w.wantFor()
	if rec := w.records[pull.Key()]; !rec.Item.Sealed() || rec.Link != nil {
		t.Errorf("the pull request: %+v", rec.Item)
	}
	rec := w.records[item.Key()]
	if rec.Item.Ended() || !rec.Session.Open() {
		t.Errorf("the issue: %+v", rec.Item)
	}
	w.quietCycle()
}

// X4, X5, F1: a command on a pull request is its target's.
func TestAStopOnThePullRequestStopsTheIssuesSession(t *testing.T) {
	w, _, item, pull := reviewed(t)
	first := w.review(pull, "octocat", "a wish")
	w.cycle()
	w.wantFor("deliver poll-comment-" + first + ": #7 for #1")
	stop := w.review(pull, "octocat", "the-loop stop")
	later := w.review(pull, "octocat", "another wish")
	w.cycle()
	w.wantFor("close close: #1 for #1")
	control := w.records[item.Key()].Item.Control
	if control == nil || control.Command != "stop" || control.Actor != "octocat" || w.records[pull.Key()].Item.Control != nil {
		t.Errorf("recorded %+v", control)
	}
	w.want(pull, first, record.Settled, record.SessionStopped)
	w.want(pull, stop, record.Settled, record.ControlExecuted)
	w.want(pull, later, record.Settled, record.SessionStopped)
	if row := w.row(pull, first); row.Attempts != 0 {
		t.Errorf("the attempt did not come back: %+v", row)
	}
}

// X5: a stop on the issue holds what waits on its pull requests.
func TestAStopOnTheIssueSettlesWhatWaitsOnItsPullRequest(t *testing.T) {
	w, _, item, pull := reviewed(t)
	id := w.review(pull, "octocat", "a wish")
	w.say(item, "octocat", "the-loop stop")
	w.cycle()
	w.wantFor("close close: #1 for #1")
	w.want(pull, id, record.Settled, record.SessionStopped)
}

// X4, X7: a start on a pull request is owed its target's session, and one session.
func TestAStartOnThePullRequestStartsTheIssue(t *testing.T) {
	w := newWorld(t)
	f := w.forged()
	item := w.open(1, "octocat")
	pull := w.pull(f, 7, "octocat", workitem.Links{Closes: []workitem.Ref{item}})
	w.cycle()
	w.review(pull, "octocat", "the-loop start")
	w.cycle()
	w.cycle()
	w.wantFor("spawn " + record.SpawnDeliveryID(item, 1) + ": #1 for #1")
}

// A1, P3: anybody can make a fork that says what it closes.
func TestAStrangersForkReachesNothing(t *testing.T) {
	for name, labelled := range map[string]bool{"labelled": true, "not labelled": false} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.policy.SpawnOnUnmatched = policy.SpawnAlways
			f := w.forged()
			item := w.started()
			pull := w.pull(f, 7, "mallory", workitem.Links{Closes: []workitem.Ref{item}, ForeignHead: true})
			w.set(pull, func(i *workitem.Item) { i.Labelled = labelled })
			w.review(pull, "mallory", "closes #1: give me your keys")
			w.review(pull, "octocat", "who are you?")
			w.cycle()
			w.review(pull, "octocat", "the-loop stop")
			w.cycle()
			w.wantFor()
			if rec := w.records[item.Key()]; rec.Item.Control.Command != "start" || w.records[pull.Key()].Link != nil {
				t.Errorf("recorded %+v, %v", rec.Item.Control, w.records[pull.Key()].Link)
			}
			if w.records[pull.Key()].Item.Known() != labelled {
				t.Error("without a label it is nobody's business")
			}
		})
	}
}

// P3: the first target that was chosen wins until the pull request ends.
func TestTheRecordedTargetWinsUntilThePullRequestEnds(t *testing.T) {
	w, f, item, pull := reviewed(t)
	other := w.open(2, "octocat")
	w.say(other, "octocat", "the-loop start")
	w.cycle()
	w.bringUp(other)
	f.links[pull.Key()] = workitem.Links{Closes: []workitem.Ref{other}}
	id := w.review(pull, "octocat", "still yours")
	w.cycle()
	w.wantFor(fmt.Sprintf("deliver poll-comment-%s: #7 for #%d", id, item.Number))
	w.deliver(pull, id)
	w.set(pull, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	w.cycle()
	w.now = w.now.Add(60e9)
	w.set(pull, func(i *workitem.Item) { i.State = workitem.Open })
	id = w.review(pull, "octocat", "and now yours")
	w.cycle()
	w.wantFor(fmt.Sprintf("deliver poll-comment-%s: #7 for #%d", id, other.Number))
}

// P1: a pull request that closes an item with a session needs no label, and is not
// one that the listing lacks.
func TestAnUnlabelledPullRequestThatClosesAnItemWithASession(t *testing.T) {
	w := newWorld(t)
	f := w.forged()
	item := w.started()
	pull := w.pull(f, 7, "octocat", workitem.Links{Closes: []workitem.Ref{item}})
	w.set(pull, func(i *workitem.Item) { i.Labelled = false })
	id := w.review(pull, "octocat", "please add a test")
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
	if f.asked != 0 || len(w.src.asked) != 0 {
		t.Errorf("asked for links %d times, by number for %q", f.asked, w.src.asked)
	}
	w.deliver(pull, id)
	w.quietCycle()
	f.err = errors.New("502")
	w.set(item, func(i *workitem.Item) { i.State = workitem.Closed })
	if r := w.cycle(); len(r.Errors) != 1 || w.records[item.Key()].Item.Ended() {
		t.Errorf("C2: closures were looked for without them: %q", r.Errors)
	}
}

// F7: a decision on a pull request rests on the record of its target.
func TestADecisionOnAPullRequestIsMadeAgainWhenItsTargetChanged(t *testing.T) {
	w, _, item, pull := reviewed(t)
	id := w.review(pull, "octocat", "a wish")
	w.cycle()
	w.deliver(pull, id)
	id = w.review(pull, "octocat", "another one, of which the target's record keeps nothing")
	w.beforeCommit = func() { w.change(item, control("stop", "octocat")) }
	w.cycle()
	w.want(pull, id, record.Settled, record.SessionStopped)
}

// P5: what a pull request closes is not known: nothing is decided about it.
func TestLinksThatWereNotAnsweredDecideNothing(t *testing.T) {
	w := newWorld(t)
	f := w.forged()
	item := w.open(1, "octocat")
	pull := w.pull(f, 7, "octocat", workitem.Links{Closes: []workitem.Ref{item}})
	f.err = errors.New("502")
	if r := w.cycle(); len(r.Errors) != 1 || w.records[pull.Key()].Item.Known() {
		t.Errorf("errors %q, %+v", r.Errors, w.records[pull.Key()].Item)
	}
}

// With no start required, a pull request that belongs to an item is started for
// itself neither while that is open nor when it is over.
func TestAPullRequestOfAnItemIsNotStartedByItself(t *testing.T) {
	w := newWorld(t)
	w.policy.RequireStart = false
	f := w.forged()
	item := w.open(1, "octocat")
	w.cycle()
	w.bringUp(item)
	pull := w.pull(f, 7, "octocat", workitem.Links{Closes: []workitem.Ref{item}})
	w.cycle()
	w.wantFor()
	reads := w.src.reads
	w.quietCycle()
	if w.src.reads != reads {
		t.Errorf("a quiet cycle read %d threads", w.src.reads-reads)
	}
	w.set(item, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	w.cycle()
	w.wantFor("close close: #1 for #1")
	id := w.review(pull, "octocat", "what now?")
	w.cycle()
	w.wantFor("close close: #1 for #1")
	w.want(pull, id, record.Settled, record.AwaitingStart)
}

// X4, P3: so is a command of the operator.
func TestAnOrderForAPullRequestIsItsTargets(t *testing.T) {
	for name, unread := range map[string]error{"its tracker answers": nil, "its tracker is down": errors.New("502")} {
		t.Run(name, func(t *testing.T) {
			w, f, item, pull := reviewed(t)
			w.src.stateErr = map[string]error{pull.Key(): unread}
			o := w.poller.Options
			o.Sources = []Source{f}
			if _, err := Obey(t.Context(), o, pull, policy.Stop); err != nil {
				t.Fatal(err)
			}
			w.wantFor("close close: #1 for #1")
			if c := w.records[item.Key()].Item.Control; c.Command != "stop" || c.Source != "cli" || w.records[pull.Key()].Item.Control != nil {
				t.Errorf("recorded %+v", c)
			}
		})
	}
}

// B2: what was started on the target's pane and not answered is judged by that
// pane's ring, by a new process as well.
func TestWhatATargetsPaneShowsIsDelivered(t *testing.T) {
	w, f, item, pull := reviewed(t)
	id := w.review(pull, "octocat", "a wish")
	w.cycle()
	w.change(pull, record.Start{Comment: id, On: "life-1", Until: w.now.Add(10e9)})
	w.restart("run-2", "v1.0.0")
	w.poller.Sources = []Source{f}
	w.pane(item, record.PaneLive, "life-1", record.CommentDeliveryID(id))
	w.cycle()
	w.want(pull, id, record.Delivered, "")
	w.wantFor()
}

// P8, B3: a pull request that waits for its notice has ended, and still ends only
// itself.
func TestAMergedPullRequestThatOwesANoticeLeavesItsIssueAlone(t *testing.T) {
	w, _, item, pull := reviewed(t)
	id := w.review(pull, "octocat", "a wish")
	thread := w.src.threads[pull.Key()]
	w.change(pull, record.Hold{Note: record.NoteOf(thread[len(thread)-1])}, record.GiveUp{Comment: id, Version: "v1.0.0"})
	w.set(pull, func(i *workitem.Item) { i.State, i.ClosedAt = workitem.Closed, w.now })
	w.cycle()
	w.wantFor()
	if want := []string{pull.String() + " " + id}; !slices.Equal(w.notices, want) {
		t.Errorf("notices %q", w.notices)
	}
	if rec := w.records[pull.Key()]; !rec.Item.Ended() || rec.Item.Sealed() || !rec.Link.Ended {
		t.Errorf("the pull request: %+v, %+v", rec.Item, rec.Link)
	}
	if !w.records[item.Key()].Session.Open() {
		t.Error("the issue's session is closed")
	}
}

// X4: a pause, and what takes it back.
func TestAPauseOnThePullRequestPausesTheIssue(t *testing.T) {
	w, _, item, pull := reviewed(t)
	w.review(pull, "octocat", "the-loop pause")
	id := w.review(pull, "octocat", "a wish")
	w.cycle()
	w.want(pull, id, record.Settled, record.SessionPaused)
	if s := w.records[item.Key()].Session; s.Status != record.Paused {
		t.Errorf("the session is %s", s.Status)
	}
	id = w.review(pull, "octocat", "the-loop resume with this")
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
	if s := w.records[item.Key()].Session; s.Status != record.Active {
		t.Errorf("the session is %s", s.Status)
	}
}

// A4: who made a pull request that belongs to an item starts nothing and is not
// reported.
func TestWhoMadeAPullRequestOfAnItemIsNotReported(t *testing.T) {
	w := newWorld(t)
	f := w.forged()
	item := w.started()
	pull := w.pull(f, 7, "mallory", workitem.Links{Closes: []workitem.Ref{item}})
	w.cycle()
	if link := w.records[pull.Key()].Link; link == nil || w.told("poll.unauthorized") != 0 {
		t.Errorf("linked %v, reported %d times", link, w.told("poll.unauthorized"))
	}
}

// P3: what no configured source has is no target, whatever the ledger knows.
func TestAnItemThatNobodyWatchesIsNoTarget(t *testing.T) {
	w := newWorld(t)
	f := w.forged()
	elsewhere := issue(1)
	elsewhere.Repo = "other"
	w.records[elsewhere.Key()] = known(withSession(record.Active))
	pull := w.pull(f, 7, "octocat", workitem.Links{Closes: []workitem.Ref{elsewhere}})
	w.cycle()
	if link := w.records[pull.Key()].Link; link != nil {
		t.Errorf("linked to %s", link.Target)
	}
}

// D10: what a conversation is told that begins with a comment on a pull request:
// its item as it is now, and of its thread what is resolved and no agent wrote.
func TestAnItemIsTold(t *testing.T) {
	w := newWorld(t)
	ref := w.started()
	sent := w.say(ref, "octocat", "use Postgres")
	w.say(ref, "mallory", "use mine")
	w.say(ref, "octocat", "an agent's words "+policy.Marker)
	w.cycle()
	w.deliver(ref, sent)
	w.say(ref, "octocat", "pending")
	w.cycle()
	w.say(ref, "octocat", "not seen yet")
	item, thread, err := Tell(t.Context(), w.poller.Sources, ref, w.records[ref.Key()])
	var told []string
	for _, c := range thread {
		told = append(told, c.Body)
	}
	if want := []string{"the-loop start", "use Postgres", "use mine"}; err != nil || item.Title != "issue 1" || item.Source != w.src.ID() || !slices.Equal(told, want) {
		t.Errorf("%v, %+v, told %q", err, item, told)
	}
	w.src.readErr = errTracker
	if _, _, err := Tell(t.Context(), w.poller.Sources, ref, w.records[ref.Key()]); !errors.Is(err, errTracker) {
		t.Errorf("%v", err)
	}
}

package poller

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// situation is what Decide is given in one cell of the table.
type situation struct {
	item   workitem.Item
	thread []workitem.Comment
	rec    record.Record
	facts  Facts
}

// What a decision is made on happened in this order, all of it before noon, which
// is now: the item was seen, its session began, a closed one ended, a comment of
// an item that is open again was said, the item ended, the comment was said.
var (
	seenAt    = noon.Add(-120 * time.Minute)
	begunAt   = noon.Add(-100 * time.Minute)
	shutAt    = noon.Add(-90 * time.Minute)
	saidThen  = noon.Add(-80 * time.Minute)
	endedOnce = noon.Add(-60 * time.Minute)
	saidNow   = noon.Add(-10 * time.Minute)
	endedNow  = noon.Add(-5 * time.Minute)
)

// situate builds the situation of a cell.
func situate(c cell) situation {
	s := situation{item: c.item(), thread: []workitem.Comment{c.comment()}}
	s.rec = c.record(s.thread[0])
	target := Target{}
	if c.get(byTarget) == "linked" {
		rec := record.Record{Item: c.seen(issue(1)), Session: c.session()}
		rec.Item.Kind, rec.Item.Control = workitem.Issue, c.control()
		target = Target{Ref: issue(1), Record: rec}
	}
	s.facts = Facts{
		Now: noon, Run: "run-1", Version: "v1.0.0", Policy: c.policy(), TooLong: tooLong, Host: "here",
		Target: target, Pane: c.pane(), Held: map[string]bool{}, Room: 1, Unlisted: c.get(byItem) == "off list",
	}
	if target.Elsewhere() && c.get(byItem) != "ended" && (s.rec.Link == nil || s.rec.Link.Ended) {
		s.facts.Link = &record.Link{Target: target.Ref.String(), Since: noon, Source: linkChosen}
	}
	switch c.get(byDelivery) {
	case "queued", "started":
		s.facts.Held[record.CommentDeliveryID("c")] = true
	}
	return s
}

func (c cell) ref() workitem.Ref {
	if c.get(byTarget) == "linked" {
		return issue(7)
	}
	return issue(1)
}

func (c cell) opener() string {
	return map[string]string{"listed": "hubot", "stranger": "mallory"}[c.get(byOpener)]
}

func (c cell) item() workitem.Item {
	i := workitem.Item{
		Ref: c.ref(), Kind: workitem.Issue, Title: "an item", State: workitem.Open, Source: "github:octo/repo",
		Author: workitem.Author{Login: c.opener()}, Labelled: c.get(byItem) != "off list", UpdatedAt: saidNow, CommentCount: 1,
	}
	if c.get(byTarget) == "linked" {
		i.Kind = workitem.PullRequest
	}
	if c.get(byItem) == "ended" {
		i.State, i.ClosedAt = workitem.Closed, endedNow
	}
	return i
}

func (c cell) comment() workitem.Comment {
	out := workitem.Comment{ID: "c", Body: c.body(), CreatedAt: saidNow, URL: "https://github.com/octo/repo/issues/1#c"}
	if c.get(byItem) == "open again" && c.get(byDelivery) != "none" {
		out.CreatedAt = saidThen
	}
	out.Author.Login = map[string]string{"listed": "octocat", "stranger": "mallory", "nobody": "", "marked": "octocat"}[c.get(byAuthor)]
	if c.get(byAuthor) == "marked" {
		out.Body += "\n\n" + policy.Marker
	}
	return out
}

func (c cell) body() string {
	switch b := c.get(byBody); b {
	case "plain":
		return "please use Go"
	case "two commands":
		return "the-loop start the-loop stop"
	default:
		word, words := strings.CutSuffix(b, " and words")
		return "the-loop " + word + map[bool]string{true: ", and use Go"}[words]
	}
}

// seen is the row of an item that was seen.
func (c cell) seen(ref workitem.Ref) record.Item {
	return record.Item{
		Ref: ref.String(), Kind: workitem.Issue, Title: "an item", Author: c.opener(), Source: "github:octo/repo",
		UpdatedAt: saidNow, CommentCount: 1, ReadAt: saidNow, FirstSeenAt: seenAt, Rev: 3,
	}
}

func (c cell) record(comment workitem.Comment) record.Record {
	rec := record.Record{Item: c.seen(c.ref())}
	rec.Item.Kind = c.item().Kind
	if c.get(byTarget) == "linked" {
		rec.Link = &record.Link{Target: issue(1).String(), Since: seenAt, Source: linkChosen, Ended: c.get(byItem) == "open again"}
	} else {
		rec.Session, rec.Item.Control = c.session(), c.control()
	}
	if row, ok := c.row(comment); ok {
		rec.Comments = record.NewThread([]record.Comment{row})
	}
	switch c.get(byItem) {
	case "off list":
		rec.Item.OffListAt = endedOnce
	case "open again":
		rec.Item.EndedAt = endedOnce
	}
	if c.get(bySight) == "first" {
		rec.Item.FirstSeenAt, rec.Link = time.Time{}, nil
	}
	return rec
}

func (c cell) session() *record.Session {
	s := record.Session{Status: record.Status(c.get(byRow)), Host: "here", CreatedAt: begunAt, Identity: "life-1"}
	switch c.get(byRow) {
	case "none":
		return nil
	case "elsewhere":
		s.Status, s.Host = record.Active, "there"
		if c.get(byItem) == "open again" && c.get(bySight) == "first" { // it ended with the item
			s.Status, s.EndedAt = record.Shut, endedOnce
		}
	case "closed":
		s.EndedAt = shutAt
	}
	return &s
}

// control is the recorded command. A start had its session when there is a row of
// it on this machine (X7).
func (c cell) control() *record.Control {
	if c.get(byControl) == "none" {
		return nil
	}
	here := c.get(byRow) != "none" && c.get(byRow) != "elsewhere"
	at := begunAt
	if c.get(byOrder) == "before" {
		at = endedNow
	}
	return &record.Control{
		Command: c.get(byControl), Source: "comment", Actor: "octocat", ActorID: 1, RequestedAt: at,
		Served: c.get(byControl) == "start" && here, Note: "https://github.com/octo/repo/pull/9#c",
	}
}

// row is what the ledger has of the comment. What is not resolved was said in
// other words, unless it is plain: it was edited into what it is now (A6).
func (c cell) row(comment workitem.Comment) (record.Comment, bool) {
	row := record.Comment{ID: "c", Seq: 1, Author: comment.Author.Login, SHA256: record.TextHash("other words"), At: comment.CreatedAt, URL: comment.URL}
	if c.get(byBody) == "plain" {
		row.SHA256 = record.TextHash(comment.Body)
	}
	row.State, row.Attempts = record.Pending, 1
	if c.get(byAttempts) == "at" {
		row.Attempts = 3
	}
	row.DeliveryID = record.CommentDeliveryID("c")
	switch c.get(byDelivery) {
	case "none":
		return row, false
	case "queued":
		row.Run = "run-1"
	case "started":
		row.Run, row.StartedOn, row.Until = "run-1", "life-1", noon.Add(5*time.Second)
	case "delivered":
		row.State = record.Delivered
	case "settled":
		row.State, row.Outcome = record.Settled, record.AwaitingStart
	case "gave up":
		row.State, row.Version, row.Notice = record.GaveUp, "v1.0.0", record.NoticePosted
	case "gave up before":
		row.State, row.Version, row.Notice = record.GaveUp, "v0.9.0", record.NoticePosted
	}
	return row, true
}

func (c cell) policy() policy.Policy {
	return policy.New(policy.Options{
		AuthorizedUsers: []string{"octocat", "hubot"}, ControlEnabled: true, RequireStart: c.get(byStart) == "yes",
		SpawnOnUnmatched: policy.Spawn(c.get(byPolicy)), MaxRetries: 3,
	})
}

func (c cell) pane() record.Pane {
	p := record.Pane{State: record.PaneState(c.get(byPane)), ID: "%1", Identity: "life-1"}
	switch c.get(byPane) {
	case "live", "dead":
		p.Adoptable = true
	case "occupied":
		p = record.Pane{State: record.PaneForeign, Holder: "somebody's"}
	}
	return p
}

// outcome is a decision in the words of the table.
type outcome struct {
	item, comment, command, session string
	deliver, notice, drop, occupied bool
	events                          []string
}

// outcomeOf puts a decision into the words of the table.
func outcomeOf(d Decision) (o outcome) {
	for _, c := range append(slices.Clone(d.Changes), d.OfTarget...) {
		o.change(c)
	}
	for _, e := range d.Effects {
		switch e.Kind {
		case DoDeliver:
			o.deliver = true
		case DoNotice:
			o.notice = true
		case DoClose:
			o.session = join(o.session, "close: "+e.Reason)
		default:
			o.session = join(o.session, string(e.Kind))
		}
	}
	for _, e := range d.Events {
		o.events = append(o.events, e.Name)
	}
	slices.Sort(o.events)
	o.occupied = d.Occupied != ""
	return o
}

func (o *outcome) change(c record.Change) {
	switch c := c.(type) {
	case record.FirstSeen:
		o.item = join(o.item, "first seen")
	case record.End:
		o.item = join(o.item, "ended")
	case record.Forget:
		o.item = join(o.item, "forgotten")
	case record.Baseline:
		o.comment = "baselined " + c.Outcome
	case record.Settle:
		o.comment = "settled " + c.Outcome
	case record.Hold:
		o.comment = "pending"
	case record.GiveUp:
		o.comment = "given up"
	case record.Rearm:
		o.comment = "armed again"
	case record.Command:
		o.command = c.Control.Command
	case record.DropSession:
		o.drop = true
	case record.SetStatus:
		o.session = join(o.session, map[record.Status]string{record.Active: "un-pause", record.Paused: "pause", record.Shut: ""}[c.Status])
	}
}

func join(a, b string) string { return strings.Trim(a+", "+b, ", ") }

func (o outcome) String() string {
	type bare outcome
	return fmt.Sprintf("%+v", bare(o))
}

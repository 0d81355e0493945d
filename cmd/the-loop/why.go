package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strings"
	"time"

	"theloop/daemon"
	"theloop/escape"
	"theloop/eventlog"
	"theloop/localapi"
	"theloop/view"
	"theloop/workitem"
)

type ledgerWhyCmd struct {
	format
	What string `arg:"" placeholder:"REF|COMMENT" help:"A work item, a comment's id, or a comment's URL."`
}

// Help is shown by --help.
func (ledgerWhyCmd) Help() string {
	return `The chain of what was seen, decided and tried, with times, from the ledger and the decision trail, and what happens next.

Example: the-loop ledger why IC_kwDOQ1aB7s6Zq001

Exit codes: 0 found, 1 neither the ledger nor the trail knows it.`
}

// whyDoc is the JSON answer.
type whyDoc struct {
	Ref     string    `json:"ref"`
	Comment string    `json:"comment"`
	State   string    `json:"state"`
	Steps   []whyStep `json:"steps"`
	Next    string    `json:"next"`
}

type whyStep struct {
	At    string `json:"at"`
	Event string `json:"event"`
	Words string `json:"words"`
}

// Run prints the chain.
func (c *ledgerWhyCmd) Run(ctx context.Context, d *deps, g *Global) error {
	if !workitem.ValidCommentID(c.What) {
		if _, err := d.ref(g, c.What); err != nil {
			return err
		}
	}
	root, cfg, err := d.root(g)
	if err != nil {
		return err
	}
	path, err := d.eventLog(root, cfg)
	if err != nil {
		return err
	}
	var doc whyDoc
	err = d.withLedger(ctx, g, func(ctx context.Context, r reader) error {
		item, comment, err := c.find(ctx, r)
		var none *noComment
		if errors.As(err, &none) {
			none.meant = d.meant(g, c.What)
		}
		if err != nil {
			return err
		}
		doc, err = why(item, comment, path, daemon.Obeys(cfg))
		return err
	})
	switch {
	case err != nil:
		return err
	case c.json():
		return d.printJSON(doc)
	}
	return d.print(whyText(doc, d.hosts(g)))
}

// why puts the chain together. A trail that is not there, or reaches back less
// far than the ledger, leaves the chain shorter, not wrong.
func why(item localapi.Item, comment *localapi.Comment, trail string, obeys func(account string) bool) (whyDoc, error) {
	doc := whyDoc{Ref: item.Ref, Steps: []whyStep{}}
	if comment != nil {
		doc.Comment = comment.ID
		doc.State, _ = commentWords(*comment)
		doc.Next = commentNext(*comment)
	} else {
		doc.State, doc.Next = item.State, itemNext(item, obeys)
	}
	_, err := eventlog.Read(trail, eventlog.Filter{WorkItem: item.Ref}, func(e eventlog.Entry) error {
		if comment == nil || concerns(e, *comment) {
			doc.Steps = append(doc.Steps, whyStep{e.Time.UTC().Format(time.RFC3339), e.Name, eventWords(e)})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return doc, err
}

func concerns(e eventlog.Entry, c localapi.Comment) bool {
	return e.Fields["comment_id"] == c.ID || c.DeliveryID != "" && e.Fields["delivery_id"] == c.DeliveryID
}

// eventWords puts an event into words.
func eventWords(e eventlog.Entry) string {
	field := func(name string) string {
		if text, ok := e.Fields[name].(string); ok {
			return escape.Line(text) // a sentence, and no value to be picked out
		}
		return fieldText(e.Fields[name])
	}
	switch e.Name {
	case "poll.first_seen":
		return "seen for the first time; what had been said was not sent"
	case "poll.comment_forwarded":
		return "queued for the session, attempt " + field("attempt")
	case "poll.comment_dropped":
		return outcomeOf(e, "reason")
	case "poll.comment_settled":
		return outcomeOf(e, "outcome")
	case "poll.comment_failed":
		return "given up after " + field("attempts") + " attempts"
	case "poll.spawn_failed":
		return "the start of its session was given up after " + field("attempts") + " attempts"
	case "poll.unauthorized":
		return "not started by itself: " + field("reason")
	case "poll.item_error":
		return "it could not be dealt with: " + field("error")
	case "dispatch.queued":
		return queuedWords(e)
	case "session.spawn_failed":
		return "the agent ended at once: " + field("error")
	case "session.resume_failed":
		return "its conversation could not be resumed, and a fresh one is begun"
	case "poll.recovered":
		return "an attempt of an earlier run was judged by its pane: " + field("proof")
	case "dispatch.succeeded":
		return "put into the session"
	case "dispatch.failed":
		return "the attempt failed: " + field("error")
	case "dispatch.dropped":
		if e.Fields["reason"] == "session-occupied" {
			return "not sent: " + field("error")
		}
		return "not sent: " + field("reason")
	case "control.command":
		return field("command") + " by " + actorOf(e) + " was obeyed: " + cmp.Or(effectWords[field("effect")], field("effect"))
	case "control.rejected":
		return field("command") + " by " + actorOf(e) + " was refused: " + field("reason")
	case "session.spawned":
		return "its session came up (" + field("tmux_target") + ")"
	case "session.closed":
		return "its session was closed"
	}
	if words, ok := eventPhrases[e.Name]; ok {
		return words
	}
	return e.Name // by which docs/events.md has it
}

// eventPhrases are the events whose fields say no more than their name.
var eventPhrases = map[string]string{
	"poll.closure_detected":     "it has ended",
	"poll.rearmed":              "what another release gave up is tried again",
	"poll.giveup_reported":      "a notice on the item says so",
	"poll.giveup_report_failed": "the notice on the item could not be posted; the next run tries again",
	"dispatch.abandoned":        "a stop came before it was begun",
	"control.ambiguous":         "two different commands in one comment: neither was obeyed",
	"session.respawned":         "its session, which had ended, came up again",
	"session.adopted":           "its session was taken over",
	"session.paused":            "its session was paused",
	"session.resumed":           "its session hears what is said again",
	"session.announced":         "its session was announced on the item",
	"session.pr_linked":         "what is said on it goes into another item's session",
	"ledger.row_invalid":        "its row in the ledger could not be read",
}

// actorOf says who gave a command; what was given from here has no account.
func actorOf(e eventlog.Entry) string {
	if by, _ := e.Fields["actor"].(string); by != "" {
		return escape.Line(by)
	}
	return "the operator"
}

// queuedWords: a comment's delivery was told of when it was forwarded.
func queuedWords(e eventlog.Entry) string {
	if spawn, _ := e.Fields["spawn"].(bool); spawn {
		return "a start of its session was queued"
	}
	return "it waits in its session's queue"
}

func outcomeOf(e eventlog.Entry, field string) string {
	text, _ := e.Fields[field].(string)
	if words, ok := outcomeWords[text]; ok {
		return words
	}
	return escape.Line(text)
}

func commentNext(c localapi.Comment) string {
	switch c.State {
	case "delivered":
		return "nothing: it was pasted into the pane; whether the agent read it is not known here"
	case "pending":
		return "the next cycle looks at its pane and sends it, or gives it up when its attempts are spent"
	case "gave-up":
		return "nothing by this release; another release tries it once more, and so does writing it again"
	}
	if c.Outcome == "control-executed" {
		return "nothing: it was carried out"
	}
	return "nothing: it stays as it is; write it again if it still matters"
}

// itemNext says what has to happen for what is said on the item to go anywhere. A
// start counts for as long as its author is obeyed, and a session that runs goes on
// behind that (A7).
func itemNext(item localapi.Item, obeys func(account string) bool) string {
	const start = "somebody in routing.authorizedUsers has to say the start keyword"
	s := item.Summary()
	withdrawn := item.Control != nil && item.Control.Source != "cli" && !obeys(item.Control.Actor)
	switch {
	case s.State == "sealed" || s.State == "ended":
		return "nothing, unless it is opened again"
	case s.Target != nil:
		return "what is said on it next goes into the session of " + *s.Target
	case s.Command == "" && s.Session != "active" && s.Session != "paused":
		return start + " on it"
	case s.Command == "stop" || s.Command == "cleanup":
		return "nothing until somebody says the start keyword"
	case s.Session == "paused":
		return "nothing is sent until somebody says the resume keyword"
	case s.Command == "pause":
		return "nothing is sent until somebody says the start keyword" // no session is there to be resumed (X4)
	case withdrawn && s.Session == "active":
		return "what is said on it next goes into its session while that runs; then " + start + ": who said it last is not listed any more"
	case withdrawn:
		return start + " on it: who said it last is not listed any more"
	case item.Spawn.GaveUp:
		return "a new comment, or a start, tries to bring its session up again"
	case (s.Session == "" || s.Session == localapi.Elsewhere) && !item.Control.Served:
		return "the next cycle brings its session up"
	case s.Session == localapi.Elsewhere:
		return "what is said on it next brings a session up here"
	}
	return "what is said on it next goes into its session"
}

// whyText shows the chain. Links in it lead to these hosts alone (A8).
func whyText(doc whyDoc, hosts []string) string {
	var b strings.Builder
	b.WriteString(escape.Line(doc.Ref))
	if doc.Comment != "" {
		b.WriteString("  comment " + escape.Line(doc.Comment))
	}
	b.WriteString("\n\n")
	for _, s := range doc.Steps {
		b.WriteString(s.At + "  " + view.Links(s.Words, hosts) + "\n")
	}
	if len(doc.Steps) == 0 {
		b.WriteString("the decision trail says nothing of it\n")
	}
	b.WriteString("\nnow:  " + view.Links(doc.State, hosts) + "\nnext: " + escape.Line(doc.Next) + "\n")
	return b.String()
}

package main

import (
	"fmt"
	"strings"
	"time"

	"theloop/localapi"
	"theloop/view"
)

// inspectView is how `ledger inspect` shows a document.
type inspectView struct {
	now   time.Time
	width int
	style view.Style
}

// inspectText is a heading, the facts, then a table of comments, newest last.
func inspectText(doc localapi.Item, v inspectView) string {
	var b strings.Builder
	b.WriteString(v.style.Paint(view.Strong, doc.Ref+"  "+doc.Title) + "\n\n")
	b.WriteString(inspectFacts(doc, v).Render(v.style))
	b.WriteString("\n")
	if len(doc.Comments) == 0 {
		b.WriteString("no comments yet\n")
		return b.String()
	}
	t := view.Table{Columns: []view.Column{
		{Title: "COMMENT"}, {Title: "BY"}, {Title: "WRITTEN"}, {Title: "WHAT BECAME OF IT", Flexible: true},
	}}
	for _, c := range doc.Comments {
		words, tone := commentWords(c)
		t.Rows = append(t.Rows, []view.Cell{
			{Text: c.ID}, {Text: dash(c.Author)}, {Text: view.Age(v.now, c.At.Time)}, {Text: words, Tone: tone},
		})
	}
	b.WriteString(t.Render(v.style, v.width))
	return b.String()
}

func inspectFacts(doc localapi.Item, v inspectView) view.Facts {
	return view.Facts{
		{Key: "state", Value: doc.State},
		{Key: "kind", Value: doc.Kind},
		{Key: "link", Value: doc.URL},
		{Key: "author", Value: doc.Author},
		{Key: "first seen", Value: view.Age(v.now, doc.FirstSeenAt.Time)},
		{Key: "last polled", Value: view.Age(v.now, doc.LastPolledAt.Time)},
		{Key: "command", Value: controlWords(doc.Control, v.now)},
		{Key: "session", Value: sessionWords(doc, v.now)},
		{Key: "attach", Value: attachWords(doc.Session)},
		{Key: "spawn", Value: spawnWords(doc.Spawn), Tone: bad(doc.Spawn.GaveUp)},
	}
}

func controlWords(c *localapi.Control, now time.Time) string {
	if c == nil {
		return "none; a label alone starts nothing while routing.control.requireStartCommand is on"
	}
	by := c.Actor
	if by == "" {
		by = "the operator"
	}
	words := fmt.Sprintf("%s by %s, %s", c.Command, by, view.Age(now, c.RequestedAt.Time))
	if c.Note != "" {
		words += " (" + c.Note + ")"
	}
	return words
}

func sessionWords(doc localapi.Item, now time.Time) string {
	s := doc.Session
	if s == nil {
		return "none"
	}
	if s.Status == localapi.Elsewhere {
		return "elsewhere: it was made on another machine and counts for nothing here"
	}
	return fmt.Sprintf("%s, %s, since %s", s.Status, s.Harness, view.Age(now, s.CreatedAt.Time))
}

func attachWords(s *localapi.Session) string {
	if s == nil || s.TmuxTarget == "" || s.Status == localapi.Elsewhere || s.Status == "closed" {
		return ""
	}
	return "tmux attach -t =" + s.TmuxTarget
}

func spawnWords(s localapi.Spawn) string {
	switch {
	case s.GaveUp:
		return fmt.Sprintf("given up after %s; a new comment or a start tries again", view.Count(s.Attempts, "attempt", "attempts"))
	case s.Attempts > 0:
		return view.Count(s.Attempts, "attempt", "attempts") + " spent"
	}
	return ""
}

// outcomeWords says why a comment that was not delivered was not, in words.
var outcomeWords = map[string]string{
	"first-sight":       "not delivered: it was there when the item was first seen",
	"unauthorized":      "not delivered: its author is not in routing.authorizedUsers",
	"self-authored":     "not delivered: an agent wrote it",
	"late":              "not delivered: older than what the ledger remembers of this item",
	"imported":          "dealt with before the records were imported",
	"awaiting-start":    "not delivered: the item was not started",
	"session-paused":    "not delivered: the session was paused when it arrived",
	"session-stopped":   "not delivered: the session was stopped",
	"spawn-policy":      "not delivered: routing.spawnOnUnmatched allows no session for it",
	"ended":             "not delivered: the item had ended",
	"control-executed":  "a command, carried out",
	"control-rejected":  "a command, refused",
	"control-ambiguous": "two different commands, so neither was obeyed",
	"revoked":           "not delivered: its author may not give input any more",
	"too-long":          "not delivered: longer than 64 KiB",
	"deleted":           "not delivered: it was deleted first",
}

func commentWords(c localapi.Comment) (string, view.Tone) {
	tries := view.Count(c.Attempts, "attempt", "attempts")
	switch c.State {
	case "delivered":
		if c.Attempts > 1 {
			return "delivered, with " + tries, view.Good
		}
		return "delivered", view.Good
	case "pending":
		return "to be delivered, " + tries + " spent", view.Plain
	case "gave-up":
		return "given up after " + tries + "; it could not be shown to have arrived", view.Bad
	}
	if words, ok := outcomeWords[c.Outcome]; ok {
		return words, view.Plain
	}
	return c.State + " " + c.Outcome, view.Plain
}

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
	hosts []string // where links may lead (A8)
}

// inspectText is a heading, the facts, then a table of comments, newest last.
func inspectText(doc localapi.Item, v inspectView) string {
	var b strings.Builder
	b.WriteString(v.style.Paint(view.Strong, strings.TrimRight(doc.Ref+"  "+view.Links(doc.Title, v.hosts), " ")) + "\n\n")
	b.WriteString(inspectFacts(doc, v).Render(v.style))
	b.WriteString("\n")
	if len(doc.Comments) == 0 {
		b.WriteString("no comments yet\n")
		return b.String()
	}
	b.WriteString(commentTable(doc, v).Render(v.style, v.width))
	return b.String()
}

// commentTable has the links where there is room for them.
func commentTable(doc localapi.Item, v inspectView) view.Table {
	t := view.Table{Columns: []view.Column{
		{Title: "COMMENT"}, {Title: "BY"}, {Title: "WRITTEN"}, {Title: "WHAT BECAME OF IT", Flexible: true},
	}}
	links := v.width == 0 || v.width >= numbersWidth
	if links {
		t.Columns = append(t.Columns, view.Column{Title: "LINK"})
	}
	for _, c := range doc.Comments {
		words, tone := commentWords(c)
		row := []view.Cell{
			{Text: c.ID}, {Text: dash(c.Author)}, {Text: writtenWords(v.now, c.At.Time)}, {Text: words, Tone: tone},
		}
		if links {
			row = append(row, view.Cell{Text: dash(linkOf(doc.Ref, c.URL, v.hosts))})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func inspectFacts(doc localapi.Item, v inspectView) view.Facts {
	return view.Facts{
		{Key: "state", Value: doc.State},
		{Key: "why", Value: whyWords(doc.Summary())},
		{Key: "kind", Value: doc.Kind},
		{Key: "link", Value: linkOf(doc.Ref, doc.URL, v.hosts)},
		{Key: "target", Value: targetWords(doc)},
		{Key: "author", Value: doc.Author},
		{Key: "updated", Value: updated(doc.UpdatedAt, v.now)},
		{Key: "first seen", Value: view.Age(v.now, doc.FirstSeenAt.Time)},
		{Key: "last polled", Value: view.Age(v.now, doc.LastPolledAt.Time)},
		{Key: "command", Value: controlWords(doc, v)},
		{Key: "session", Value: sessionWords(doc, v.now)},
		{Key: "attach", Value: attachWords(doc)},
		{Key: "spawn", Value: spawnWords(doc.Ref, doc.Spawn), Tone: bad(doc.Spawn.GaveUp)},
	}
}

// writtenWords: of what was imported nobody kept when it was written.
func writtenWords(now, at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return view.Age(now, at)
}

// targetWords say where the comments of a pull request go (P3).
func targetWords(doc localapi.Item) string {
	switch {
	case doc.Lapsed != nil:
		return *doc.Lapsed + " takes nothing more: what is said on this is for itself"
	case doc.Target != nil:
		return *doc.Target
	}
	return ""
}

func controlWords(doc localapi.Item, v inspectView) string {
	c := doc.Control
	if c == nil {
		return "none; a label alone starts nothing while routing.control.requireStartCommand is on"
	}
	by := c.Actor
	if by == "" {
		by = "the operator"
	}
	words := fmt.Sprintf("%s by %s, %s", c.Command, by, view.Age(v.now, c.RequestedAt.Time))
	if c.Note != "" {
		words += " (" + linkOf(doc.Ref, c.Note, v.hosts) + ")"
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

// attachWords is a command that any shell takes as it is, on whatever server the
// session is; a name of tmux's would be neither.
func attachWords(doc localapi.Item) string {
	s := doc.Session
	if s == nil || s.TmuxTarget == "" || s.Status == localapi.Elsewhere || s.Status == "closed" {
		return ""
	}
	return fmt.Sprintf("the-loop sessions attach %s (tmux session %s)", doc.Ref, s.TmuxTarget)
}

func spawnWords(ref string, s localapi.Spawn) string {
	tries := view.Count(s.Attempts, "attempt", "attempts")
	switch {
	case s.GaveUp:
		return fmt.Sprintf("given up after %s; 'the-loop ledger why %s' says why, a new comment or a start tries again", tries, ref)
	case s.Attempts > 0:
		return fmt.Sprintf("%s spent; 'the-loop ledger why %s' says what became of them", tries, ref)
	}
	return ""
}

package main

import (
	"fmt"
	"strings"
	"time"

	"theloop/escape"
	"theloop/migrate"
	"theloop/view"
)

// listed is how many lines of one kind a text report shows.
const listed = 20

// section is a heading and what is below it, cut.
type section struct {
	title string
	tone  view.Tone
	lines []string
}

func (s section) render(style view.Style) string {
	if len(s.lines) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n" + style.Paint(s.tone, s.title) + "\n")
	for i, line := range s.lines {
		if i == listed && len(s.lines) > listed+1 {
			fmt.Fprintf(&b, "  and %d more (--format json has them all)\n", len(s.lines)-listed)
			break
		}
		b.WriteString("  " + escape.Line(line) + "\n")
	}
	return b.String()
}

// importText is the counts, what needs somebody's eye, and what the first start
// will do.
func importText(r migrate.Report, now time.Time, style view.Style) string {
	head := "imported"
	if r.DryRun {
		head = "a dry run, nothing was changed: it would import"
	}
	facts := []string{
		fmt.Sprintf("%s %s, %d unchanged, %s, %d invalid", head, view.Count(r.Imported, "record", "records"), r.Unchanged,
			view.Count(len(r.Conflicts), "conflict", "conflicts"), len(r.Invalid)),
	}
	if s := r.Sessions; s.Live+s.Gone+s.Foreign+r.Links > 0 {
		facts = append(facts, fmt.Sprintf("sessions: %d of this machine, %d closed, %d of elsewhere; %s bound to a session",
			s.Live, s.Gone, s.Foreign, view.Count(r.Links, "pull request", "pull requests")))
	}
	if r.Imported+len(r.Conflicts)+len(r.Invalid) == 0 && r.Unchanged > 0 {
		facts = append(facts, "everything is in the ledger already")
	}
	var b strings.Builder
	b.WriteString(strings.Join(facts, "\n") + "\n")
	for _, s := range []section{invalids(r.Invalid), conflicts(r.Conflicts), merged(r.Merged), left(r.Sessions.Left), firstStart(r, now)} {
		b.WriteString(s.render(style))
	}
	return b.String()
}

func invalids(all []migrate.Invalid) section {
	s := section{title: "invalid:", tone: view.Bad}
	for _, i := range all {
		where := i.File
		if i.Line > 0 {
			where = fmt.Sprintf("%s:%d", i.File, i.Line)
		}
		if where != "" {
			where += ": "
		}
		s.lines = append(s.lines, where+i.Reason)
	}
	return s
}

func conflicts(all []migrate.Conflict) section {
	s := section{title: "conflicts (the ledger wins; --overwrite turns it round):", tone: view.Warn}
	for _, c := range all {
		if c.Overwritten {
			s.title = "conflicts (the files won):"
		}
		s.lines = append(s.lines, fmt.Sprintf("%s differs in %s: %s", c.Ref, strings.Join(c.Differs, ", "), c.File))
	}
	return s
}

func merged(all []migrate.Merged) section {
	s := section{title: "several files for one item, taken together:", tone: view.Warn}
	for _, m := range all {
		s.lines = append(s.lines, m.Ref+": "+strings.Join(m.Files, ", "))
	}
	return s
}

func left(all []migrate.Left) section {
	s := section{title: "sessions that nothing is done with:", tone: view.Warn}
	for _, l := range all {
		s.lines = append(s.lines, fmt.Sprintf("%s: %s (%s)", l.Ref, l.Reason, l.File))
	}
	return s
}

// firstStart says what the first start of the poller will do.
func firstStart(r migrate.Report, now time.Time) section {
	s := section{title: "at the first start of the poller:", tone: view.Strong}
	for _, ref := range r.Sessions.Adopt {
		s.lines = append(s.lines, ref+": its session is adopted, if it still runs")
	}
	for _, retry := range r.Retries {
		s.lines = append(s.lines, retryLine(retry, now))
	}
	for _, ref := range r.FirstSight {
		s.lines = append(s.lines, ref+": is seen for the first time: what was said so far is not sent")
	}
	return s
}

func retryLine(r migrate.Retry, now time.Time) string {
	age := ""
	if !r.PolledAt.IsZero() {
		age = ", last looked at " + view.Age(now, r.PolledAt)
	}
	switch {
	case r.GaveUp:
		by := ""
		if r.Version != "" {
			by = " by " + r.Version
		}
		return fmt.Sprintf("%s: comment %s, given up%s, is tried again%s (--keep-give-ups leaves it)", r.Ref, r.Comment, by, age)
	case r.MayRepeat:
		return fmt.Sprintf("%s: comment %s is sent, as a possible repeat (%s before%s)", r.Ref, r.Comment,
			view.Count(r.Attempts, "attempt", "attempts"), age)
	}
	return fmt.Sprintf("%s: comment %s is sent%s", r.Ref, r.Comment, age)
}

// exportText says what was written.
func exportText(out migrate.Exported, to string, style view.Style) string {
	text := fmt.Sprintf("exported %s and %s to %s\n", view.Count(out.Records, "record", "records"),
		view.Count(out.Sessions, "session", "sessions"), escape.Line(to))
	return text + invalids(out.Invalid).render(style)
}

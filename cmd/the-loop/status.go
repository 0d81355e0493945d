package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"theloop/heartbeat"
	"theloop/localapi"
	"theloop/lock"
	"theloop/view"
)

type pollStatusCmd struct {
	format
	History    bool   `help:"The cycles so far as well: drawn on a terminal, listed elsewhere; all that are kept with --format json."`
	Pidfile    string `placeholder:"FILE" help:"The pidfile, when there is no configuration to find it by."`
	StatusFile string `placeholder:"FILE" help:"The heartbeat, when it is not beside the pidfile."`
	Logfile    string `placeholder:"FILE" help:"The log to name, when it is not the default one."`
}

// Help is shown by --help.
func (pollStatusCmd) Help() string {
	return `Whether it runs is read from the lock alone, how it goes from the heartbeat.

Example: the-loop poll status --history

Exit codes: 0 it runs, 1 it does not.`
}

// statusDoc is the JSON answer (U1).
type statusDoc struct {
	Daemon       string `json:"daemon"`
	Running      bool   `json:"running"`
	PID          *int   `json:"pid"`
	Pidfile      string `json:"pidfile"`
	StalePidfile bool   `json:"stalePidfile"`
	RecordedPID  *int   `json:"recordedPid"`
	Logfile      string `json:"logfile"`
	StatusFile   string `json:"statusFile"`
	heartbeat.Beat
	// History has the cycles that the ledger keeps, the oldest first, when they
	// were asked for.
	History *[]localapi.Cycle `json:"history,omitempty"`
}

// Run prints the status.
func (c *pollStatusCmd) Run(ctx context.Context, d *deps, g *Global) error {
	pidfile, err := d.pidfile(c.Pidfile, g)
	if err != nil {
		return err
	}
	status, err := lock.Probe(pidfile)
	if err != nil {
		return err
	}
	doc, known, err := c.doc(d, pidfile, status)
	if err != nil {
		return err
	}
	unread := c.addHistory(ctx, d, &doc) // whether it runs is answered all the same
	if c.json() && unread != nil {
		return unread
	}
	if c.json() {
		err = d.printJSON(doc)
	} else {
		doc.HealthDetail = view.Links(doc.HealthDetail, d.hosts(g)) // a server's words (A8)
		err = d.print(c.text(ctx, d, doc, status, known))
	}
	if err == nil && unread == nil && !doc.Running {
		return no
	}
	return errors.Join(err, unread)
}

func (c *pollStatusCmd) addHistory(ctx context.Context, d *deps, doc *statusDoc) error {
	if !c.History {
		return nil
	}
	n := historyRows
	switch width := d.width(); {
	case c.json():
		n = 0
	case width > 0:
		n = width
	}
	cycles, err := d.history(ctx, filepath.Dir(doc.Pidfile), n)
	if err != nil {
		return fmt.Errorf("read the cycles so far: %w", err)
	}
	cycles = append([]localapi.Cycle{}, cycles...) // none is [], not null
	doc.History = &cycles
	return nil
}

func (c *pollStatusCmd) text(ctx context.Context, d *deps, doc statusDoc, status lock.Status, known bool) string {
	text := statusText(ctx, doc, status, known, d)
	if doc.History != nil {
		text += "\n" + historyText(*doc.History, d.now(), d.style(), d.width())
	}
	return text
}

func (c *pollStatusCmd) doc(d *deps, pidfile string, status lock.Status) (doc statusDoc, known bool, err error) {
	root := filepath.Dir(pidfile)
	doc = statusDoc{
		Daemon: "poller", Pidfile: pidfile, Running: status.Holder() == lock.Poller || status.Holder() == lock.Foreign,
		StalePidfile: status.Exists && !status.Held,
		Logfile:      filepath.Join(root, "logs", "poller.out"), StatusFile: filepath.Join(root, heartbeat.File),
	}
	for flag, into := range map[string]*string{c.StatusFile: &doc.StatusFile, c.Logfile: &doc.Logfile} {
		if flag == "" {
			continue
		}
		if *into, err = d.resolve(flag); err != nil {
			return doc, false, err
		}
	}
	if status.RecordedPID > 0 { // U5
		doc.RecordedPID = &status.RecordedPID
	}
	if doc.Running && status.PID > 0 {
		doc.PID = &status.PID
	}
	beat, known := heartbeat.Read(doc.StatusFile)
	doc.Beat = beat
	doc.Health, doc.HealthDetail = beat.Seen(d.now(), doc.Running, beat.Interval())
	return doc, known, nil
}

func statusText(ctx context.Context, doc statusDoc, status lock.Status, known bool, d *deps) string {
	facts := view.Facts{{Key: "poller", Value: runningWords(doc, status), Tone: runningTone(doc)}}
	facts = append(facts, cycleFacts(doc, known, d.now())...)
	if next := nextCycle(ctx, doc, status, d.now()); next != "" {
		facts = append(facts, view.Fact{Key: "next cycle", Value: next})
	}
	facts = append(facts, view.Fact{Key: "pidfile", Value: doc.Pidfile})
	if doc.EventLogDropped > 0 {
		facts = append(facts, view.Fact{
			Key: "event log", Value: view.Count(int(doc.EventLogDropped), "line", "lines") + " could not be written", Tone: view.Warn,
		})
	}
	return facts.Render(d.style())
}

// quickAnswer is how long the status waits for what it can do without.
const quickAnswer = 300 * time.Millisecond

// nextCycle is what the poller itself says; empty when it does not answer.
func nextCycle(ctx context.Context, doc statusDoc, status lock.Status, now time.Time) string {
	if status.Holder() != lock.Poller {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, quickAnswer)
	defer cancel()
	said, err := localapi.NewClient(filepath.Dir(doc.Pidfile)).Status(ctx)
	switch {
	case err != nil || said.PID != status.PID:
		return ""
	case said.Busy:
		return "under way"
	}
	return view.Age(now, said.NextCycleAt.Time)
}

func runningTone(doc statusDoc) view.Tone {
	if doc.Running {
		return view.Good
	}
	return view.Warn
}

func runningWords(doc statusDoc, status lock.Status) string {
	switch {
	case doc.Running && doc.PID == nil:
		return "running; the pidfile does not name its pid"
	case status.Holder() == lock.Foreign:
		return fmt.Sprintf("running (pid %d), and it is another program: %s", status.PID, lock.HolderCommandLine(status.PID))
	case doc.Running:
		return fmt.Sprintf("running (pid %d)", *doc.PID)
	case status.Holder() == lock.Offline:
		return fmt.Sprintf("not running; 'the-loop %s' (pid %d) is writing the ledger", status.Command, status.PID)
	case doc.StalePidfile && status.RecordedPID > 0:
		return fmt.Sprintf("not running; it left a stale pidfile (pid %d), which the next start takes over", status.RecordedPID)
	case doc.StalePidfile:
		return "not running; it left a stale pidfile, which the next start takes over"
	}
	return "not running; start it with 'the-loop poll start'"
}

// cycleFacts tells how it goes, or went before it stopped.
func cycleFacts(doc statusDoc, known bool, now time.Time) view.Facts {
	if !known {
		return view.Facts{{Key: "last cycle", Value: "unknown"}}
	}
	if doc.LastCycle == nil {
		return view.Facts{
			{Key: "started", Value: view.Age(now, doc.StartedAt.Time)},
			{Key: "last cycle", Value: "none recorded yet"},
		}
	}
	before := ""
	if !doc.Running {
		before = "before it stopped, "
	}
	facts := view.Facts{
		{Key: "started", Value: view.Age(now, doc.StartedAt.Time)},
		{Key: "last cycle", Value: before + view.Age(now, doc.LastCycleAt.Time) + ": " + cycleWords(*doc.LastCycle)},
		{Key: "interval", Value: view.Duration(doc.Interval())},
		{Key: "version", Value: doc.Version},
	}
	if doc.Running {
		facts = append(facts, view.Fact{Key: "health", Value: healthWords(doc), Tone: healthTone(doc.Health)})
	} else if doc.HealthDetail != "" {
		facts = append(facts, view.Fact{Key: "last errors", Value: doc.HealthDetail, Tone: view.Bad})
	}
	return facts
}

func cycleWords(c heartbeat.Cycle) string {
	parts := []string{view.Count(c.ItemsSeen, "item seen", "items seen")}
	for _, p := range []struct {
		n         int
		one, many string
	}{
		{c.Spawns, "session spawned", "sessions spawned"},
		{c.CommentsForwarded, "comment forwarded", "comments forwarded"},
		{c.Closures, "item ended", "items ended"},
		{c.Failures, "given up", "given up"},
		{c.Errors, "error", "errors"},
	} {
		if p.n > 0 {
			parts = append(parts, view.Count(p.n, p.one, p.many))
		}
	}
	words := strings.Join(parts, ", ")
	if c.Interrupted {
		words += " (interrupted by a stop request)"
	}
	return words
}

func healthWords(doc statusDoc) string {
	words := string(doc.Health)
	if doc.HealthDetail != "" {
		words += ": " + doc.HealthDetail
	}
	return words
}

func healthTone(h heartbeat.Health) view.Tone {
	switch h {
	case heartbeat.Failing, heartbeat.Stalled:
		return view.Bad
	case heartbeat.Throttled:
		return view.Warn
	}
	return view.Good
}

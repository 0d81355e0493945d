package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"theloop/escape"
	"theloop/eventlog"
	"theloop/view"
)

// followEach is how often a log that is followed is looked at.
const followEach = 200 * time.Millisecond

type eventsCmd struct {
	format
	Source   string `help:"Only what this part wrote: poll, sessions, migrate."`
	Type     string `placeholder:"GLOB" help:"Only events of this name, as dispatch.*"`
	WorkItem string `placeholder:"REF" help:"Only what concerns this work item."`
	Delivery string `placeholder:"ID" help:"Only what concerns this delivery."`
	Level    string `placeholder:"LEVEL" help:"At least debug, info, warning or error."`
	Since    string `placeholder:"TIME" help:"Only what is younger: 2h, or 2026-07-31T09:00:00Z."`
	Follow   bool   `short:"f" help:"Go on with what is written from now on, until Ctrl-C; across rotation."`
	Number   int    `short:"n" name:"number" default:"0" help:"Only the last N; 0 is all."`
}

// Help is shown by --help.
func (eventsCmd) Help() string {
	return `Example: the-loop events --type 'poll.comment_*' --since 2h

Exit codes: 0 also when nothing matches, 1 when there is no log.`
}

// Run prints the events that pass the filters, oldest first.
func (c *eventsCmd) Run(ctx context.Context, d *deps, g *Global) error {
	filter, err := c.filter(d, g)
	if err != nil {
		return err
	}
	root, cfg, err := d.root(g)
	if err != nil {
		return err
	}
	log, err := d.eventLog(root, cfg)
	if err != nil {
		return err
	}
	hosts := hostsOf(cfg)
	show := func(d *deps, e eventlog.Entry) error { return c.showText(d, e, hosts) }
	if c.json() {
		show = c.showJSON
	}
	visit := func(e eventlog.Entry) error { return show(d, e) }
	read := func() (int, error) { return eventlog.Read(log, filter, visit) }
	if c.Follow {
		read = func() (int, error) { return eventlog.Follow(ctx, log, filter, followEach, visit) }
	}
	skipped, err := read()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no event log at %s; the poller makes it when it starts", log)
	case err != nil:
		return fmt.Errorf("read the event log: %w", err)
	}
	if skipped > 0 {
		fmt.Fprintf(d.stderr, "the-loop: skipped %s of %s that could not be read\n",
			view.Count(skipped, "line", "lines"), escape.Line(log))
	}
	return nil
}

func (c *eventsCmd) filter(d *deps, g *Global) (eventlog.Filter, error) {
	f := eventlog.Filter{Source: c.Source, Type: c.Type, Delivery: c.Delivery, Limit: c.Number}
	if c.Number < 0 {
		return f, usage("-n %d: give a number from 0", c.Number)
	}
	if c.WorkItem != "" {
		ref, err := d.ref(g, c.WorkItem)
		if err != nil {
			return f, usage("--work-item: %w", err)
		}
		f.WorkItem = ref.String()
	}
	if _, err := path.Match(c.Type, ""); err != nil {
		return f, usage("--type %q is not a pattern; use something like 'dispatch.*'", c.Type)
	}
	if c.Level != "" {
		level, err := eventlog.ParseLevel(c.Level)
		if err != nil {
			return f, usage("--level: %w", err)
		}
		f.MinLevel = level
	}
	if c.Since != "" {
		since, err := parseSince(c.Since, d.now())
		if err != nil {
			return f, err
		}
		f.Since = since
	}
	return f, nil
}

func parseSince(text string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	var ago duration
	if err := ago.UnmarshalText([]byte(text)); err != nil {
		return time.Time{}, usage("--since %q: write how long ago (2h, 90s) or a time like 2026-07-31T09:00:00Z", text)
	}
	return now.Add(-time.Duration(ago)), nil
}

// showJSON prints the line of the log, still one line. Others than we may have
// written it, so it is escaped like everything else (A8).
func (c *eventsCmd) showJSON(d *deps, e eventlog.Entry) error {
	doc, err := view.JSON(json.RawMessage(e.Raw))
	if err != nil {
		return err
	}
	var line bytes.Buffer
	if err := json.Compact(&line, doc); err != nil {
		return err
	}
	return d.print(line.String() + "\n")
}

func (c *eventsCmd) showText(d *deps, e eventlog.Entry, hosts []string) error {
	names := make([]string, 0, len(e.Fields))
	for name := range e.Fields {
		names = append(names, name)
	}
	slices.Sort(names)
	parts := make([]string, 0, len(names))
	for _, name := range names {
		parts = append(parts, name+"="+fieldText(e.Fields[name]))
	}
	_, err := fmt.Fprintf(d.stdout, "%s %-7s %-24s %s\n",
		e.Time.UTC().Format("2006-01-02T15:04:05Z"), e.Level, escape.Line(e.Name), view.Links(strings.Join(parts, " "), hosts))
	return err
}

func fieldText(v any) string {
	switch v := v.(type) {
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	case string:
		if strings.ContainsAny(v, " \"=") || v == "" {
			return strconv.Quote(escape.Line(v))
		}
		return escape.Line(v)
	default:
		return escape.Line(fmt.Sprint(v))
	}
}

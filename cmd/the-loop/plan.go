package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"theloop/daemon"
	"theloop/escape"
	"theloop/localapi"
	"theloop/lock"
	"theloop/store"
	"theloop/view"
)

type pollPlanCmd struct{ format }

// Help is shown by --help.
func (pollPlanCmd) Help() string {
	return `What the next cycle would do, and why: it looks at the tracker and decides, and does none of it. It asks the tracker as
much as a cycle does.

Example: the-loop poll plan

Exit codes: 0 also when there is nothing to do, 1 when something could not be looked at.`
}

// Run prints the plan, from the poller that runs or from the file.
func (c *pollPlanCmd) Run(ctx context.Context, d *deps, g *Global) error {
	path, err := d.configFile(g)
	if err != nil {
		return err
	}
	root, cfg, err := d.root(g)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, wholeTime)
	defer cancel()
	status, err := lock.Probe(filepath.Join(root, lock.File))
	if err != nil {
		return err
	}
	var doc localapi.Plan
	if status.Holder() == lock.Poller {
		doc, err = planOf(ctx, root, status)
	} else {
		if err := cfg.RequireSources(); err != nil {
			return err // "nothing to do" would be a promise that no start keeps
		}
		doc, err = d.planOffline(ctx, path, root)
	}
	switch {
	case err != nil:
		return err
	case c.json():
		err = d.printJSON(doc)
	default:
		err = d.print(planText(doc, d.hosts(g)))
	}
	if err == nil && len(doc.Errors) > 0 {
		return no
	}
	return err
}

// planOf asks the poller that runs.
func planOf(ctx context.Context, root string, status lock.Status) (localapi.Plan, error) {
	c, err := running(ctx, root, status)
	if err != nil {
		return localapi.Plan{}, err
	}
	return c.Plan(ctx)
}

// planOffline decides on the ledger as it stands, or on an empty one in a folder
// of its own when there is none yet.
func (d *deps) planOffline(ctx context.Context, path, root string) (_ localapi.Plan, err error) {
	at := store.Options{Path: filepath.Join(root, store.File), ReadOnly: true, Writer: release()}
	if _, missing := os.Stat(at.Path); errors.Is(missing, fs.ErrNotExist) {
		dir, err := os.MkdirTemp("", "the-loop-plan-")
		if err != nil {
			return localapi.Plan{}, err
		}
		defer os.RemoveAll(dir)
		at.Path, at.ReadOnly = filepath.Join(dir, store.File), false
	}
	l, err := store.Open(ctx, at)
	if err != nil {
		return localapi.Plan{}, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return daemon.PlanOffline(ctx, daemon.Options{
		Config: path, Version: release(), Exe: d.exe, Cwd: d.cwd, Home: d.home, Env: d.env, Log: d.log(), Out: d.stdout, Now: d.now,
	}, l, root)
}

// planText tells spawns and sends first. Links in it lead to these hosts alone (A8).
func planText(doc localapi.Plan, hosts []string) string {
	var b strings.Builder
	items := slices.Clone(doc.Items)
	slices.SortStableFunc(items, func(a, b localapi.PlanItem) int { return urgency(a) - urgency(b) })
	for _, item := range items {
		b.WriteString(escape.Line(item.Ref) + "  " + view.Links(item.Title, hosts) + "\n")
		for _, step := range item.Steps {
			b.WriteString("  " + view.Links(stepText(step), hosts) + "\n")
		}
	}
	for _, e := range doc.Errors {
		b.WriteString("could not look: " + view.Links(e, hosts) + "\n")
	}
	if len(items) == 0 && len(doc.Errors) == 0 {
		b.WriteString("nothing to do\n")
	}
	b.WriteString(fmt.Sprintf("%s quiet; %s to the ledger; this look took %s\n", view.Count(doc.Quiet, "item", "items"),
		view.Count(doc.Commits, "commit", "commits"), view.Count(doc.Requests, "request", "requests")))
	return b.String()
}

func urgency(item localapi.PlanItem) int {
	for _, step := range item.Steps {
		if step.Kind == "spawn" || step.Kind == "deliver" {
			return 0
		}
	}
	return 1
}

// stepText puts a step into a sentence.
func stepText(s localapi.PlanStep) string {
	comment, by := escape.Line(s.Comment), escape.Line(s.Actor)
	switch s.Kind {
	case "deliver":
		return fmt.Sprintf("would send comment %s of %s (attempt %d)", comment, by, s.Attempt)
	case "spawn":
		if s.Reason == "" {
			return fmt.Sprintf("would start a session (attempt %d): it carries the label and its author is obeyed", s.Attempt)
		}
		return fmt.Sprintf("would start a session (attempt %d): %s by %s", s.Attempt, escape.Line(s.Reason), dash(by))
	case "close":
		return "would close its session: " + escape.Line(s.Reason)
	case "adopt":
		return "would take over the session that no row names"
	case "command":
		return fmt.Sprintf("would obey %q by %s", escape.Line(s.Reason), by)
	case "give-up":
		return fmt.Sprintf("would give up %s after %s", dash(comment), view.Count(s.Attempt, "attempt", "attempts"))
	case "notice":
		return "would say on the item that something was given up"
	case "wait":
		return "waits: " + waitWords(s)
	case "note":
		return noteWords(s)
	}
	if words, ok := outcomeWords[s.Reason]; ok {
		return fmt.Sprintf("comment %s of %s: %s", comment, dash(by), words)
	}
	return fmt.Sprintf("comment %s of %s: refused (%s)", comment, dash(by), escape.Line(s.Reason))
}

func waitWords(s localapi.PlanStep) string {
	if s.Reason == "max-sessions" {
		return "as many sessions run as routing.maxSessions allows"
	}
	return escape.Line(s.Actor) + " has the name of its session and is not ours"
}

func noteWords(s localapi.PlanStep) string {
	switch s.Reason {
	case "first-seen":
		return "is seen for the first time: what was said so far is not sent"
	case "ended":
		return "has ended"
	}
	return "is not started: " + escape.Line(s.Reason)
}

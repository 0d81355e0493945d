package main

import (
	"context"
	"fmt"

	"theloop/escape"
	"theloop/localapi"
	"theloop/view"
)

// orderArgs is what the commands that steer a session have in common.
type orderArgs struct {
	refArg
	Comment bool `help:"Say on the work item, too, what was ordered."`
}

// give carries the command out, through the poller that runs or under the run
// lock.
func (c orderArgs) give(ctx context.Context, d *deps, g *Global, command string) error {
	ref, err := c.parse(d, g)
	if err != nil {
		return err
	}
	return d.withWriter(ctx, g, "sessions "+command, func(ctx context.Context, w writer) error {
		done, err := w.Order(ctx, localapi.Order{Ref: ref, Command: command, Post: c.Comment})
		if err != nil {
			return err
		}
		hosts := d.hosts(g)
		if done.PostError != "" {
			fmt.Fprintf(d.stderr, "the-loop: it could not be said on %s: %s\n", done.Ref, view.Links(done.PostError, hosts))
		}
		return d.print(orderedText(command, done, hosts))
	})
}

// effectWords says what a command did.
var effectWords = map[string]string{
	"spawned": "its session is coming up",
	"resumed": "its session goes on",
	"paused":  "nothing is sent into its session",
	"stopped": "its session is being closed",
	"cleaned": "its session is being closed, and its conversation forgotten",
	"noop":    "nothing had to change",

	"nothing-to-clean": "it has no session",
}

// orderedText tells what was done. Links in it lead to these hosts alone (A8).
func orderedText(command string, done localapi.Ordered, hosts []string) string {
	words := effectWords[done.Effect]
	if words == "" {
		words = done.Effect
	}
	text := fmt.Sprintf("%s: %s recorded; %s\n", escape.Line(done.Ref), command, words)
	if done.Later != "" {
		text += "its tracker does not answer (" + view.Links(done.Later, hosts) + "): what has to come up comes with the next cycle\n"
	}
	return text
}

const orderHelp = `The same as the keyword in a comment of somebody who is obeyed; the ledger keeps that it was given here. It works
while the poller runs and while it does not.

Example: the-loop sessions %s github:octo/repo#15

Exit codes: 0 recorded and done, 1 refused (the reason is said), 2 the command line is wrong.`

type sessionsStartCmd struct{ orderArgs }

// Help is shown by --help.
func (sessionsStartCmd) Help() string { return fmt.Sprintf(orderHelp, "start") }

// Run starts the session.
func (c *sessionsStartCmd) Run(ctx context.Context, d *deps, g *Global) error {
	return c.give(ctx, d, g, "start")
}

type sessionsStopCmd struct{ orderArgs }

// Help is shown by --help.
func (sessionsStopCmd) Help() string { return fmt.Sprintf(orderHelp, "stop") }

// Run closes the session.
func (c *sessionsStopCmd) Run(ctx context.Context, d *deps, g *Global) error {
	return c.give(ctx, d, g, "stop")
}

type sessionsPauseCmd struct{ orderArgs }

// Help is shown by --help.
func (sessionsPauseCmd) Help() string { return fmt.Sprintf(orderHelp, "pause") }

// Run pauses the session.
func (c *sessionsPauseCmd) Run(ctx context.Context, d *deps, g *Global) error {
	return c.give(ctx, d, g, "pause")
}

type sessionsResumeCmd struct{ orderArgs }

// Help is shown by --help.
func (sessionsResumeCmd) Help() string { return fmt.Sprintf(orderHelp, "resume") }

// Run lets the session go on.
func (c *sessionsResumeCmd) Run(ctx context.Context, d *deps, g *Global) error {
	return c.give(ctx, d, g, "resume")
}

type sessionsCleanupCmd struct{ orderArgs }

// Help is shown by --help.
func (sessionsCleanupCmd) Help() string { return fmt.Sprintf(orderHelp, "cleanup") }

// Run closes the session and forgets its conversation.
func (c *sessionsCleanupCmd) Run(ctx context.Context, d *deps, g *Global) error {
	return c.give(ctx, d, g, "cleanup")
}

type sessionsListCmd struct {
	format
	Status string `placeholder:"STATUS" help:"Only those that are active, paused, closed or elsewhere."`
	Lost   bool   `help:"Only those that should be there and are not: after a reboot, say."`
}

// Help is shown by --help.
func (sessionsListCmd) Help() string {
	return `--lost shows the active and paused ones whose agent is not there. What is said next on the item brings an active one back,
with the conversation that it had if the agent can resume one; so does 'sessions start'.

Example: the-loop sessions list --status active

Exit codes: 0 also when there is none, 1 when the ledger cannot be read, or with --lost tmux does not answer; 2 the command
line is wrong.`
}

// Run prints one line for each session.
func (c *sessionsListCmd) Run(ctx context.Context, d *deps, g *Global) error {
	if err := c.check(); err != nil {
		return err
	}
	if c.Lost {
		return c.runLost(ctx, d, g)
	}
	return d.list(ctx, g, c.format, "no sessions\n", func(s localapi.Summary) bool {
		return s.Session != "" && (c.Status == "" || c.Status == s.Session)
	})
}

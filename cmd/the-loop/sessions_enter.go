package main

import (
	"context"
	"fmt"

	"theloop/escape"
	"theloop/localapi"
	"theloop/workitem"
)

type sessionsLinkPRCmd struct {
	Ref      string `arg:"" placeholder:"REF" help:"The work item whose session is to take it: github:octo/repo#15, or a URL; with --work-item, the pull request."`
	Pull     string `arg:"" optional:"" placeholder:"PR" help:"The pull request, in the same form."`
	WorkItem string `placeholder:"REF" help:"The same as REF."`
}

// Help is shown by --help.
func (sessionsLinkPRCmd) Help() string {
	return `What is said on a pull request goes into the session of the issue that GitHub says it closes. Where it says nothing, or
the wrong thing, this says it: from now on, label or not, until the pull request ends. What was said on it since the session
began, and nobody has dealt with, is sent at once. Commands on it are then the item's.

Example: the-loop sessions link-pr github:octo/repo#15 github:octo/repo#21

Exit codes: 0 linked (or it was so already), 1 refused (the reason is said), 2 the command line is wrong.`
}

// refs are the item and the pull request.
func (c *sessionsLinkPRCmd) refs(d *deps, g *Global) (item, pull workitem.Ref, err error) {
	to, what := c.Ref, c.Pull
	if c.WorkItem != "" && c.Pull == "" {
		to, what = c.WorkItem, c.Ref
	} else if c.WorkItem != "" {
		return item, pull, usage("the work item is given twice: %s and --work-item %s", c.Ref, c.WorkItem)
	}
	if what == "" {
		return item, pull, usage("which pull request? give it behind the work item, like github:octo/repo#21")
	}
	if item, err = d.ref(g, to); err == nil {
		pull, err = d.ref(g, what)
	}
	return item, pull, err
}

// Run links them, through the poller that runs or under the run lock.
func (c *sessionsLinkPRCmd) Run(ctx context.Context, d *deps, g *Global) error {
	item, pull, err := c.refs(d, g)
	if err != nil {
		return err
	}
	return d.withWriter(ctx, g, "sessions link-pr", func(ctx context.Context, w writer) error {
		done, err := w.Link(ctx, localapi.Link{Ref: item, Pull: pull})
		if err != nil {
			return err
		}
		text := "what is said on it goes into the session of "
		if done.Already {
			text = "it was linked already; what is said on it goes into the session of "
		}
		return d.print(fmt.Sprintf("%s: %s%s\n", escape.Line(done.Pull), text, escape.Line(done.Ref)))
	})
}

type sessionsRegisterCmd struct {
	refArg
	Harness    string `required:"" placeholder:"NAME" help:"Which agent it is: claude, cursor, or one of routing.harnesses."`
	SessionID  string `required:"" name:"session-id" placeholder:"ID" help:"The id of its conversation, a UUID."`
	Cwd        string `placeholder:"DIR" help:"The folder that it runs in (routing.spawnWorkdir)."`
	TmuxTarget string `placeholder:"NAME" help:"The tmux session that it lives in; without, what is said next resumes it."`
}

// Help is shown by --help.
func (sessionsRegisterCmd) Help() string {
	return `Makes a conversation that you began yourself the session of a work item: what is said there goes into it from now on. A
conversation that is not running is resumed by what is said next. One that lives in a tmux session is taken over, when the
command that tmux started in it names its id; 'sessions adopt' takes over whatever has the session's name. An item that was
stopped or paused is started again.

Example: the-loop sessions register github:octo/repo#15 --harness claude --session-id 1b4e28ba-2fa1-41d2-883f-0016d3cca427

Exit codes: 0 registered, 1 refused (the reason is said), 2 the command line is wrong.`
}

// Run registers it, through the poller that runs or under the run lock.
func (c *sessionsRegisterCmd) Run(ctx context.Context, d *deps, g *Global) error {
	ref, err := c.parse(d, g)
	if err != nil {
		return err
	}
	r := localapi.Registration{Ref: ref, Harness: c.Harness, HarnessSessionID: c.SessionID, TmuxTarget: c.TmuxTarget}
	if c.Cwd != "" {
		if r.Cwd, err = d.resolve(c.Cwd); err != nil {
			return usage("%w", err)
		}
	}
	if err := r.Check(); err != nil {
		return usage("%w", err)
	}
	return d.withWriter(ctx, g, "sessions register", func(ctx context.Context, w writer) error {
		done, err := w.Register(ctx, r)
		if err != nil {
			return err
		}
		next := "what is said next resumes it"
		if done.Live {
			next = "what is said goes into tmux session " + r.TmuxTarget
		}
		return d.print(fmt.Sprintf("%s: the conversation %s is its session now; %s\n", escape.Line(done.Ref), r.HarnessSessionID, next))
	})
}

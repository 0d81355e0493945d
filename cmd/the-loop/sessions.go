package main

import (
	"context"
	"fmt"
	"os"

	"theloop/escape"
	"theloop/localapi"
	"theloop/session/tmux"
)

type sessionsGroup struct {
	List    sessionsListCmd    `cmd:"" help:"Which work items have a session."`
	Start   sessionsStartCmd   `cmd:"" help:"Start a work item's session; it needs no label."`
	Stop    sessionsStopCmd    `cmd:"" help:"Close a session; its terminal stays readable."`
	Pause   sessionsPauseCmd   `cmd:"" help:"Send nothing into a session for now."`
	Resume  sessionsResumeCmd  `cmd:"" help:"Send again what is said from now on."`
	Cleanup sessionsCleanupCmd `cmd:"" help:"Close a session and forget its conversation."`
	Attach  sessionsAttachCmd  `cmd:"" help:"Look at a session, and type into it."`
	Adopt   sessionsAdoptCmd   `cmd:"" help:"Take over a tmux session that has the name of a work item's."`

	Register sessionsRegisterCmd `cmd:"" help:"Make a conversation of your own a work item's session."`
	LinkPR   sessionsLinkPRCmd   `cmd:"" name:"link-pr" help:"Say whose session a pull request belongs to."`
}

type sessionsAttachCmd struct {
	refArg
	ReadOnly bool `help:"Look only; what is typed goes nowhere."`
}

// Help is shown by --help.
func (sessionsAttachCmd) Help() string {
	return `Hands this terminal over to tmux; leave again with Ctrl-b d. The agent goes on. A session that is closed can be looked at
with --read-only, as long as its terminal was kept.

Example: the-loop sessions attach github:octo/repo#15 --read-only

Exit codes: those of tmux; 1 when there is no such session, 2 when the command line is wrong.`
}

// Run becomes tmux.
func (c *sessionsAttachCmd) Run(ctx context.Context, d *deps, g *Global) error {
	ref, err := c.parse(d, g)
	if err != nil {
		return err
	}
	var doc localapi.Item
	var instance string
	err = d.withLedger(ctx, g, func(ctx context.Context, r reader) error {
		if doc, err = r.Item(ctx, ref); err == nil {
			instance, err = r.Marks(ctx)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := attachable(doc, c.ReadOnly); err != nil {
		return err
	}
	server, err := d.tmux(g)
	if err != nil {
		return err
	}
	look, err := find(ctx, server, tmux.OwnerMark(instance, ref.Key()), doc)
	if err != nil {
		return err
	}
	return server.Attach(look, c.ReadOnly, os.Environ())
}

// attachable says why an item's session cannot be attached to.
func attachable(doc localapi.Item, readOnly bool) error {
	switch s := doc.Session; {
	case s == nil || s.TmuxTarget == "":
		return fmt.Errorf("%s has no session; a comment of somebody who may give input, saying the start keyword, brings one up, and so does 'the-loop sessions start %s'", doc.Ref, doc.Ref)
	case s.Status == localapi.Elsewhere:
		return fmt.Errorf("the session of %s is on another machine", doc.Ref)
	case s.Status == "closed" && !readOnly:
		return fmt.Errorf("the session of %s is closed; look at what is left of it with 'the-loop sessions attach %s --read-only'", doc.Ref, doc.Ref)
	}
	return nil
}

// tmux is the server that sessions run on.
func (d *deps) tmux(g *Global) (*tmux.Server, error) {
	cfg, _, err := d.load(g)
	if err != nil {
		return nil, err
	}
	return tmux.New(tmux.Options{Socket: cfg.Routing.Tmux.SocketName, Instance: "attach", Exe: d.exe})
}

// find looks for the pane of an item's session: one with its mark, under the
// name that the ledger has if there are several; else the session of that name.
func find(ctx context.Context, server *tmux.Server, owner string, doc localapi.Item) (tmux.Look, error) {
	all, err := server.LookAll(ctx)
	if err != nil {
		return tmux.Look{}, err
	}
	var found tmux.Look
	for _, l := range all {
		ours := l.Owner == owner || l.Owner == tmux.LeftMark(owner)
		if ours && (found.State != tmux.Live || l.Name == doc.Session.TmuxTarget) {
			found = l
		}
	}
	if found.PaneID == "" { // of an earlier release, and not taken over yet
		if found = server.Look(ctx, tmux.Target{Name: doc.Session.TmuxTarget}); found.Owner != "" {
			return found, fmt.Errorf("tmux session %s is another state root's, or another work item's: it is marked as %s", escape.Line(doc.Session.TmuxTarget), escape.Line(found.Owner))
		}
	}
	switch found.State {
	case tmux.Silent:
		return found, found.Err
	case tmux.Absent:
		return found, fmt.Errorf("the session of %s (%s) is not there any more: its row says %s; what is said next brings it back, unless it is closed",
			doc.Ref, escape.Line(doc.Session.TmuxTarget), doc.Session.Status)
	}
	return found, nil
}

type sessionsAdoptCmd struct {
	refArg
}

// Help is shown by --help.
func (sessionsAdoptCmd) Help() string {
	return `What has the name of a work item's session and is not the-loop's is never typed into. This takes it over: whatever runs in
it gets what is said on the item from now on. A session of another state root is refused.

Example: the-loop sessions adopt github:octo/repo#15

Exit codes: 0 taken over (or ours already), 1 not: there is none, or it is another's; 2 the command line is wrong.`
}

// Run takes the session over, through the poller that runs or under the run lock.
func (c *sessionsAdoptCmd) Run(ctx context.Context, d *deps, g *Global) error {
	ref, err := c.parse(d, g)
	if err != nil {
		return err
	}
	return d.withWriter(ctx, g, "sessions adopt", func(ctx context.Context, w writer) error {
		done, err := w.Adopt(ctx, ref)
		if err != nil {
			return err
		}
		return d.print(fmt.Sprintf("%s: tmux session %s is its session now\n", done.Ref, escape.Line(done.TmuxTarget)))
	})
}

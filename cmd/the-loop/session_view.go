package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"theloop/escape"
	"theloop/session/tmux"
)

// viewCmd is what the web terminal shows: one session, or which there are.
type viewCmd struct {
	Instance string `required:"" help:"The ledger whose sessions are shown."`
	Socket   string `help:"The tmux server."`
	Writable bool   `help:"Let those who look type."`
	Name     string `arg:"" optional:"" help:"The session, as the address names it."`
}

// Help is shown by --help.
func (viewCmd) Help() string {
	return `Example: none; the web terminal runs it for each browser.

Exit codes: those of tmux; 1 when there is no session of that name.`
}

// viewAgain is how often the list of sessions is drawn anew.
const viewAgain = 2 * time.Second

// Run becomes tmux when the session is clear, and shows the list until it is.
func (c *viewCmd) Run(ctx context.Context, d *deps) error {
	server, err := tmux.New(tmux.Options{Socket: c.Socket, Instance: c.Instance, Exe: d.exe})
	if err != nil {
		return err
	}
	// The web terminal hangs up when a browser goes. Under nohup(1) that would be ignored, here as in the poller.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP)
	defer stop()
	shown := ""
	for {
		all, err := c.sessions(ctx, server)
		if err != nil {
			return err
		}
		if l, err := c.choose(all); err != nil || l != nil {
			if err == nil {
				err = server.Attach(*l, !c.Writable, os.Environ())
			}
			return err
		}
		if text := listing(all); text != shown {
			if err := d.print("\x1b[H\x1b[2J" + text); err != nil {
				return err // nobody looks any more
			}
			shown = text
		}
		if !pause(ctx, viewAgain) {
			return nil
		}
	}
}

// sessions are those of the ledger, by name.
func (c *viewCmd) sessions(ctx context.Context, server *tmux.Server) ([]tmux.Look, error) {
	all, err := server.LookAll(ctx)
	return slices.DeleteFunc(all, func(l tmux.Look) bool { return !strings.HasPrefix(l.Owner, c.Instance+"-") }), err
}

// choose is the session that is named, or the only one; nil when it is to be
// chosen. A name is compared and never used.
func (c *viewCmd) choose(all []tmux.Look) (*tmux.Look, error) {
	if c.Name == "" {
		if len(all) == 1 {
			return &all[0], nil
		}
		return nil, nil
	}
	at := slices.IndexFunc(all, func(l tmux.Look) bool { return l.Name == c.Name })
	if at < 0 {
		return nil, fmt.Errorf("there is no session %q", c.Name)
	}
	return &all[at], nil
}

func listing(all []tmux.Look) string {
	if len(all) == 0 {
		return "no sessions\r\n"
	}
	var b strings.Builder
	b.WriteString("Sessions; add one of these to the address:\r\n\r\n")
	for _, l := range all {
		fmt.Fprintf(&b, "  ?arg=%s   %s\r\n", escape.Line(l.Name), l.State)
	}
	return b.String()
}

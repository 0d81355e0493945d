package main

import (
	"context"

	"theloop/session/tmux"
)

type execCmd struct {
	Order string `arg:""`
}

// Help is shown by --help.
func (execCmd) Help() string {
	return "Example: none; the poller starts it in the panes it makes.\n\nExit codes: 1 when the harness cannot be run."
}

// Run becomes the harness of a session (D8).
func (c *execCmd) Run(ctx context.Context) error { return tmux.Exec(ctx, c.Order) }

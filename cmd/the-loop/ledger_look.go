package main

import (
	"context"

	"theloop/store"
)

type lookCmd struct {
	Path string `arg:""`
}

// Help is shown by --help.
func (lookCmd) Help() string {
	return "Example: none; a start after an unclean stop runs it.\n\nExit codes: 0 also when something is wrong, which the answer says; 1 when it could not be written."
}

// Run reports what is wrong with a ledger: the child's half of a check that a page
// fault may end.
func (c *lookCmd) Run(ctx context.Context, d *deps) error {
	return store.ReportCheck(ctx, c.Path, d.stdout)
}

package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"theloop/heartbeat"
	"theloop/localapi"
	"theloop/lock"
	"theloop/view"
)

// kickTime is how long a kick waits: for the cycle that is under way, and then
// for its own.
const kickTime = 10 * time.Minute

type pollKickCmd struct{ format }

// Help is shown by --help.
func (pollKickCmd) Help() string {
	return `Asks the poller that runs for a cycle now instead of at the end of its interval, waits for it and says what it did.

Example: the-loop poll kick

Exit codes: 0 the cycle had no errors; 1 it had some (they are said), or no poller runs.`
}

// Run kicks the poller.
func (c *pollKickCmd) Run(ctx context.Context, d *deps, g *Global) error {
	root, _, err := d.root(g)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, kickTime)
	defer cancel()
	done, err := kick(ctx, root)
	switch {
	case err != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("the cycle has not ended within %s; it goes on (see 'the-loop poll status')", view.Duration(kickTime))
	case err != nil:
		return err
	case c.json():
		err = d.printJSON(done)
	default:
		err = d.print("cycle: " + cycleWords(counts(done.Cycle)) + "\n")
	}
	if err != nil {
		return err
	}
	for _, problem := range done.Problems {
		fmt.Fprintln(d.stderr, "the-loop:", view.Links(problem, d.hosts(g)))
	}
	if done.Errors > 0 {
		return no
	}
	return nil
}

// kick asks the poller of a state root for a cycle.
func kick(ctx context.Context, root string) (localapi.Kicked, error) {
	pidfile := filepath.Join(root, lock.File)
	status, err := lock.Probe(pidfile)
	if err == nil {
		err = answersKicks(status, pidfile)
	}
	if err != nil {
		return localapi.Kicked{}, err
	}
	c, err := running(ctx, root, status)
	if err != nil {
		return localapi.Kicked{}, err
	}
	return c.Kick(ctx)
}

// answersKicks says why the holder of the lock, if there is one, cannot be asked.
func answersKicks(status lock.Status, pidfile string) error {
	switch status.Holder() {
	case lock.Poller:
		return nil
	case lock.Foreign:
		return fmt.Errorf("%s is held by another program (pid %d: %s), which cannot be asked for a cycle",
			pidfile, status.PID, lock.HolderCommandLine(status.PID))
	case lock.Offline:
		return fmt.Errorf("no poller is running: 'the-loop %s' (pid %d) is writing the ledger", status.Command, status.PID)
	}
	return errors.New("no poller is running; start it with 'the-loop poll start'")
}

// counts is a cycle in the heartbeat's words.
func counts(c localapi.Cycle) heartbeat.Cycle {
	return heartbeat.Cycle{
		ItemsSeen: c.ItemsSeen, Spawns: c.Spawns, CommentsForwarded: c.CommentsForwarded, Closures: c.Closures,
		Failures: c.Failures, Errors: c.Errors, Interrupted: c.Interrupted,
	}
}

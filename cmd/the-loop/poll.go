package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"theloop/lock"
	"theloop/view"
)

type pollGroup struct {
	Plan   pollPlanCmd   `cmd:"" help:"What the next cycle would do, and why."`
	Start  pollStartCmd  `cmd:"" help:"Run the poller."`
	Stop   pollStopCmd   `cmd:"" help:"Stop the poller and wait until it is gone."`
	Kick   pollKickCmd   `cmd:"" help:"Ask the poller that runs for a cycle at once."`
	Status pollStatusCmd `cmd:"" help:"Whether the poller runs, and how it goes."`
}

type pollStopCmd struct {
	Timeout duration `default:"30s" help:"How long to wait until it is gone."`
	Pidfile string   `placeholder:"FILE" help:"The pidfile, when there is no configuration to find it by."`
	Force   bool     `help:"Signal the holder of the lock although it is another program."`
}

// Help is shown by --help.
func (pollStopCmd) Help() string {
	return `Asks the poller to stop and waits until its lock is free. Nothing is signalled unless the lock proves a live poller.

Example: the-loop poll stop && the-loop poll start

Exit codes: 0 it has stopped, 1 nothing to stop, not stopped in time, or the holder is another program.`
}

// Run stops the poller (T1 to T4).
func (c *pollStopCmd) Run(ctx context.Context, d *deps, g *Global) error {
	path, err := d.pidfile(c.Pidfile, g)
	if err != nil {
		return err
	}
	status, err := lock.Probe(path)
	if err != nil {
		return err
	}
	switch {
	case !status.Exists:
		return fmt.Errorf("no pidfile at %s; is the poller running?", path)
	case !status.Held:
		return c.stale(ctx, path)
	case status.PID <= 0:
		return fmt.Errorf("pidfile %s is corrupt: it is locked and names no process; find the holder with 'fuser %s'", path, path)
	}
	if err := c.maySignal(path, status); err != nil {
		return err
	}
	return c.stop(ctx, d, path, status.PID)
}

// stale removes a pidfile that nobody holds (T3).
func (c *pollStopCmd) stale(ctx context.Context, path string) error {
	pid, err := lock.RemoveStale(ctx, path)
	var held *lock.HeldError
	switch {
	case errors.As(err, &held):
		return fmt.Errorf("a poller is just starting on %s (pid %d); try again", path, held.PID)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no pidfile at %s; is the poller running?", path)
	case err != nil:
		return err
	case pid > 0:
		return fmt.Errorf("the poller is not running: removed a stale pidfile %s (pid %d)", path, pid)
	}
	return fmt.Errorf("the poller is not running: removed a stale pidfile %s", path)
}

// maySignal says whether the holder is ours to stop (T4, L11).
func (c *pollStopCmd) maySignal(path string, status lock.Status) error {
	switch kind := status.Holder(); {
	case kind == lock.Offline:
		return fmt.Errorf("the poller is not running: 'the-loop %s' (pid %d) holds %s while it writes the ledger", status.Command, status.PID, path)
	case kind == lock.Foreign && !c.Force:
		return fmt.Errorf("%s is held by another program (pid %d: %s): not signalled; stop it by its own means, or use --force",
			path, status.PID, lock.HolderCommandLine(status.PID))
	}
	if open, known := lock.HasOpen(path, status.PID); known && !open {
		return fmt.Errorf("%s is locked, and not by the process it names (pid %d; another pid namespace?): not signalled; find the holder with 'fuser %s'",
			path, status.PID, path)
	}
	return nil
}

func (c *pollStopCmd) stop(ctx context.Context, d *deps, path string, pid int) error {
	if err := signalHolder(path, pid, syscall.SIGTERM); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(c.Timeout))
	defer cancel()
	if err := lock.WaitFree(ctx, path, pid); err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("poll process (pid %d) did not stop within %s; it still holds %s (see 'the-loop poll status')",
				pid, view.Duration(time.Duration(c.Timeout)), path)
		}
		return err
	}
	return d.print(fmt.Sprintf("poll process (pid %d) stopped\n", pid))
}

// signalHolder signals the process that holds the lock. It is opened first and
// the lock asked once more then: should the pid have been given to somebody else
// in between, nobody is signalled (T1).
func signalHolder(path string, pid int, sig os.Signal) error {
	process, err := os.FindProcess(pid)
	if err != nil {
		return fmt.Errorf("signal the poller (pid %d): %w", pid, err)
	}
	defer func() { _ = process.Release() }()
	status, err := lock.Probe(path)
	if err != nil {
		return err
	}
	if !status.Held || status.PID != pid {
		return nil // it has let go by itself
	}
	if err := process.Signal(sig); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("signal the poller (pid %d): %w", pid, err)
	}
	return nil
}

// pidfile is the one that a flag names, or the configuration's.
func (d *deps) pidfile(flag string, g *Global) (string, error) {
	if flag != "" {
		return d.resolve(flag)
	}
	root, _, err := d.root(g)
	if err != nil { // a broken file must not keep anybody from stopping what runs
		return "", fmt.Errorf("%w; to do without the configuration, name the pidfile with --pidfile", err)
	}
	return filepath.Join(root, lock.File), nil
}

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"theloop/daemon"
	"theloop/lock"
	"theloop/view"
)

type pollGroup struct {
	Start  pollStartCmd  `cmd:"" help:"Run the poller."`
	Stop   pollStopCmd   `cmd:"" help:"Stop the poller and wait until it is gone."`
	Status pollStatusCmd `cmd:"" help:"Whether the poller runs, and how it goes."`
}

type pollStartCmd struct {
	Once          bool      `help:"One cycle, its queues worked empty, then exit."`
	Interval      *duration `placeholder:"DURATION" help:"Between the starts of two cycles; wins over the file."`
	MaxRetries    *int      `placeholder:"N" help:"Delivery attempts per comment; wins over the file."`
	BesideWebhook bool      `help:"Start although the webhook receiver of an earlier release runs on the same state."`
}

// Help is shown by --help.
func (pollStartCmd) Help() string {
	return `Runs in the foreground until it is told to stop (Ctrl-C, SIGTERM, 'the-loop poll stop'). One poller at a time works on a
state root; --once takes the same lock.

Example: the-loop poll start --once -c cli-config.yaml

Exit codes: 0 stopped, or a --once without errors; 1 not started (the reason is said), or a --once with errors.`
}

// Run runs the poller.
func (c *pollStartCmd) Run(ctx context.Context, d *deps, g *Global) error {
	o := daemon.Options{
		Once: c.Once, BesideWebhook: c.BesideWebhook, Version: release(), Exe: d.exe, Cwd: d.cwd, Home: d.home,
		Env: d.env, Log: d.log(), Out: d.stdout, Now: d.now,
	}
	if err := c.override(&o); err != nil {
		return err
	}
	var err error
	if o.Config, err = d.configFile(g); err != nil {
		return err
	}
	ctx, done := stopSignals(ctx)
	defer done()
	clean, err := daemon.Run(ctx, o)
	var held *lock.HeldError
	if errors.As(err, &held) {
		return alreadyRunning(held)
	}
	if err == nil && !clean {
		return no
	}
	return err
}

// override takes the flags that win over the file. A zero would pass for one
// that was not given, and is no use either.
func (c *pollStartCmd) override(o *daemon.Options) error {
	if c.Interval != nil {
		if *c.Interval <= 0 {
			return usage("--interval 0: give a length of time above 0, such as 30s")
		}
		o.Interval = time.Duration(*c.Interval)
	}
	if c.MaxRetries != nil {
		if *c.MaxRetries < 1 {
			return usage("--max-retries %d: give a number from 1", *c.MaxRetries)
		}
		o.MaxRetries = *c.MaxRetries
	}
	return nil
}

// alreadyRunning is the refusal of a second poller (L1), or beside a command
// that writes the ledger (L11).
func alreadyRunning(held *lock.HeldError) error {
	pid := "unknown"
	if held.PID > 0 {
		pid = fmt.Sprint(held.PID)
	}
	if held.Command != "" && held.Command != daemon.LockName {
		return fmt.Errorf("'the-loop %s' (pid %s) is writing the ledger (pidfile %s): not starting beside it; try again when it is done",
			held.Command, pid, held.Path)
	}
	return fmt.Errorf("another poller is already running (pid %s, pidfile %s): not starting a second one against the same state; "+
		"stop it first with 'the-loop poll stop'", pid, held.Path)
}

// stopSignals returns a context that ends with the first SIGINT or SIGTERM. A
// second one ends the process at once: the kernel frees the lock (C4).
func stopSignals(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-done:
			return
		}
		select {
		case <-signals:
			exitNow()
		case <-done:
		}
	}()
	return ctx, func() { signal.Stop(signals); close(done); cancel() }
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
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("signal the poller (pid %d): %w", pid, err)
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

// pidfile is the one that a flag names, or the configuration's.
func (d *deps) pidfile(flag string, g *Global) (string, error) {
	if flag != "" {
		return d.resolve(flag)
	}
	root, _, err := d.root(g)
	if err != nil {
		return "", err
	}
	return filepath.Join(root, lock.File), nil
}

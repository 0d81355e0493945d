package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"theloop/daemon"
	"theloop/escape"
	"theloop/lock"
	"theloop/migrate"
)

type pollStartCmd struct {
	Once          bool      `help:"One cycle, its queues worked empty, then exit."`
	Daemon        bool      `negatable:"foreground" help:"In the background, or (the default) in the foreground; the last of the two counts."`
	Logfile       string    `placeholder:"FILE" help:"Where the output of --daemon goes (else logs/poller.out in the state root); it is appended."`
	Interval      *duration `placeholder:"DURATION" help:"Between the starts of two cycles; wins over the file."`
	MaxRetries    *int      `placeholder:"N" help:"Delivery attempts per comment; wins over the file."`
	Fresh         bool      `help:"Start on an empty ledger although there are records of earlier releases, or there was a ledger; nothing is removed."`
	BesideWebhook bool      `help:"Start although the webhook receiver of an earlier release runs on the same state."`
}

// Help is shown by --help.
func (pollStartCmd) Help() string {
	return `Runs until it is told to stop (Ctrl-C, SIGTERM, 'the-loop poll stop'). One poller at a time works on a state root;
--once takes the same lock. With --daemon the command returns when the poller in the background holds the lock and is ready.

Example: the-loop poll start --daemon -c cli-config.yaml

Exit codes: 0 stopped, ready in the background, or a --once without errors; 1 not started (the reason is said), or a --once
with errors; 2 the command line is wrong.`
}

// Run runs the poller.
func (c *pollStartCmd) Run(ctx context.Context, d *deps, g *Global) error {
	if c.Daemon && c.Once {
		return usage("--once runs one cycle and ends: it has nothing to do in the background; leave --daemon out")
	}
	handshake := daemon.TakeHandshake()
	err := c.run(ctx, d, g, handshake)
	if err != nil {
		handshake.Failed(err)
	}
	return err
}

func (c *pollStartCmd) run(ctx context.Context, d *deps, g *Global, handshake *daemon.Handshake) error {
	o := daemon.Options{
		Once: c.Once, BesideWebhook: c.BesideWebhook, Fresh: c.Fresh, Earlier: d.earlierRecords(g), Detached: handshake != nil, Ready: handshake.Ready,
		Version: release(), Exe: d.exe, Cwd: d.cwd, Home: d.home, Env: d.env, Log: d.log(), Out: d.stdout, Now: d.now,
		Failpoint: failpoint(d.env),
	}
	if err := c.override(&o); err != nil {
		return err
	}
	if err := c.paths(d, g, &o); err != nil {
		return err
	}
	ctx, done := stopSignals(ctx)
	defer done()
	if c.Daemon {
		return c.detach(ctx, d, g, o)
	}
	if c.Logfile != "" && handshake == nil {
		d.log().Warn("--logfile is for --daemon; the output stays here")
	}
	clean, err := daemon.Run(ctx, o)
	switch {
	case err != nil:
		return refused(err)
	case !clean:
		return no
	}
	return nil
}

// paths finds the files that a poller is started with.
func (c *pollStartCmd) paths(d *deps, g *Global, o *daemon.Options) (err error) {
	if o.Config, err = d.configFile(g); err != nil {
		return err
	}
	if c.Logfile != "" {
		o.Logfile, err = d.resolve(c.Logfile)
	}
	return err
}

// earlierRecords finds the records of earlier releases once a start asks.
func (d *deps) earlierRecords(g *Global) daemon.Earlier {
	return daemon.Earlier{
		Files: func() ([]string, error) {
			at, err := d.earlier(g, "")
			if err != nil {
				return nil, err
			}
			return migrate.Files(at.places)
		},
		Newer: func(since time.Time) ([]string, error) {
			at, err := d.earlier(g, "")
			if err != nil {
				return nil, err
			}
			return migrate.Newer(at.places, since)
		},
	}
}

// detach starts the poller in the background and returns when it is ready.
func (c *pollStartCmd) detach(ctx context.Context, d *deps, g *Global, o daemon.Options) error {
	started, err := daemon.Detach(ctx, o, c.again(g, o))
	if err != nil {
		return refused(err)
	}
	return d.print(fmt.Sprintf("poller started (pid %d); logging to %s\n", started.PID, escape.Line(started.Logfile)))
}

// again is the command line of the poller in the background. Paths are passed on as
// they were given, to be resolved once: the working directory is the same, and a $ in
// its name is no variable.
func (c *pollStartCmd) again(g *Global, o daemon.Options) []string {
	args := []string{"poll", "start", "--foreground"}
	if g.Config != "" {
		args = append(args, "--config="+g.Config)
	}
	if c.Logfile != "" {
		args = append(args, "--logfile="+c.Logfile)
	}
	if o.Interval > 0 {
		args = append(args, "--interval="+o.Interval.String())
	}
	if o.MaxRetries > 0 {
		args = append(args, "--max-retries="+strconv.Itoa(o.MaxRetries))
	}
	if o.BesideWebhook {
		args = append(args, "--beside-webhook")
	}
	if o.Fresh {
		args = append(args, "--fresh")
	}
	return args
}

// refused puts the refusal of a held lock into a person's words.
func refused(err error) error {
	var held *lock.HeldError
	if errors.As(err, &held) {
		return alreadyRunning(held)
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

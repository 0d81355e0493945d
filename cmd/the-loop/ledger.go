package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"time"

	"theloop/daemon"
	"theloop/localapi"
	"theloop/lock"
	"theloop/store"
	"theloop/view"
	"theloop/workitem"
)

type ledgerGroup struct {
	List    ledgerListCmd    `cmd:"" help:"Every work item in the ledger."`
	Inspect ledgerInspectCmd `cmd:"" help:"Everything about one work item."`
	Why     ledgerWhyCmd     `cmd:"" help:"What was seen, decided and tried, and what happens next."`
	Check   ledgerCheckCmd   `cmd:"" help:"Whether the ledger is sound."`
	Backup  ledgerBackupCmd  `cmd:"" help:"A consistent copy, also while the poller runs."`
	Compact ledgerCompactCmd `cmd:"" help:"Give back what the file does not need; the poller must be stopped."`
	Forget  ledgerForgetCmd  `cmd:"" help:"Forget work items."`
}

// reader answers what the ledger commands ask: the poller that runs, or the
// file itself.
type reader interface {
	Item(context.Context, workitem.Ref) (localapi.Item, error)
	Marks(context.Context) (instance string, err error)
	Items(context.Context, func(localapi.Summary) error) error
	Cycles(ctx context.Context, n int) ([]localapi.Cycle, error)
	Check(context.Context) ([]string, error)
	Backup(context.Context, io.Writer) error
}

// socketPatience is how long a poller that holds the lock has to make its
// socket: it may be just starting, or just stopping.
const socketPatience = 2 * time.Second

// answerTime is when a command gives up whatever hangs.
const answerTime = 30 * time.Second

// wholeTime is the same for what reads or copies the whole ledger.
const wholeTime = 10 * time.Minute

// withLedger calls f with somebody who can answer: the process that holds the
// run lock owns the ledger, so it is asked; when nobody does, the file is
// opened read-only.
func (d *deps) withLedger(ctx context.Context, g *Global, f func(context.Context, reader) error) error {
	return d.withLedgerFor(ctx, g, answerTime, f)
}

// withLedgerFor is withLedger with another limit.
func (d *deps) withLedgerFor(ctx context.Context, g *Global, limit time.Duration, f func(context.Context, reader) error) error {
	root, _, err := d.root(g)
	if err != nil {
		return err
	}
	return d.withLedgerAt(ctx, root, limit, f)
}

// withLedgerAt is withLedgerFor for a state root that is known.
func (d *deps) withLedgerAt(ctx context.Context, root string, limit time.Duration, f func(context.Context, reader) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	pidfile := filepath.Join(root, lock.File)
	path := filepath.Join(root, store.File)
	for give := time.Now().Add(socketPatience); ; {
		status, err := lock.Probe(pidfile)
		if err != nil {
			return err
		}
		if status.Held {
			err = fromPoller(ctx, root, limit, f)
		} else {
			err = d.fromFile(ctx, path, f)
		}
		var inUse *store.InUseError
		again := errors.Is(err, localapi.ErrNoAnswer) || errors.As(err, &inUse)
		switch {
		case !again:
			return err
		case time.Now().After(give) && status.Held:
			return fmt.Errorf("the ledger %s is in use by pid %d (%s), which does not answer on %s; try again, or look at 'the-loop poll status'; "+
				"a socket that was removed is made again by stopping and starting the poller: %w",
				path, status.PID, status.Command, localapi.SocketPath(root), err)
		case time.Now().After(give):
			return err
		}
		if !pause(ctx, socketPatience/20) {
			return err
		}
	}
}

// fromPoller asks the holder of the lock. What may take long is asked of one that
// has answered.
func fromPoller(ctx context.Context, root string, limit time.Duration, f func(context.Context, reader) error) error {
	c := localapi.NewClient(root)
	if limit > answerTime {
		var err error
		if c, err = awake(ctx, root); err != nil {
			return err
		}
	}
	return f(ctx, c)
}

func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func (d *deps) fromFile(ctx context.Context, path string, f func(context.Context, reader) error) error {
	l, err := store.Open(ctx, store.Options{Path: path, ReadOnly: true, Writer: release()})
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no ledger at %s yet; 'the-loop poll start' makes it", path)
	}
	if err != nil {
		return err
	}
	defer l.Close()
	return f(ctx, daemon.Reader(l))
}

type ledgerListCmd struct {
	format
	Pending bool `help:"Only items with comments still to be delivered."`
	GaveUp  bool `help:"Only items with comments, or the start of a session, that were given up."`
}

// Help is shown by --help.
func (ledgerListCmd) Help() string {
	return `Example: the-loop ledger list --pending

Exit codes: 0 also for an empty ledger, 1 when it cannot be read.`
}

// Run prints one line for each work item.
func (c *ledgerListCmd) Run(ctx context.Context, d *deps, g *Global) error {
	return d.list(ctx, g, c.format, "no work items\n", func(s localapi.Summary) bool {
		return (!c.Pending || s.Pending > 0) && (!c.GaveUp || s.GaveUp > 0 || s.SpawnGaveUp)
	})
}

func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

func bad(yes bool) view.Tone {
	if yes {
		return view.Bad
	}
	return view.Plain
}

type ledgerInspectCmd struct {
	refArg
	format
}

// Help is shown by --help.
func (ledgerInspectCmd) Help() string {
	return `Example: the-loop ledger inspect github:octo/repo#15

Exit codes: 0 found, 1 not in the ledger (refs that look like it are named).`
}

// Run prints everything about one work item.
func (c *ledgerInspectCmd) Run(ctx context.Context, d *deps, g *Global) error {
	ref, err := c.parse(d, g)
	if err != nil {
		return err
	}
	var doc localapi.Item
	err = d.withLedger(ctx, g, func(ctx context.Context, r reader) error {
		doc, err = r.Item(ctx, ref)
		return err
	})
	switch {
	case err != nil:
		return err
	case c.json():
		return d.printJSON(doc)
	}
	return d.print(inspectText(doc, inspectView{now: d.now(), width: d.width(), style: d.style(), hosts: d.hosts(g)}))
}

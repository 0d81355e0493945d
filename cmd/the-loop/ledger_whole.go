package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"theloop/daemon"
	"theloop/escape"
	"theloop/localapi"
	"theloop/lock"
	"theloop/store"
	"theloop/view"
	"theloop/workitem"
)

// The commands about the whole ledger.

type ledgerCheckCmd struct{ format }

// Help is shown by --help.
func (ledgerCheckCmd) Help() string {
	return `Reads every page and every row and holds them against each other. Nothing is changed.

Example: the-loop ledger check

Exit codes: 0 nothing is wrong, 1 something is, or the ledger cannot be read.`
}

// Run prints what is wrong with the ledger.
func (c *ledgerCheckCmd) Run(ctx context.Context, d *deps, g *Global) error {
	var faults []string
	err := d.withLedgerFor(ctx, g, wholeTime, func(ctx context.Context, r reader) (err error) {
		faults, err = r.Check(ctx)
		return err
	})
	if err != nil {
		return checkRefused(err)
	}
	if c.json() {
		err = d.printJSON(struct {
			Good   bool     `json:"good"`
			Faults []string `json:"faults"`
		}{len(faults) == 0, append([]string{}, faults...)})
	} else {
		err = d.print(checkText(faults))
	}
	if err == nil && len(faults) > 0 {
		return no
	}
	return err
}

// checkRefused is the end of the way that "run ledger check" points out.
func checkRefused(err error) error {
	var damaged *store.DamagedError
	if !errors.As(err, &damaged) || damaged.Misplaced {
		return err
	}
	return fmt.Errorf("the ledger %s %s; nothing was changed: keep the file, and put a copy that 'the-loop ledger backup' made in its place, "+
		"or move it away and begin anew with 'the-loop poll start --fresh'", damaged.Path, damaged.Reason)
}

func checkText(faults []string) string {
	if len(faults) == 0 {
		return "the ledger is sound\n"
	}
	var b strings.Builder
	for _, f := range faults {
		b.WriteString(escape.Line(f) + "\n")
	}
	b.WriteString(view.Count(len(faults), "fault", "faults") + "; nothing was changed: stop the poller, keep the file, and put a backup in its place\n")
	return b.String()
}

type ledgerBackupCmd struct {
	File string `arg:"" help:"The copy to make; a file that exists is not overwritten."`
}

// Help is shown by --help.
func (ledgerBackupCmd) Help() string {
	return `A consistent copy, also while the poller runs. (A plain copy of a ledger in use is damaged.)

Example: the-loop ledger backup ledger-2026-07-31.db

Exit codes: 0 copied, 1 not (a file is in the way, or there is no room).`
}

// Run makes the copy.
func (c *ledgerBackupCmd) Run(ctx context.Context, d *deps, g *Global) error {
	path, err := d.resolve(c.File)
	if err != nil {
		return err
	}
	if c.File == "" {
		return usage("name the file to make")
	}
	ctx, done := stopSignals(ctx) // so that no part of a copy is left behind
	defer done()
	err = d.withLedgerFor(ctx, g, wholeTime, func(ctx context.Context, r reader) error {
		return newFile(path, d.now().Add(-wholeTime), func(w io.Writer) error { return r.Backup(ctx, w) })
	})
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	return d.print(fmt.Sprintf("copied the ledger to %s (%d bytes)\n", escape.Line(path), info.Size()))
}

type ledgerCompactCmd struct{}

// Help is shown by --help.
func (ledgerCompactCmd) Help() string {
	return `Rewrites the file without its free pages: beside it, checked, then put in its place. The poller must be stopped.

Example: the-loop poll stop && the-loop ledger compact && the-loop poll start

Exit codes: 0 done, 1 not (the poller runs, the ledger has a fault, there is no room).`
}

// Run compacts the ledger under the run lock (L11).
func (c *ledgerCompactCmd) Run(ctx context.Context, d *deps, g *Global) error {
	root, _, err := d.root(g)
	if err != nil {
		return err
	}
	held, err := lock.Acquire(ctx, filepath.Join(root, lock.File), "ledger compact", d.log())
	if err != nil {
		return d.offlineRefused(err, "compact the ledger", root)
	}
	before, after, err := store.Compact(ctx, store.Options{Path: filepath.Join(root, store.File), Writer: release()})
	err = errors.Join(err, held.Release())
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no ledger in %s; nothing to compact", root)
	}
	if err != nil {
		return err
	}
	return d.print(fmt.Sprintf("compacted the ledger: %d bytes, before %d\n", after, before))
}

// offlineRefused says why a command that needs the run lock did not get it.
func (d *deps) offlineRefused(err error, what, root string) error {
	var held *lock.HeldError
	switch {
	case errors.As(err, &held) && held.Command == daemon.LockName:
		return fmt.Errorf("cannot %s while the poller runs (pid %d): stop it first with 'the-loop poll stop'", what, held.PID)
	case errors.As(err, &held):
		return fmt.Errorf("cannot %s: %w", what, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("cannot %s: there is no state in %s yet; 'the-loop poll start' makes it", what, root)
	}
	return err
}

type ledgerForgetCmd struct {
	Refs   []string `arg:"" optional:"" name:"ref" help:"Work items to forget."`
	All    bool     `help:"Every work item of the ledger."`
	DryRun bool     `help:"Only say what would be forgotten."`
	Yes    bool     `help:"Do not ask."`
}

// Help is shown by --help.
func (ledgerForgetCmd) Help() string {
	return `All of the named items are forgotten, or none. A session that lives is ended first. An open item is seen for the first
time again in the next cycle: its thread is not sent again, and a start in it that was obeyed may be obeyed again.

Example: the-loop ledger forget github:octo/repo#15 --dry-run

Exit codes: 0 forgotten, 1 nothing was (an item is not known, the answer was no).`
}

// Run forgets the items, through the poller that runs or under the run lock.
func (c *ledgerForgetCmd) Run(ctx context.Context, d *deps, g *Global) error {
	what := localapi.Forget{All: c.All, DryRun: true}
	switch {
	case c.All && len(c.Refs) > 0:
		return usage("--all is every work item, and %s is named beside it: leave out one of the two", c.Refs[0])
	case !c.All && len(c.Refs) == 0:
		return usage("name the work items to forget, or --all")
	}
	for _, text := range c.Refs {
		ref, err := d.ref(g, text)
		if err != nil {
			return err
		}
		what.Refs = append(what.Refs, ref)
	}
	return d.withWriter(ctx, g, "ledger forget", func(ctx context.Context, w writer) error {
		names, err := w.Forget(ctx, what)
		if err != nil {
			return err
		}
		if c.DryRun || len(names) == 0 {
			return d.print(forgetText("would be forgotten", names))
		}
		if !c.Yes {
			if err := d.confirm(forgetText("will be forgotten", names) + "Go on? [y/N] "); err != nil {
				return err
			}
		}
		what.DryRun = false
		names, err = w.Forget(ctx, what)
		if err != nil {
			return err
		}
		return d.print(forgetText("forgotten", names))
	})
}

func forgetText(what string, names []string) string {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(escape.Line(name) + "\n")
	}
	b.WriteString(view.Count(len(names), "work item", "work items") + " " + what + "\n")
	return b.String()
}

// confirm asks on the terminal; without one the answer is no.
func (d *deps) confirm(question string) error {
	if _, tty := view.Terminal(os.Stdin); !tty {
		return errors.New("nothing was changed: there is no terminal to ask on; say --yes")
	}
	fmt.Fprint(d.stderr, question)
	answer, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return errors.New("nothing was changed")
}

// writer changes the ledger: the poller that runs, or this process under the
// run lock.
type writer interface {
	Forget(context.Context, localapi.Forget) ([]string, error)
	Adopt(context.Context, workitem.Ref) (localapi.Adopted, error)
	Order(context.Context, localapi.Order) (localapi.Ordered, error)
	Link(context.Context, localapi.Link) (localapi.Linked, error)
	Register(context.Context, localapi.Registration) (localapi.Registered, error)
}

// withWriter calls f with somebody who may write.
func (d *deps) withWriter(ctx context.Context, g *Global, command string, f func(context.Context, writer) error) error {
	path, err := d.configFile(g)
	if err != nil {
		return err
	}
	root, _, err := d.root(g)
	if err != nil {
		return err
	}
	status, err := lock.Probe(filepath.Join(root, lock.File))
	if err != nil {
		return err
	}
	if status.Holder() == lock.Poller {
		c, err := running(ctx, root, status)
		if err != nil {
			return err
		}
		return f(ctx, c)
	}
	err = daemon.Offline(ctx, daemon.Options{
		Config: path, Version: release(), Exe: d.exe, Cwd: d.cwd, Home: d.home, Env: d.env, Log: d.log(), Out: d.stdout, Now: d.now,
	}, command, func(l localapi.Local) error { return f(ctx, l) })
	return d.offlineRefused(err, "change the ledger", root)
}

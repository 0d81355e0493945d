package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/goccy/go-yaml"

	"theloop/config"
	"theloop/daemon"
	"theloop/eventlog"
	"theloop/lock"
	"theloop/migrate"
	"theloop/store"
)

type migrateGroup struct {
	ImportJSON importCmd `cmd:"" name:"import-json" help:"Bring the records of earlier releases into the ledger."`
	ExportJSON exportCmd `cmd:"" name:"export-json" help:"Write the ledger out in the format of earlier releases."`
}

type importCmd struct {
	format
	From        string `placeholder:"DIR|FILE" help:"A state root, a folder of records, or a poll-state.json; else the configured root."`
	DryRun      bool   `help:"Report what would be done and change nothing."`
	Overwrite   bool   `help:"Where ledger and file differ, the file wins."`
	NoSessions  bool   `help:"Make no session rows."`
	KeepGiveUps bool   `name:"keep-give-ups" help:"What was given up stays so, until the next release."`
}

// Help is shown by --help.
func (importCmd) Help() string {
	return `Reads what earlier releases kept, changes nothing of it, and may be run again: what is there already is unchanged. The
poller must be stopped.

Example: the-loop migrate import-json --dry-run

Exit codes: 0 done, also when there was nothing to import; 1 when something was invalid (it is listed, the rest is imported),
or when the ledger could not be written.`
}

// Run imports the records (L11, L12).
func (c *importCmd) Run(ctx context.Context, d *deps, g *Global) error {
	at, err := d.earlier(g, c.From)
	if err != nil {
		return err
	}
	files, err := migrate.Files(at.places)
	if err != nil {
		return err
	}
	if len(files) == 0 && !c.json() {
		return d.print(fmt.Sprintf("no records of earlier releases in %s: there is nothing to import\n", firstOf(c.From, at.root)))
	}
	ctx, done := stopSignals(ctx)
	defer done()
	o := migrate.ImportOptions{
		Places: at.places, DryRun: c.DryRun || len(files) == 0, Overwrite: c.Overwrite, NoSessions: c.NoSessions,
		KeepGiveUps: c.KeepGiveUps, Host: daemon.HostID(), Version: release(), Now: d.now, Log: d.log(), Progress: d.progress("import"),
	}
	var r migrate.Report
	err = d.offline(ctx, at.root, "migrate import-json", o.DryRun, func(l *store.Ledger) (err error) {
		if l != nil {
			o.Ledger = l
		}
		r, err = migrate.Import(ctx, o)
		return err
	})
	if err != nil {
		return err
	}
	if !o.DryRun {
		at.emit("ledger.imported", map[string]int{
			"imported": r.Imported, "unchanged": r.Unchanged, "conflicts": len(r.Conflicts), "invalid": len(r.Invalid),
			"links": r.Links, "sessions": r.Sessions.Live + r.Sessions.Gone + r.Sessions.Foreign,
		})
	}
	if c.json() {
		err = d.printJSON(r)
	} else {
		err = d.print(importText(r, d.now(), d.style()))
	}
	if err == nil && len(r.Invalid) > 0 {
		return no
	}
	return err
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// offline runs f on the ledger while no poller has it: with the run lock, or
// read-only without it, where a ledger that is missing is none.
func (d *deps) offline(ctx context.Context, root, command string, readOnly bool, f func(*store.Ledger) error) (err error) {
	path := filepath.Join(root, store.File)
	if !readOnly {
		made, err := lock.EnsureRoot(root)
		if err != nil {
			return err
		}
		held, err := lock.Acquire(ctx, filepath.Join(root, lock.File), command, d.log())
		if err != nil {
			return errors.Join(notBeside(err, command), lock.RemoveRoot(made))
		}
		defer func() { err = errors.Join(err, held.Release()) }()
	}
	l, err := store.Open(ctx, store.Options{Path: path, ReadOnly: readOnly, Writer: release(), Log: d.log(), Now: d.now})
	var inUse *store.InUseError
	switch {
	case readOnly && errors.Is(err, fs.ErrNotExist):
		return f(nil)
	case errors.As(err, &inUse):
		return fmt.Errorf("%w: stop the poller first with 'the-loop poll stop'", err)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	return f(l)
}

// notBeside says who has the run lock.
func notBeside(err error, command string) error {
	var held *lock.HeldError
	if !errors.As(err, &held) {
		return err
	}
	switch (lock.Status{Held: true, Command: held.Command}).Holder() {
	case lock.Foreign:
		return fmt.Errorf("another program holds %s (pid %d), an earlier release perhaps: stop it first, then '%s' again", held.Path, held.PID, command)
	case lock.Poller:
		return fmt.Errorf("a poller is running (pid %d, pidfile %s): stop it first with 'the-loop poll stop'", held.PID, held.Path)
	}
	return alreadyRunning(held)
}

// earlier is where an earlier release kept its state.
type earlier struct {
	root   string
	places migrate.Places
	events *eventlog.Log
}

// oldKeys are what the configuration of an earlier release says of its state.
// They are read by themselves: the poller does not start with some of them.
type oldKeys struct {
	State   struct{ Root string }
	Polling struct {
		StateFile string `yaml:"stateFile"`
	}
	Routing  oldRouting
	Webhooks struct {
		GhWebhook struct{ Routing oldRouting } `yaml:"ghWebhook"`
	}
}

type oldRouting struct {
	RegistryDir string `yaml:"registryDir"`
}

// earlier reads the configuration for what an import needs. Keys that only keep
// the poller from starting do not keep records from being brought over.
func (d *deps) earlier(g *Global, from string) (earlier, error) {
	file, err := d.configFile(g)
	if err != nil {
		return earlier{}, err
	}
	var old oldKeys
	if data, err := os.ReadFile(file); err == nil {
		_ = yaml.Unmarshal(data, &old) // what it holds besides is no matter here
	}
	cfg, _, err := config.Load(file)
	var invalid *config.InvalidError
	if errors.As(err, &invalid) && !slices.ContainsFunc(invalid.Problems, func(p config.Problem) bool {
		return p.Key != "polling.stateFile" && p.Key != "webhooks.ghWebhook.routing"
	}) {
		cfg, _, err = config.Parse(file, nil)
		cfg.State.Root = firstOf(old.State.Root, cfg.State.Root)
	}
	if err != nil {
		return earlier{}, err
	}
	e := earlier{places: migrate.Places{Cwd: d.cwd}}
	for _, path := range []struct {
		to   *string
		text string
	}{
		{&e.root, cfg.State.Root},
		{&e.places.From, firstOf(from, old.Polling.StateFile)},
		{&e.places.Registry, firstOf(old.Routing.RegistryDir, old.Webhooks.GhWebhook.Routing.RegistryDir)},
	} {
		if path.text == "" {
			continue
		}
		if *path.to, err = d.resolve(path.text); err != nil {
			return earlier{}, err
		}
	}
	e.places.Root = e.root
	log, err := d.eventLog(e.root, cfg)
	e.events = eventlog.Open(eventlog.Options{
		Path: log, Source: "migrate", Version: release(), Now: d.now, Enabled: cfg.EventLog.Enabled, Logger: d.log(),
	})
	return e, err
}

func (e earlier) emit(name string, counts map[string]int) {
	e.events.Append(eventlog.Event{Name: name, Fields: map[string]any{"counts": counts}})
	_ = e.events.Close() // it has warned if it could not write
}

// progressEvery keeps a counter from flickering, and a slow terminal from
// slowing the work down.
const progressEvery = 100 * time.Millisecond

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/goccy/go-yaml"

	"theloop/config"
	"theloop/eventlog"
	"theloop/lock"
	"theloop/migrate"
	"theloop/store"
)

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// offline runs f on the ledger while no poller has it: with the run lock, or
// read-only without it, where a ledger that is missing is none.
func (d *deps) offline(ctx context.Context, root, command string, readOnly bool, f func(*store.Ledger) error) (err error) {
	if !readOnly {
		release, locked := d.lockRoot(ctx, root, command)
		if locked != nil {
			return locked
		}
		defer func() { err = errors.Join(err, release()) }()
	}
	l, err := store.Open(ctx, store.Options{Path: filepath.Join(root, store.File), ReadOnly: readOnly, Writer: release(), Log: d.log(), Now: d.now})
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

// lockRoot makes the state root if need be and takes its run lock (L11).
func (d *deps) lockRoot(ctx context.Context, root, command string) (release func() error, err error) {
	made, err := lock.EnsureRoot(root)
	if err != nil {
		return nil, err
	}
	held, err := lock.Acquire(ctx, filepath.Join(root, lock.File), command, d.log())
	if err != nil {
		return nil, errors.Join(d.notBeside(err, command, root), lock.RemoveRoot(made))
	}
	return held.Release, nil
}

// notBeside says who has the run lock; an earlier release takes the same one
// (L12).
func (d *deps) notBeside(err error, command, root string) error {
	var held *lock.HeldError
	if errors.As(err, &held) && held.Command == "" {
		return fmt.Errorf("another program holds %s (pid %d), an earlier release perhaps: stop it first, then 'the-loop %s' again",
			held.Path, held.PID, command)
	}
	return d.offlineRefused(err, "run '"+command+"'", root)
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
	if from == "" {
		from = d.stateFile(old.Polling.StateFile)
	}
	e := earlier{places: migrate.Places{Cwd: d.cwd}}
	for _, path := range []struct {
		to   *string
		text string
	}{
		{&e.root, cfg.State.Root},
		{&e.places.From, from},
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

// stateFile is the poll state that an earlier configuration names, if it is
// there.
func (d *deps) stateFile(name string) string {
	path, err := d.resolve(name)
	if err != nil || name == "" {
		return ""
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	return path
}

// needLedger refuses before anything is made.
func (d *deps) needLedger(root string) error {
	path := filepath.Join(root, store.File)
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no ledger at %s: nothing to export", path)
	}
	return err
}

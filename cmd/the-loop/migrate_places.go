package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

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

// sameFolder reports whether two paths lead to one folder.
func sameFolder(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	two, err := os.Stat(b)
	return err == nil && os.SameFile(one, two)
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

// earlier reads the configuration for what an import needs.
func (d *deps) earlier(g *Global, from string) (earlier, error) {
	file, err := d.configFile(g)
	if err != nil {
		return earlier{}, err
	}
	old, err := config.LoadEarlier(file)
	if err != nil {
		return earlier{}, err
	}
	cfg := old.Config
	if from == "" {
		from = d.stateFile(old.StateFile)
	}
	e := earlier{places: migrate.Places{Cwd: d.cwd}}
	for _, path := range []struct {
		to   *string
		text string
	}{
		{&e.root, cfg.State.Root},
		{&e.places.From, from},
		{&e.places.Registry, old.RegistryDir},
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

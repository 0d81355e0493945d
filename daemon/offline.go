package daemon

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"theloop/config"
	"theloop/localapi"
	"theloop/lock"
	"theloop/store"
)

// Offline calls f with the ledger while no poller runs: under the run lock, with
// the sessions at hand, but without a source, a socket or a cycle (L11). The
// command is what the pidfile names meanwhile. A root without a ledger is an
// error for which errors.Is fs.ErrNotExist holds; nothing is made.
func Offline(ctx context.Context, o Options, command string, f func(localapi.Local) error) (err error) {
	o = o.withDefaults()
	restore := harden()
	defer restore()
	cfg, _, err := config.Load(o.Config)
	if err != nil {
		return err
	}
	s, err := newService(o, cfg)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(s.root, store.File)); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("look for the ledger: %w", err)
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if s.lock, err = lock.Acquire(ctx, s.pidfile(), command, o.Log); err != nil {
		return err
	}
	s.hasLock()
	s.openEvents()
	if err := s.openLedger(ctx); err != nil {
		return err
	}
	if err := s.assemble(); err != nil {
		return err
	}
	s.onClose(s.stopQueue)
	t, err := openTrackers(ctx, o, cfg)
	s.untracked = err // without a token the trackers do not answer, which is no reason not to go on
	if err == nil {
		s.watch(t)
		s.onClose(s.closeTrackers)
	}
	if err := f(s.local()); err != nil {
		return err
	}
	return s.queue.Wait(ctx) // what was ordered is done before the lock is free
}

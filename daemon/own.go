package daemon

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"theloop/lock"
)

// What makes the state root this process's own, and shows that it still is.

// takeLock makes the state root and takes the run lock: nothing with an effect
// comes before it.
func (s *service) takeLock(ctx context.Context) error {
	path := s.pidfile()
	made, err := lock.EnsureRoot(s.root)
	if err != nil {
		return err
	}
	s.onClose(func() error {
		if s.ledger == nil { // a start that was refused leaves no root behind
			return lock.RemoveRoot(made)
		}
		return nil
	})
	s.openEvents()
	s.lock, err = lock.Acquire(ctx, path, LockName, s.o.Log)
	var held *lock.HeldError
	if errors.As(err, &held) {
		s.blocked(path, held.PID)
		return err
	}
	if err != nil {
		return err
	}
	s.hasLock() // to be let go last of all
	s.onClose(s.tellEnd)
	if s.lock.StalePID > 0 {
		s.o.Log.Info(fmt.Sprintf("removed a stale pidfile (pid %d is not running)", s.lock.StalePID))
	}
	return s.besideWebhook()
}

// hasLock notes that the run lock is held, until the start is undone.
func (s *service) hasLock() {
	s.locked.Store(true)
	s.onClose(func() error {
		s.locked.Store(false)
		return s.lock.Release()
	})
}

func (s *service) pidfile() string { return filepath.Join(s.root, lock.File) }

func (s *service) blocked(pidfile string, holder int) {
	s.emit("poll")("poller.blocked", map[string]any{"pidfile": pidfile, "holder": holder})
}

// besideWebhook refuses to run beside the webhook receiver of an earlier
// release, which feeds the same sessions (L12).
func (s *service) besideWebhook() error {
	path := filepath.Join(s.root, lock.WebhookFile)
	status, err := lock.Probe(path)
	if err != nil || !status.Held || s.o.BesideWebhook {
		return err
	}
	s.blocked(path, status.PID)
	return fmt.Errorf("the webhook receiver of an earlier release is running (pid %d, pidfile %s) and feeds the same sessions: "+
		"stop it first, or start with --beside-webhook", status.PID, path)
}

// stillOurs ends the process when the pidfile or the ledger was removed or
// replaced: two pollers, or two histories, are worse than none. A ledger that is
// damaged ends it too: nothing can be decided on it any more, and only another
// process can open what is put in its place. A commit that failed is no damage.
func (s *service) stillOurs(ctx context.Context) error {
	if err := s.lock.Check(); err != nil {
		return err
	}
	replaced, err := s.ledger.Replaced()
	if err != nil {
		return err
	}
	if replaced {
		return fmt.Errorf("the ledger %s was removed or replaced while the poller ran: stopped, since two histories are worse than none; "+
			"put the file back, or start again on what is there", s.ledger.Path())
	}
	return s.ledger.Damage(ctx)
}

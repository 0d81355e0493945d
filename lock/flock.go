//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// retryFor is how long a held lock is tried for before it is a refusal: longer than a poller that ends needs to let go,
	// and than a child between fork and exec keeps a copy of the descriptor (20 ms, L7).
	retryFor = 200 * time.Millisecond
	// probesFor bounds the wait for those who only ask. It takes a stopped process, or very many, to get there.
	probesFor = 5 * time.Second
	// maxReplaced bounds how often a file that was unlinked between open and lock is tried again (L7).
	maxReplaced = 100
)

func platform() mechanism { return newFlocker() }

// flocker is the run lock by flock(2). Its fields are the outer world, so that a test can be it.
type flocker struct {
	flock func(fd, how int) error
	now   func() time.Time
	pause func(context.Context, time.Duration) error
}

func newFlocker() flocker { return flocker{flock: unix.Flock, now: time.Now, pause: pause} }

func (k flocker) claim(ctx context.Context, path, command string, _ *slog.Logger) (*RunLock, error) {
	f, err := k.exclusive(ctx, path, true)
	if err != nil {
		return nil, err
	}
	l, err := k.own(f, path)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	if err := k.sign(f, l, newNote(command)); err != nil {
		return nil, errors.Join(err, l.Release())
	}
	return l, nil
}

// clear takes the lock on an existing file only to remove that.
func (k flocker) clear(ctx context.Context, path string) (int, error) {
	f, err := k.exclusive(ctx, path, false)
	if err != nil {
		return 0, err
	}
	l, err := k.own(f, path)
	if err != nil {
		return 0, errors.Join(err, f.Close())
	}
	old, err := readOld(f, path)
	if err != nil {
		return 0, errors.Join(err, l.drop())
	}
	return old.pid, l.Release()
}

func (k flocker) own(f *os.File, path string) (*RunLock, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("look at the pidfile: %w", err)
	}
	drop := func() error {
		// Unlocked before it is closed: a copy of the descriptor in a child between fork and exec outlives the close (L7).
		return errors.Join(k.call(f, unix.LOCK_UN), f.Close())
	}
	return &RunLock{path: path, info: info, drop: drop}, nil
}

// sign puts this process into the pidfile and notes whom it replaces there.
func (k flocker) sign(f *os.File, l *RunLock, n note) error {
	old, err := readNote(f)
	if err != nil {
		return err
	}
	l.StalePID = old.pid
	if err := writeNote(f, n); err != nil {
		return err
	}
	if l.info.Mode().Perm() != filePerm {
		if err := f.Chmod(filePerm); err != nil {
			return fmt.Errorf("make the pidfile private: %w", err)
		}
	}
	return nil
}

// exclusive opens the pidfile and returns it locked, or says who holds it.
func (k flocker) exclusive(ctx context.Context, path string, create bool) (*os.File, error) {
	begun, replaced := k.now(), 0
	for {
		f, err := k.tryExclusive(path, create)
		switch {
		case err == nil:
			return f, nil
		case errors.Is(err, ErrReplaced) && replaced < maxReplaced:
			replaced++
			continue
		case errors.Is(err, ErrReplaced):
			return nil, fmt.Errorf("lock the pidfile %s: %w again and again", path, err)
		case !errors.Is(err, errBusy):
			return nil, err
		}
		if err := k.refusal(path, k.now().Sub(begun)); err != nil {
			return nil, err
		}
		if err := k.pause(ctx, askEvery); err != nil {
			return nil, fmt.Errorf("lock the pidfile %s: %w", path, err)
		}
	}
}

// refusal is nil while it is worth trying on. A shared lock tells a holder from those who only ask: it is to be had beside
// theirs, so that no storm of probes, however dense, ends in a refusal (L8).
func (k flocker) refusal(path string, waited time.Duration) error {
	if waited < retryFor {
		return nil
	}
	s, err := settle(k, path)
	switch {
	case err != nil:
		return err
	case s.Held:
		return heldBy(path, s)
	case waited > probesFor:
		return fmt.Errorf("lock the pidfile %s: for %s nobody held the lock, but some process always asked for it; 'fuser -v %s' names those that have it open", path, waited.Round(time.Second), shellQuote(path))
	}
	return nil
}

// tryExclusive opens and locks once. ErrReplaced: the locked file is not, or no longer, the one of that name (L7).
func (k flocker) tryExclusive(path string, create bool) (*os.File, error) {
	f, created, err := openPidfile(path, create)
	if err != nil {
		return nil, err
	}
	err = k.call(f, unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		if err = inPlace(f, path); err == nil {
			return f, nil
		}
	} else if created && !errors.Is(err, errBusy) {
		err = errors.Join(err, os.Remove(path)) // nothing can be locked here, so nobody else has it either
	}
	return nil, errors.Join(err, f.Close())
}

func (k flocker) ask(path string) (Status, error) {
	for range maxReplaced {
		s, err := k.askOnce(path)
		if !errors.Is(err, ErrReplaced) {
			return s, err
		}
	}
	return Status{}, fmt.Errorf("ask for the lock on %s: %w again and again", path, ErrReplaced)
}

func (k flocker) askOnce(path string) (Status, error) {
	f, err := openToAsk(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, err
	}
	defer f.Close() // read only: there is nothing a close could lose
	err = k.call(f, unix.LOCK_SH|unix.LOCK_NB)
	held := errors.Is(err, errBusy)
	if err == nil {
		err = k.call(f, unix.LOCK_UN)
	}
	if err != nil && !held {
		return Status{}, err
	}
	if err := inPlace(f, path); err != nil {
		return Status{}, err
	}
	n, err := readNote(f)
	return newStatus(held, n), err
}

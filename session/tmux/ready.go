//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tmux

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// readyEvery is how often the terminal is looked at; it costs three system calls.
	readyEvery = 25 * time.Millisecond
	// readySettle is how long the terminal has to have been out of canonical mode: a harness switches bracketed paste on
	// a moment later, and tmux has to read that too, else a text of several lines is submitted line by line.
	readySettle = 250 * time.Millisecond
)

// Ready waits until the pane's terminal has left canonical mode and stayed out of it for a quarter of a second (D4): text
// pasted before is lost without an error. ErrNotReady when that takes longer than wait, or the terminal is gone.
func (s *Server) Ready(ctx context.Context, l Look, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	tick := time.NewTicker(readyEvery)
	defer tick.Stop()
	var since time.Time
	for {
		canonical, err := isCanonical(l.TTY)
		now := time.Now()
		switch {
		case err != nil:
			return notReady(l, err)
		case canonical:
			since = time.Time{}
		case since.IsZero():
			since = now
		case now.Sub(since) >= readySettle:
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return notReady(l, fmt.Errorf("its terminal was still in line mode after %s", wait))
		case <-tick.C:
		}
	}
}

func notReady(l Look, err error) error {
	return fmt.Errorf("wait for %s of tmux session %q: %w", l.PaneID, l.Name, errors.Join(ErrNotReady, err))
}

// isCanonical tells whether the terminal collects lines. It is opened for that alone: not as the controlling terminal,
// without waiting, and closed at once.
func isCanonical(tty string) (bool, error) {
	fd, err := unix.Open(tty, unix.O_RDONLY|unix.O_NOCTTY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return false, fmt.Errorf("open terminal %q: %w", tty, err)
	}
	defer func() { _ = unix.Close(fd) }()
	state, err := unix.IoctlGetTermios(fd, readTermios)
	if err != nil {
		return false, fmt.Errorf("read the mode of terminal %q: %w", tty, err)
	}
	return state.Lflag&unix.ICANON != 0, nil
}

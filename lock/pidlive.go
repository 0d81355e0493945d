package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"time"
)

const (
	// claimFor is how long a pidfile without a readable pid is taken for one that is being written. Then it is stale.
	claimFor = 200 * time.Millisecond
	// claimSettles is how long a claim is left alone before it counts: two that found the same stale pidfile may remove each
	// other's, and the one that was removed notices it then.
	claimSettles = 100 * time.Millisecond
	// maxClaims bounds how often that may happen.
	maxClaims = 100
)

// pidLiveness is the run lock of a platform without flock: the pidfile is made exclusively, and whoever finds one judges it by
// whether its pid is alive (L10). It cannot tell a pid that was given to another process, and two starts that find the same
// stale file within microseconds are parted by waiting only.
type pidLiveness struct {
	alive func(pid int) bool
	self  int
	pause func(context.Context, time.Duration) error
}

func newPidLiveness() pidLiveness { return pidLiveness{alive: alive, self: os.Getpid(), pause: pause} }

func (k pidLiveness) claim(ctx context.Context, path, command string, log *slog.Logger) (*RunLock, error) {
	log.Debug("no flock on this platform: whether a pidfile is held is judged by whether its pid is alive", "pidfile", path)
	mine, stale := newNote(command), 0
	mine.pid = k.self
	for range maxClaims {
		old, err := k.remove(ctx, path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if old != 0 {
			stale = old
		}
		info, err := create(path, mine)
		if errors.Is(err, fs.ErrExist) {
			continue // somebody else was first; look who
		}
		if err != nil {
			return nil, err
		}
		if err := k.pause(ctx, claimSettles); err != nil {
			return nil, errors.Join(fmt.Errorf("lock the pidfile %s: %w", path, err), removeIfAt(path, info))
		}
		if k.mine(path, info) {
			return &RunLock{StalePID: stale, path: path, info: info, drop: func() error { return nil }}, nil
		}
	}
	return nil, fmt.Errorf("lock the pidfile %s: %w again and again", path, ErrReplaced)
}

// mine reports whether the pidfile is still the one that was made. A file that is made behind one that was removed may get
// its very number, so what it says counts, too.
func (k pidLiveness) mine(path string, info fs.FileInfo) bool {
	n, now, err := look(path)
	return err == nil && os.SameFile(info, now) && n.pid == k.self
}

// create makes the pidfile with its content. It is closed at once: an open file cannot be removed everywhere.
func create(path string, n note) (fs.FileInfo, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make the pidfile: %w", err)
	}
	err = writeNote(f, n)
	info, statErr := f.Stat()
	if err := errors.Join(err, statErr, f.Close()); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	return info, nil
}

// remove removes a pidfile whose process is gone, and returns the pid it recorded.
func (k pidLiveness) remove(ctx context.Context, path string) (recorded int, err error) {
	for waited := time.Duration(0); ; waited += askEvery {
		n, info, err := look(path)
		switch {
		case err != nil:
			return 0, err
		case n.pid == k.self:
			// A process of this pid ended without removing its file, or this one claims twice, which nothing can tell.
			return n.pid, removeIfAt(path, info)
		case k.alive(n.pid):
			return 0, heldBy(path, newStatus(true, n))
		case n.pid != 0 || waited >= claimFor:
			return n.pid, removeIfAt(path, info)
		}
		if err := k.pause(ctx, askEvery); err != nil {
			return 0, fmt.Errorf("lock the pidfile %s: %w", path, err)
		}
	}
}

func (k pidLiveness) ask(path string) (Status, error) {
	n, _, err := look(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Status{}, nil
	}
	if err != nil {
		return Status{}, err
	}
	return newStatus(k.alive(n.pid), n), nil
}

func (k pidLiveness) clear(ctx context.Context, path string) (int, error) {
	if err := checkName(path); err != nil {
		return 0, err
	}
	if f, err := os.Open(path); err == nil {
		_, err = readOld(f, path)
		if err = errors.Join(err, f.Close()); err != nil {
			return 0, err
		}
	}
	return k.remove(ctx, path)
}

func look(path string) (note, fs.FileInfo, error) {
	if err := checkName(path); err != nil {
		return note{}, nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return note{}, nil, fmt.Errorf("open the pidfile: %w", err)
	}
	defer f.Close() // read only
	info, err := f.Stat()
	if err != nil {
		return note{}, nil, fmt.Errorf("look at the pidfile: %w", err)
	}
	n, err := readNote(f)
	return n, info, err
}

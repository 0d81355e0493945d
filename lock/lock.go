package lock

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
)

// Names of the pidfiles below a state root.
const (
	// File is the pidfile of the poller; the Python version locks the same one (L4, L12).
	File = "poll.pid"
	// WebhookFile is locked by the Python version's webhook receiver, which feeds the same sessions (L12).
	WebhookFile = "gh-webhook.pid"
)

var (
	// ErrReplaced is returned by Check when the pidfile's name no longer leads to the file that is locked, and by Acquire and
	// Probe when it is replaced faster than it can be looked at.
	ErrReplaced = errors.New("the pidfile was removed or replaced")
	// ErrNoLocks is returned when the file system answers that it has no locks.
	ErrNoLocks = errors.New("this file system gives no locks; put state.root on a local disk")
)

// HeldError is returned by Acquire and RemoveStale when somebody else holds the lock (L1, L11).
type HeldError struct {
	Path    string // the pidfile
	PID     int    // as the pidfile records it; 0 when it cannot be read
	Command string // the pidfile's second line; empty when the holder wrote none
}

func (e *HeldError) Error() string {
	who := "a process whose pid cannot be read"
	if e.PID > 0 {
		who = fmt.Sprintf("pid %d", e.PID)
	}
	if e.Command != "" {
		who += fmt.Sprintf(" (%s)", e.Command)
	}
	return fmt.Sprintf("pidfile %s is locked by %s", e.Path, who)
}

// RunLock is the run lock, held. It is given up with Release, or by the kernel when the process ends.
type RunLock struct {
	// StalePID is what the pidfile of an earlier holder recorded that was taken over (L5); 0 when there was none, or none
	// that could be read.
	StalePID int

	path string
	info os.FileInfo  // of the locked file, to know it by
	drop func() error // unlocks and closes it
	once sync.Once
	err  error
}

// Acquire takes the run lock on the pidfile at path and records this process and its command there ("poll start",
// "ledger compact"; L4, L11). The folder has to exist: see EnsureRoot. While somebody has the lock it tries for 200 ms, then
// returns a *HeldError (L8); one that only asks is waited for longer and is never a reason to refuse. log gets what is worth
// knowing at debug level; nil is fine.
func Acquire(ctx context.Context, path, command string, log *slog.Logger) (*RunLock, error) {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return platform().claim(ctx, path, command, log)
}

// Check returns ErrReplaced, wrapped, when the pidfile's name no longer leads to the locked file: somebody removed it, and a
// second poller can start. The holder has to end then.
func (l *RunLock) Check() error {
	same, err := isAt(l.path, l.info)
	if err != nil {
		return fmt.Errorf("check the pidfile: %w", err)
	}
	if !same {
		return fmt.Errorf("check the pidfile %s: %w while this process holds its lock; nothing keeps a second poller out any more, so this one ends; start it again", l.path, ErrReplaced)
	}
	return nil
}

// Release removes the pidfile, unlocks it and closes it, in this order (L7). A file of that name which is not the locked one
// is left alone. Later calls return what the first one did.
func (l *RunLock) Release() error {
	l.once.Do(func() {
		l.err = errors.Join(removeIfAt(l.path, l.info), l.drop())
	})
	return l.err
}

// mechanism is how a platform keeps two holders apart.
type mechanism interface {
	claim(ctx context.Context, path, command string, log *slog.Logger) (*RunLock, error)
	ask(path string) (Status, error)
	clear(ctx context.Context, path string) (recorded int, err error)
}

// isAt says whether path itself, not what a symlink there leads to, is the file of info.
func isAt(path string, info os.FileInfo) (bool, error) {
	now, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return os.SameFile(now, info), nil
}

func removeIfAt(path string, info os.FileInfo) error {
	same, err := isAt(path, info)
	if err == nil && same {
		err = os.Remove(path)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove the pidfile: %w", err)
	}
	return nil
}

//go:build unix

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"theloop/lock"
	"theloop/view"
)

// startTime is when a start in the background is given up: the longest wait in it
// is the one for a command that reads the ledger, and a check of a big one.
const startTime = time.Minute

// Started is a poller that runs in the background and is ready.
type Started struct {
	PID     int
	Logfile string
}

// Detach starts a poller in the background: this program again, with args, as a
// session of its own without a terminal. It returns once that has the lock and
// answers. A held lock is a *lock.HeldError, and that as well as a logfile that
// cannot be opened is found out before anything is started. Any other reason why
// the poller did not come up is the error's text. When ctx ends first, the poller
// is told to stop.
func Detach(ctx context.Context, o Options, args []string) (Started, error) {
	restore := harden()
	defer restore()
	cfg, _, err := load(o.Config)
	if err != nil {
		return Started{}, err
	}
	s, err := newService(o, cfg)
	if err != nil {
		return Started{}, err
	}
	if err := s.free(ctx); err != nil {
		return Started{}, err
	}
	out, err := s.openLogfile()
	if err != nil {
		return Started{}, err
	}
	defer out.Close() // the poller has its own
	restore()         // it begins with the umask that its caller has
	child, pipe, err := launch(o.Exe, args, out)
	if err != nil {
		return Started{}, err
	}
	defer pipe.Close() // it was only read from
	if err := child.await(ctx, pipe); err != nil {
		return Started{}, fmt.Errorf("%w (its output: %s)", err, out.Name())
	}
	return Started{PID: child.pid, Logfile: out.Name()}, nil
}

// free refuses when somebody holds the lock (L1). It changes nothing but the
// event log.
func (s *service) free(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, retryHeld)
	defer cancel()
	err := lock.WaitFree(ctx, s.pidfile(), 0)
	if !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	status, err := lock.Probe(s.pidfile())
	if err != nil || !status.Held {
		return err
	}
	s.openEvents()
	s.blocked(s.pidfile(), status.PID)
	return errors.Join(&lock.HeldError{Path: s.pidfile(), PID: status.PID, Command: status.Command}, s.events.Close())
}

// openLogfile opens the logfile to be appended to. The default one may need its
// folder made.
func (s *service) openLogfile() (f *os.File, err error) {
	path := s.logfile()
	if s.o.Logfile == "" {
		made, err := lock.EnsureRoot(s.root)
		if err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, errors.Join(fmt.Errorf("make the folder of the logfile: %w", err), lock.RemoveRoot(made))
		}
	}
	// Without a reader a pipe would make the open wait.
	f, err = os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE|syscall.O_NONBLOCK|syscall.O_NOCTTY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the logfile: %w; name another one with --logfile", err)
	}
	return f, nil
}

// child is the poller that is on its way up.
type child struct {
	process *os.Process
	pid     int
}

// launch starts the program in a session of its own, with the end of a pipe that
// it tells through how the start went.
func launch(exe string, args []string, out *os.File) (*child, *os.File, error) {
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, fmt.Errorf("start the poller in the background: %w", err)
	}
	defer null.Close() // read only
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil, nil, fmt.Errorf("start the poller in the background: %w", err)
	}
	process, err := os.StartProcess(exe, append([]string{exe}, args...), &os.ProcAttr{
		Env: append(os.Environ(), handshakeEnv+"=1"), Files: []*os.File{null, out, out, theirs},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	err = errors.Join(err, theirs.Close())
	if err != nil {
		return nil, nil, errors.Join(fmt.Errorf("start the poller in the background: %w", err), ours.Close())
	}
	return &child{process, process.Pid}, ours, nil
}

// await returns nil once the poller has said that it is ready. Else nothing runs
// when it returns, but for a poller that hangs, which was told to stop.
func (c *child) await(ctx context.Context, pipe *os.File) error {
	give := time.Now().Add(startTime)
	_ = pipe.SetReadDeadline(give)
	stop := context.AfterFunc(ctx, func() { _ = pipe.SetReadDeadline(time.Now()) })
	defer stop()
	var told message
	err := json.NewDecoder(io.LimitReader(pipe, maxMessage)).Decode(&told)
	switch {
	case err == nil && told.Reason == "":
		return c.process.Release()
	case err == nil:
		_, _ = c.process.Wait() // it has let go of everything
		return errors.New(told.Reason)
	case errors.Is(err, os.ErrDeadlineExceeded):
		_ = c.process.Signal(syscall.SIGTERM)
		if ctx.Err() != nil {
			return fmt.Errorf("told to stop before the poller (pid %d) was ready: it was told as well", c.pid)
		}
		return fmt.Errorf("the poller (pid %d) was not ready within %s and was told to stop", c.pid, view.Duration(startTime))
	}
	state, err := c.process.Wait()
	if err != nil {
		return fmt.Errorf("the poller ended before it was ready: %w", err)
	}
	return fmt.Errorf("the poller ended before it was ready (%s)", state)
}

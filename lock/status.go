package lock

import (
	"context"
	"fmt"
	"strings"
	"time"
)

const (
	// A holder writes its pid within microseconds of having the lock, but may lose the processor in between; and the Python
	// version asks with an exclusive lock. What does not add up is therefore asked again for this long.
	settleFor = 50 * time.Millisecond
	// askEvery is short against what a person notices and long against what one question costs (20 µs).
	askEvery = 5 * time.Millisecond
)

// Status is what a probe found out about a pidfile.
type Status struct {
	Exists      bool
	Held        bool   // somebody holds the lock
	Stale       bool   // the file is there and nobody holds the lock (U5)
	Corrupt     bool   // the file is there and records no pid
	PID         int    // of the holder, as it recorded it; 0 when nobody holds the lock or the file is corrupt
	RecordedPID int    // as recorded, held or not; 0 when corrupt
	Command     string // the second line; empty in a pidfile of the Python version
}

func newStatus(held bool, n note) Status {
	s := Status{Exists: true, Held: held, Stale: !held, Corrupt: n.pid == 0, RecordedPID: n.pid, Command: n.command}
	if held {
		s.PID = n.pid
	}
	return s
}

// Holder says what kind of process has the run lock.
type Holder int

const (
	// Nobody has it.
	Nobody Holder = iota
	// Poller is a poller of this program.
	Poller
	// Offline is a command of this program that writes the ledger while no poller runs: status calls that not running, and
	// stop sends it nothing (L11).
	Offline
	// Foreign is another program, such as the Python version, which writes no second line (T4).
	Foreign
)

// pollerCommand begins the second line of every poller's pidfile.
const pollerCommand = "poll start"

// Holder tells from the lock and the second line who has the lock.
func (s Status) Holder() Holder {
	switch {
	case !s.Held:
		return Nobody
	case s.Command == "":
		return Foreign
	case s.Command == pollerCommand || strings.HasPrefix(s.Command, pollerCommand+" "):
		return Poller
	}
	return Offline
}

// Probe asks whether the pidfile at path is locked and by whom, with a shared lock that is given back at once (L8). It
// creates and changes nothing. No file, or no folder, is no error. It takes up to 50 ms when the answer does not add up (the
// lock is held and the pid is unreadable or of no process here), microseconds otherwise.
func Probe(path string) (Status, error) {
	return settle(platform(), path)
}

func settle(m mechanism, path string) (Status, error) {
	s, err := m.ask(path)
	for waited := time.Duration(0); err == nil && s.Held && !alive(s.PID) && waited < settleFor; waited += askEvery {
		time.Sleep(askEvery)
		s, err = m.ask(path)
	}
	return s, err
}

// WaitFree waits until the lock at path is free, or until its holder is another than pid, which shows that it was free
// (T2); pid 0 stands for any holder. It returns the context's error, wrapped, when that ends first.
func WaitFree(ctx context.Context, path string, pid int) error {
	m := platform()
	for {
		s, err := m.ask(path)
		if err != nil {
			return err
		}
		if !s.Held || pid != 0 && s.PID != 0 && s.PID != pid {
			return nil
		}
		if err := pause(ctx, askEvery); err != nil {
			return fmt.Errorf("wait for the lock on %s: %w", path, err)
		}
	}
}

// RemoveStale removes a pidfile that nobody holds and returns the pid it recorded, 0 if none (T3). It takes the lock to do
// so, and cannot remove the file of somebody who is just starting: that is a *HeldError. No file is fs.ErrNotExist.
func RemoveStale(ctx context.Context, path string) (recorded int, err error) {
	return platform().clear(ctx, path)
}

// heldBy is the refusal, with the name of whoever holds the lock as far as the file tells.
func heldBy(path string, s Status) error {
	return &HeldError{Path: path, PID: s.PID, Command: s.Command}
}

func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

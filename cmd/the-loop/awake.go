package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"theloop/localapi"
	"theloop/lock"
)

// awakeTime is how long a poller has to say that it is there: it answers that from
// memory, whatever it is busy with.
const awakeTime = 10 * time.Second

// awake returns the poller of a state root once it has answered. A process that is
// stopped (SIGSTOP, a debugger, a frozen container) takes connections and answers
// nothing: what may rightly take minutes is asked only of one that is awake.
func awake(ctx context.Context, root string) (*localapi.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, awakeTime)
	defer cancel()
	c := localapi.NewClient(root)
	_, err := c.Status(ctx)
	return c, err
}

// running is awake for a poller that may just have got the lock: it has a moment to
// make its socket. It returns an error that names the poller when it does not answer.
func running(ctx context.Context, root string, status lock.Status) (*localapi.Client, error) {
	pidfile, pid := filepath.Join(root, lock.File), status.PID
	for give := time.Now().Add(socketPatience); ; {
		c, err := awake(ctx, root)
		if !errors.Is(err, localapi.ErrNoAnswer) {
			return c, err
		}
		if status, probed := lock.Probe(pidfile); probed == nil && status.Holder() != lock.Poller {
			return nil, fmt.Errorf("the poller (pid %d) has ended meanwhile: try again", pid)
		}
		if time.Now().After(give) || !pause(ctx, socketPatience/20) {
			return nil, fmt.Errorf("the poller (pid %d) holds %s and cannot be asked: try again; if it stays so, 'the-loop poll status' "+
				"says how it is, and 'ps -o stat= -p %d' whether it is stopped (T); "+
				"a socket that was removed is made again by stopping and starting the poller: %w", pid, pidfile, pid, err)
		}
	}
}

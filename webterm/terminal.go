package webterm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"
)

// firstWait and longestWait are how long ttyd stays down when it has ended by
// itself: twice as long each time, until it has run for longestWait.
const (
	firstWait   = time.Second
	longestWait = time.Minute
)

// Terminal is a ttyd that runs.
type Terminal struct {
	o    Options
	argv []string
	// stop ends the supervision, done is closed when it has ended.
	stop context.CancelFunc
	done chan struct{}
}

// Start runs ttyd and returns when it listens, or says why it cannot (R3).
func Start(ctx context.Context, o Options) (*Terminal, error) {
	o = o.withDefaults()
	binary, err := o.find()
	if err != nil {
		return nil, err
	}
	if o, err = o.resolve(); err != nil {
		return nil, err
	}
	if err := o.free(); err != nil {
		return nil, err
	}
	argv, err := o.argv(ctx, binary)
	if err != nil {
		return nil, err
	}
	life, stop := context.WithCancel(context.Background())
	t := &Terminal{o: o, argv: argv, stop: stop, done: make(chan struct{})}
	up := make(chan error, 1)
	go t.supervise(life, up)
	select {
	case err = <-up:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start the web terminal: %w", err), t.Close())
	}
	o.Log.Info("the sessions can be seen at http://" + o.address() + "/")
	return t, nil
}

// Close ends ttyd and what it started, and waits for it.
func (t *Terminal) Close() error {
	t.stop()
	<-t.done
	return nil
}

// supervise keeps ttyd running until it is told to stop; up gets how the first
// start went, and when that failed there is no second one.
func (t *Terminal) supervise(ctx context.Context, up chan<- error) {
	defer close(t.done)
	// The kernel ends ttyd with the thread that started it (Linux), so that a
	// poller which is killed leaves none behind.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p, err := t.begin(ctx)
	up <- err
	if err != nil {
		return
	}
	for wait, begun := firstWait, time.Now(); ; begun = time.Now() {
		if err == nil {
			err = p.wait(ctx)
		}
		if ctx.Err() != nil {
			return
		}
		if time.Since(begun) > longestWait {
			wait = firstWait
		}
		t.o.Log.Warn("the web terminal has ended by itself; it is started again", "after", wait.String(), "error", err)
		if !sleep(ctx, wait) {
			return
		}
		wait = min(2*wait, longestWait)
		p, err = t.begin(ctx)
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

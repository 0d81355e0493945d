package daemon

import (
	"context"
	"errors"
	"sync"

	"theloop/localapi"
	"theloop/poller"
)

// errStopping answers a kick that no cycle will.
var errStopping = errors.New("the poller is stopping, or was started with --once, and runs no further cycle")

// kicks are those who asked for a cycle at once. One that is under way may have
// passed what they ask for, so they get the next, all of them the same.
type kicks struct {
	// rung wakes the loop; one ring is enough for any number.
	rung chan struct{}

	mu      sync.Mutex
	waiting kicked
	over    bool
}

// kicked are the places where the answers are waited for.
type kicked []chan localapi.Kicked

func newKicks() *kicks { return &kicks{rung: make(chan struct{}, 1)} }

// ask returns what the next cycle did.
func (k *kicks) ask(ctx context.Context) (localapi.Kicked, error) {
	place, err := k.wait()
	if err != nil {
		return localapi.Kicked{}, err
	}
	select {
	case done, ok := <-place:
		if !ok {
			return done, errStopping
		}
		return done, nil
	case <-ctx.Done():
		return localapi.Kicked{}, ctx.Err()
	}
}

func (k *kicks) wait() (<-chan localapi.Kicked, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.over {
		return nil, errStopping
	}
	place := make(chan localapi.Kicked, 1) // nobody may be there any more
	k.waiting = append(k.waiting, place)
	select {
	case k.rung <- struct{}{}:
	default: // it is rung already
	}
	return place, nil
}

// take is called before a cycle and returns those whom it is for.
func (k *kicks) take() kicked {
	k.mu.Lock()
	defer k.mu.Unlock()
	select {
	case <-k.rung:
	default:
	}
	taken := k.waiting
	k.waiting = nil
	return taken
}

func (k kicked) answer(done localapi.Kicked) {
	for _, place := range k {
		place <- done
	}
}

// end tells everybody that there is no further cycle.
func (k *kicks) end() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.over = true
	for _, place := range k.waiting {
		close(place)
	}
	k.waiting = nil
}

func kickedBy(r poller.Report) localapi.Kicked {
	return localapi.Kicked{
		Cycle: localapi.Cycle{
			At: localapi.Time{Time: r.At}, DurationMS: r.Duration.Milliseconds(), ItemsSeen: r.ItemsSeen, Spawns: r.Spawns,
			CommentsForwarded: r.CommentsForwarded, Closures: r.Closures, Failures: r.Failures,
			Errors: len(r.Errors), Interrupted: r.Interrupted,
		},
		Problems: append([]string{}, problems(r)...),
	}
}

package daemon

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"theloop/dispatch"
	"theloop/poller"
	"theloop/workitem"
)

// Story 3, D1, C6: whatever is done to a session waits its turn in the session's
// queue, a close and what a person asks for among it; a pull request's comment in
// the queue of the session that it goes into (P3).
func TestEveryEffectWaitsItsTurn(t *testing.T) {
	item := workitem.Ref{Provider: "inbox", Owner: "local", Repo: "demo", Number: 1}
	pull := item
	pull.Number = 7
	queue := dispatch.New(dispatch.Options{Concurrency: 4})
	running := make(chan struct{})
	queue.Put(dispatch.Job{Ref: item, ID: "running", Run: func(ctx context.Context) error {
		close(running)
		<-ctx.Done()
		return nil
	}})
	<-running
	w := work{queue: queue, emit: func(string, map[string]any) {}}
	for _, e := range []poller.Effect{
		{Kind: poller.DoClose, ID: "close", Ref: item},
		{Kind: poller.DoDeliver, ID: "IC_1", Ref: item},
		{Kind: poller.DoDeliver, ID: "PRRC_1", Ref: pull, Session: item},
		{Kind: poller.DoSpawn, ID: "spawn", Ref: item},
		{Kind: poller.DoAdopt, ID: "adopt", Ref: item},
	} {
		if !w.Put(e) {
			t.Errorf("%s was refused", e.ID)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	asked := make(chan error, 1)
	go func() {
		_, err := (&service{queue: queue}).adopter(ctx, item)
		asked <- err
	}()
	want := []string{"running", "close", "IC_1", "PRRC_1", "spawn", "adopt", adoptJob}
	for deadline := time.Now().Add(10 * time.Second); len(queue.Held(item)) < len(want) && time.Now().Before(deadline); {
		<-time.After(time.Millisecond)
	}
	if diff := cmp.Diff(want, queue.Held(item)); diff != "" {
		t.Error(diff)
	}
	if held := queue.Held(pull); held != nil {
		t.Errorf("a queue of its own holds %q", held)
	}
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("who asked was told %v", err)
	}
	queue.Put(dispatch.Job{Ref: item, ID: forgetJob})
	var abandoned []string
	for _, h := range deliveries(queue.Stop(0)) {
		abandoned = append(abandoned, h.Ref+" "+h.DeliveryID)
	}
	// B4: only what an attempt was spent on is abandoned.
	if diff := cmp.Diff([]string{"inbox:local/demo#1 IC_1", "inbox:local/demo#7 PRRC_1", "inbox:local/demo#1 spawn"}, abandoned); diff != "" {
		t.Error(diff)
	}
}

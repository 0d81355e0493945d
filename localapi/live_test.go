package localapi

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"theloop/record"
)

// What is about the poller that runs is answered by it alone.
func TestStatusAndKick(t *testing.T) {
	local := ledger(t)
	client := serve(t, t.TempDir(), local)
	if _, err := client.Status(t.Context()); err == nil || !strings.Contains(err.Error(), ErrNotRunning.Error()) {
		t.Errorf("a status of no poller: %v", err)
	}
	if _, err := client.Kick(t.Context()); err == nil || !strings.Contains(err.Error(), ErrNotRunning.Error()) {
		t.Errorf("a kick of no poller: %v", err)
	}

	want := Status{PID: 42, Version: "1", StartedAt: Time{at}, Busy: true}
	cycle := Kicked{Cycle: Cycle{At: Time{at}, ItemsSeen: 3, Errors: 1}, Problems: []string{"list x: no"}}
	local.Status = func() Status { return want }
	local.Kick = func(context.Context) (Kicked, error) { return cycle, nil }
	client = serve(t, t.TempDir(), local)
	if got, err := client.Status(t.Context()); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
	got, err := client.Kick(t.Context())
	if diff := cmp.Diff(cycle, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// A request that takes long is not cut by the bounds of one that does not, and a
// client that goes away ends it.
func TestAKickMayTakeLong(t *testing.T) {
	const limit = 100 * time.Millisecond
	local, root, gone := ledger(t), t.TempDir(), make(chan struct{})
	local.Kick = func(ctx context.Context) (Kicked, error) {
		select {
		case <-time.After(5 * limit):
			return Kicked{}, nil
		case <-ctx.Done():
			close(gone)
			return Kicked{}, ctx.Err()
		}
	}
	l, err := Listen(root)
	if err != nil {
		t.Fatal(err)
	}
	s := serveFor(l, local, slog.New(slog.DiscardHandler), limit)
	defer s.Close()
	if _, err := NewClient(root).Kick(t.Context()); err != nil {
		t.Errorf("it was cut: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	if _, err := NewClient(root).Kick(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	<-gone
}

// The end of the server cuts what is under way, and waits for it.
func TestCloseWaitsForWhatItCuts(t *testing.T) {
	local, root := ledger(t), t.TempDir()
	begun, ended := make(chan struct{}), false
	local.Kick = func(ctx context.Context) (Kicked, error) {
		close(begun)
		<-ctx.Done()
		ended = true
		return Kicked{}, ctx.Err()
	}
	l, err := Listen(root)
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, local, slog.New(slog.DiscardHandler))
	asked := make(chan error, 1)
	go func() { _, err := NewClient(root).Kick(context.Background()); asked <- err }()
	<-begun
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if !ended {
		t.Error("something still runs")
	}
	if err := <-asked; err == nil {
		t.Error("a cut kick was taken for one that was done")
	}
	if _, err := os.Lstat(SocketPath(root)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket: %v", err)
	}
}

// The cycles come newest first, as many as were asked for, from the poller as
// from the file.
func TestCycles(t *testing.T) {
	local := ledger(t)
	for n := range 3 {
		end := local.Ledger.(interface {
			EndCycle(context.Context, record.Cycle, []record.SourceRow) error
		})
		if err := end.EndCycle(t.Context(), record.Cycle{At: at.Add(time.Duration(n) * time.Minute), ItemsSeen: n}, nil); err != nil {
			t.Fatal(err)
		}
	}
	client := serve(t, t.TempDir(), local)
	for n, want := range map[int]int{0: 3, 2: 2, 1000000: 3} {
		direct, err := local.Cycles(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		asked, err := client.Cycles(t.Context(), n)
		if diff := cmp.Diff(direct, asked); diff != "" || err != nil || len(asked) != want || asked[0].ItemsSeen != 2 {
			t.Errorf("%d: %d cycles, %v: %s", n, len(asked), err, diff)
		}
	}
}

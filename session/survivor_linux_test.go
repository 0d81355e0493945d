package session

import (
	"strconv"
	"strings"
	"syscall"
	"testing"

	"theloop/record"
	"theloop/testdata/harness/harnesslog"
)

// D2: when a person takes the pane of an agent away that does not end of it, no second
// one is started beside it: what is said waits, costs nothing and says which process it
// waits for. The agent is resumed when that has ended.
func TestRealSurvivor(t *testing.T) {
	t.Parallel()
	r := newRig(t, "-ignore-term")
	if got := r.deliver(octoComment("IC_1", "octocat", "first")); got != Done {
		t.Fatal(got)
	}
	pid := harnesslog.Starts(r.records())[0].PID
	t.Cleanup(func() {
		for _, start := range harnesslog.Starts(r.records()) {
			_ = syscall.Kill(start.PID, syscall.SIGKILL)
		}
	})
	r.user("new-session", "-d", "-s", "desk")
	r.user("kill-pane", "-t", r.look().PaneID)
	said := octoComment("IC_2", "octocat", "second")
	if got := r.deliver(said); got != Dropped || len(harnesslog.Starts(r.records())) != 1 {
		t.Fatalf("%s, events %v, %d harnesses", got, r.events, len(harnesslog.Starts(r.records())))
	}
	if row := r.ledger.row(octoRef, "IC_2"); row.State != record.Pending || row.Attempts != 0 {
		t.Errorf("its row is %+v", row)
	}
	if pane := r.host.Look(t.Context(), octoRef, r.ledger.get(octoRef)); pane.State != record.PaneForeign || !strings.Contains(pane.Remedy, strconv.Itoa(pid)) {
		t.Errorf("to those who decide it is %+v", pane)
	}
	if syscall.Kill(pid, 0) != nil {
		t.Error("it was ended")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if got := r.deliver(said); got != Done {
		t.Fatalf("%s, events %v", got, r.events)
	}
	if starts := harnesslog.Starts(r.records()); len(starts) != 2 || starts[1].Resume == "" {
		t.Errorf("started: %+v", starts)
	}
}

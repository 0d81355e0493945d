//go:build unix

package session

import (
	"strconv"
	"strings"
	"testing"

	"theloop/record"
	"theloop/session/tmux"
)

// X4: a start behind a cleanup begins afresh beside the agent that the cleanup has
// let go, in a tmux session of its own.
func TestRealCleanupLetsGo(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.settings.KillHarnessOnClose = false
	if got := r.deliver(octoComment("IC_1", "octocat", "first")); got != Done {
		t.Fatal(got)
	}
	old := r.look()
	if got := r.host.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done {
		t.Fatal(got)
	}
	r.ledger.put(octoRef, record.Command{Control: record.Control{Command: "cleanup"}}, record.DropSession{},
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat"}})
	if got := r.deliver(octoComment("IC_2", "octocat", "second")); got != Done {
		t.Fatal(got)
	}
	fresh := r.look()
	if fresh.State != tmux.Live || fresh.Name != old.Name+"-"+octoRef.SlugHash() || fresh.HarnessSession == old.HarnessSession {
		t.Errorf("the fresh one is %+v", fresh)
	}
	if now := r.tmux.Look(t.Context(), tmux.Target{Name: old.Name}); now.State != tmux.Live || now.Identity != old.Identity {
		t.Errorf("the old one is %+v", now)
	}
	if got := r.deliver(octoComment("IC_3", "octocat", "third")); got != Done {
		t.Fatal(got)
	}
	texts := r.texts(3)
	for i, want := range []string{"first", "second", "third"} {
		if !strings.Contains(texts[i], want) {
			t.Errorf("%d is %q", i, texts[i])
		}
	}
	for _, rec := range r.records() {
		if strings.HasSuffix(old.Identity, "/"+strconv.Itoa(rec.PID)) && strings.Contains(string(rec.Input), "third") {
			t.Error("the old one was told the third")
		}
	}
}

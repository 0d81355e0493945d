//go:build unix

package session

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"theloop/dispatch"
	"theloop/record"
	"theloop/session/tmux"
	"theloop/testdata/harness/harnesslog"
	"theloop/workitem"
)

func octo(number int) workitem.Ref {
	ref := octoRef
	ref.Number = number
	return ref
}

// know makes an item of that number known and started.
func (r *rig) know(ref workitem.Ref) {
	if r.ledger.get(ref).Item.Known() {
		return
	}
	item := octoItem()
	item.Ref = ref
	r.ledger.put(ref, record.Observe{Item: item}, record.FirstSeen{At: time.Now().Add(-time.Hour)},
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat"}})
}

// deliverTo is deliver for any item.
func (r *rig) deliverTo(ctx context.Context, ref workitem.Ref, c workitem.Comment) Result {
	item := octoItem()
	item.Ref = ref
	id := record.CommentDeliveryID(c.ID)
	r.ledger.put(ref, record.Hold{Note: record.NoteOf(c)}, record.Queue{Comment: c.ID, DeliveryID: id, Run: r.host.Run})
	return r.host.Deliver(ctx, Delivery{Ref: ref, DeliveryID: id, Comment: c, Story: Story{Item: item}})
}

// quiet lets several jobs of the host run at once.
func (r *rig) quiet() {
	r.host.Emit = func(event string, fields map[string]any) {
		if why, failed := fields["error"]; failed {
			fmt.Fprintln(&r.warned, event, fields["work_item"], why)
		}
	}
	r.host.pause = func(context.Context, time.Duration) error { return nil }
}

// heardBy are the texts of the harness that was started for an item.
func (r *rig) heardBy(ref workitem.Ref) []string {
	r.t.Helper()
	all := r.records()
	for _, start := range harnesslog.Starts(all) {
		if bytes.Contains(start.Prompt, fmt.Appendf(nil, "%q", ref.String())) {
			return harnesslog.Texts(slices.DeleteFunc(all, func(rec harnesslog.Record) bool { return rec.PID != start.PID }))
		}
	}
	return nil
}

// D6, D1: eight sessions fed at once, with names that begin alike: each pane holds
// exactly its own, in order.
func TestRealNoCrossing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.quiet()
	const each = 50
	refs := []workitem.Ref{octo(1), octo(15), octo(150), octo(2), octo(21), octo(11), octo(51), octo(5)}
	queue := dispatch.New(dispatch.Options{Concurrency: len(refs)})
	defer queue.Stop(time.Minute)
	for _, ref := range refs {
		r.know(ref)
		for n := range each {
			c := octoComment(fmt.Sprintf("IC_%d", n), "octocat", fmt.Sprintf("token-%d-%d.", ref.Number, n))
			queue.Put(dispatch.Job{Ref: ref, ID: c.ID, Run: func(ctx context.Context) error {
				if got := r.deliverTo(ctx, ref, c); got != Done {
					t.Errorf("%s of %s: %s", c.ID, ref, got)
				}
				return nil
			}})
		}
	}
	if err := queue.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.texts(len(refs) * each)
	for _, ref := range refs {
		var got []string
		for _, text := range r.heardBy(ref) {
			got = append(got, data(t, text).Event.Text)
		}
		var want []string
		for n := range each {
			want = append(want, fmt.Sprintf("token-%d-%d.", ref.Number, n))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s:\n%s", ref, diff)
		}
	}
	if left := r.user("list-buffers"); left != "" {
		t.Errorf("buffers are left: %.100s", left)
	}
}

// D6: with #15 alone alive, nothing that is done for #1 reaches it: not a look,
// not a paste, not a close; and #1 gets a session of its own.
func TestRealOnlyTheNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if got := r.deliver(octoComment("IC_1", "octocat", "for fifteen")); got != Done {
		t.Fatal(got)
	}
	fifteen := r.look()
	r.know(octo(1))
	// A row of #1 from another life of the server: its pane number is #15's now.
	r.ledger.put(octo(1), record.PutSession{Session: record.Session{
		Harness: "test", HarnessSessionID: "gone", TmuxTarget: "loop-github-octo-repo-1", Pane: fifteen.PaneID, Identity: "1/2/3",
		Status: record.Active, Host: testHost,
	}})
	if pane := r.host.Look(t.Context(), octo(1), r.ledger.get(octo(1))); pane.State != record.PaneAbsent {
		t.Errorf("a look for #1 finds %+v", pane)
	}
	if outcome, err := r.tmux.Paste(t.Context(), tmux.Paste{
		Look: fifteen, Owner: tmux.OwnerMark(testInstance, octo(1).Key()), Mark: tmux.Mark("x"), Text: []byte("for one"),
	}); outcome != tmux.Skip || err != nil {
		t.Errorf("a paste for #1: %s %v", outcome, err)
	}
	if got := r.host.Close(t.Context(), Close{Ref: octo(1), Reason: "forgotten"}); got != Done {
		t.Errorf("a close for #1: %s", got)
	}
	if now := r.look(); now.State != tmux.Live || now.Identity != fifteen.Identity || len(now.Ring) != 1 {
		t.Errorf("#15 is %+v", now)
	}
	r.host.pause = func(context.Context, time.Duration) error { return nil }
	if got := r.deliverTo(t.Context(), octo(1), octoComment("IC_2", "octocat", "for one")); got != Done {
		t.Errorf("delivered to #1: %s", got)
	}
	r.texts(2)
	if n := len(r.heardBy(octo(15))); n != 1 {
		t.Errorf("#15 heard %d texts", n)
	}
	if all := r.user("list-sessions", "-F", "#{session_name}"); all != "loop-github-octo-repo-1\nloop-github-octo-repo-15" {
		t.Errorf("sessions %q", all)
	}
}

// L3, D6: two state roots with the same item on one tmux server: the second waits
// for the name, and neither touches the other's.
func TestRealTwoRoots(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	if got := r.deliver(octoComment("IC_1", "octocat", "the first root's")); got != Done {
		t.Fatal(got)
	}
	first := r.look()
	self, err := tmux.New(tmux.Options{Instance: "ffff0000", Exe: "/bin/true", Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "TMUX_TMPDIR=" + r.dir, "HOME=" + r.dir}})
	if err != nil {
		t.Fatal(err)
	}
	ledger, ours := newMemory(t), r.ledger
	r.ledger, r.tmux, r.instance = ledger, self, "ffff0000"
	r.know(octoRef)
	second := r.newHost("run-of-the-second")
	r.ledger, r.host = ledger, second
	if got := r.deliver(octoComment("IC_1", "octocat", "the second root's")); got != Dropped {
		t.Errorf("delivered by the second root: %s", got)
	}
	if row := ledger.get(octoRef); row.Session != nil || r.ledger.row(octoRef, "IC_1").Attempts != 0 {
		t.Errorf("the second root spent %+v", r.ledger.row(octoRef, "IC_1"))
	}
	if got := second.Close(t.Context(), Close{Ref: octoRef, Reason: "forgotten"}); got != Done {
		t.Errorf("closed by the second root: %s", got)
	}
	for _, force := range []bool{false, true} {
		if got, err := second.Adopt(t.Context(), Adoption{Ref: octoRef, Force: force}); got != Dropped || err == nil || !strings.Contains(err.Error(), testInstance) {
			t.Errorf("adopted by the second root: %s %v", got, err)
		}
	}
	if n, err := second.Live(t.Context()); n != 0 || err != nil {
		t.Errorf("the second root has %d sessions, %v", n, err)
	}
	if err := self.Sweep(t.Context()); err != nil {
		t.Error(err)
	}
	r.ledger = ours
	if now := r.look(); now.Identity != first.Identity || now.Owner != octoOwner || len(now.Ring) != 1 || len(r.texts(1)) != 1 {
		t.Errorf("the first root's is %+v", now)
	}
}

package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"theloop/policy"
	"theloop/record"
	"theloop/session/tmux"
	"theloop/workitem"
)

// board is a tracker: what was posted on it, and the reactions in their order.
type board struct {
	thread    []workitem.Comment
	reactions []string
	fails     error
	// lost says that a post arrives and its answer does not.
	lost bool
}

var self = workitem.Author{Login: "the-bot", ID: 7}

func (b *board) Comments(_ context.Context, i workitem.Item) ([]workitem.Comment, error) {
	if i.Ref.Zero() || i.Kind == "" {
		return nil, fmt.Errorf("asked for the comments of %+v", i)
	}
	return slices.Clone(b.thread), b.fails
}

func (b *board) Post(_ context.Context, _ workitem.Ref, body string) (string, error) {
	if b.fails != nil {
		return "", b.fails
	}
	id := fmt.Sprintf("IC_said%d", len(b.thread))
	b.thread = append(b.thread, workitem.Comment{ID: id, Author: self, Body: body})
	if b.lost {
		return "", errors.New("unexpected EOF")
	}
	return id, nil
}

func (b *board) React(_ context.Context, _ workitem.Ref, c workitem.Comment, reaction string) error {
	if b.fails != nil {
		return b.fails
	}
	b.reactions = append(b.reactions, c.ID+" "+reaction)
	return nil
}

func (b *board) Self(context.Context) (workitem.Author, error) { return self, nil }

func (b *board) announcements() int {
	n := 0
	for _, c := range b.thread {
		if c.Author == self && strings.Contains(c.Body, "the-loop:announced") {
			n++
		}
	}
	return n
}

// posting lets the world's hosts post on a board; what is posted waits for
// posted to be called.
func (w *world) posting() *board {
	b := &board{}
	w.settings.Announce = true
	w.settings.Reactions = Reactions{Started: "eyes", Completed: "hooray", Error: "confused"}
	w.attach(w.host, b)
	return b
}

func (w *world) attach(h *Host, b *board) {
	h.Tracker = func(workitem.Ref) (Tracker, bool) { return b, true }
	h.Later = func(_ workitem.Ref, id string, f func(context.Context) error) bool {
		w.posts = append(w.posts, f)
		w.postIDs = append(w.postIDs, id)
		return true
	}
}

// posted does what was put off.
func (w *world) posted() {
	w.t.Helper()
	posts := w.posts
	w.posts = nil
	for _, post := range posts {
		_ = post(w.t.Context()) // the events tell
	}
}

// D12: a spawned session is announced once, with its name and how to attach, and
// nothing else; a respawn, a pasted comment and an adoption are not.
func TestAnnouncedOnce(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	for i, id := range []string{"IC_1", "IC_2", "IC_3"} {
		if got := w.deliver(w.queued(id)); got != Done {
			t.Fatal(got)
		}
		if i == 1 {
			w.tmux.die(w.tmux.panes[0], "exit 0", true) // the third is a respawn
		}
		w.posted()
	}
	if b.announcements() != 1 || len(b.thread) != 1 {
		t.Fatalf("the thread holds %+v", b.thread)
	}
	body := b.thread[0].Body
	golden(t, "announcement.golden", strings.TrimSuffix(body, "\n"))
	if !policy.SelfAuthored(body) { // A2
		t.Error("it would be taken for a person's")
	}
	s := w.ledger.get(octoRef).Session
	for _, secret := range []string{"please do", "octocat", octoItem().Title, s.HarnessSessionID, s.Cwd, w.settings.Workdir, testHost, testInstance, s.Pane} {
		if secret == "" || strings.Contains(body, secret) {
			t.Errorf("it holds %q:\n%s", secret, body)
		}
	}
	if s.Announced != "poll-comment-IC_1" || !w.emitted("session.announced") {
		t.Errorf("the row says %q, events %v", s.Announced, w.events)
	}
}

// D12: which sessions are announced.
func TestWhatIsAnnounced(t *testing.T) {
	shut := record.SetStatus{Status: record.Shut, At: noon}
	for _, c := range []struct {
		name string
		make func(*world)
		want int
	}{
		{"a spawn without a comment's words", func(*world) {}, 1},
		{"a live one", func(w *world) { w.live() }, 0},
		{"a respawn", func(w *world) { w.dead() }, 0},
		{"stopped and started again: the conversation goes on", func(w *world) { w.dead(); w.ledger.put(octoRef, shut) }, 0},
		{"stopped, cleaned up and started again: a new one", func(w *world) { w.dead(); w.ledger.put(octoRef, shut, record.DropSession{}); w.tmux.panes = nil }, 1},
		{"the same, and the old terminal is there to be read", func(w *world) {
			w.dead()
			w.ledger.put(octoRef, shut, record.DropSession{}, record.Command{Control: record.Control{Command: "start", Source: "cli"}})
		}, 1},
		{"closed before the item was opened again, by a harness that names none: a new one (P8)", func(w *world) {
			w.settings.Harness = "cursor"
			w.ledger.put(octoRef, record.PutSession{Session: record.Session{Harness: "cursor", Status: record.Shut, Host: testHost, EndedAt: noon.Add(-2 * time1h)}})
		}, 1},
		{"the resumed one died at once: a fresh one in its place", func(w *world) { w.dead(); w.tmux.exit = []string{"exit 1"} }, 0},
		{"it is turned off", func(w *world) { w.settings.Announce = false }, 0},
		{"the item has no tracker any more", func(w *world) { w.host.Tracker = func(workitem.Ref) (Tracker, bool) { return nil, false } }, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			b := w.posting()
			c.make(w)
			w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
			if got := w.host.Spawn(t.Context(), Spawn{Ref: octoRef, DeliveryID: "poll-spawn-1", Story: Story{Item: octoItem()}}); got != Done {
				t.Fatal(got)
			}
			w.posted()
			if n := b.announcements(); n != c.want {
				t.Errorf("%d announcements", n)
			}
		})
	}
}

// D12: killed or failing anywhere between the spawn and the ledger's knowing of
// the post, it is announced once: what may have arrived is looked for first.
func TestAnnouncedOnceThroughFaults(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*world, *board)
		want int // before the next start
	}{
		{"killed before the post", func(w *world, _ *board) { w.posts = nil }, 0},
		{"killed behind the post", func(w *world, _ *board) { w.killed("announced", w.posted) }, 1},
		{"the tracker is down", func(w *world, b *board) { b.fails = errors.New("502"); w.posted(); b.fails = nil }, 0},
		{"it arrives and the answer is lost", func(w *world, b *board) { b.lost = true; w.posted(); b.lost = false }, 1},
		{"the commit of it is lost", func(w *world, _ *board) {
			w.ledger.before = once(isAnnounce, func() error { return record.ErrUnknown })
			w.posted()
		}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			b := w.posting()
			if got := w.deliver(w.queued("IC_1")); got != Done {
				t.Fatal(got)
			}
			// Anybody can write the marker; it counts from our own account alone.
			b.thread = append(b.thread, octoComment("IC_9", "mallory", "<!-- the-loop:announced poll-comment-IC_1 -->"))
			c.make(w, b)
			if n := b.announcements(); n != c.want {
				t.Errorf("%d announcements before the next start", n)
			}
			w.host = w.newHost("run-2")
			w.attach(w.host, b)
			for range 2 {
				if err := w.host.Announce(t.Context(), []workitem.Ref{octoRef}); err != nil {
					t.Fatal(err)
				}
				w.posted()
			}
			if s := w.ledger.get(octoRef).Session; b.announcements() != 1 || s.Announced != "poll-comment-IC_1" {
				t.Errorf("%d announcements, the row says %q", b.announcements(), s.Announced)
			}
		})
	}
}

func isAnnounce(c record.Change) bool { _, ok := c.(record.Announce); return ok }

// D12: a session whose process was killed between its spawn and its commit is
// announced when it is taken over.
func TestAdoptedSpawnIsAnnounced(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	c := w.queued("IC_1")
	w.killed("proved", func() { w.deliver(c) })
	w.posts = nil
	w.ledger.put(octoRef, record.Deliver{Comment: "IC_1"})
	w.host = w.newHost("run-2")
	w.attach(w.host, b)
	if got, err := w.host.Adopt(t.Context(), Adoption{Ref: octoRef}); got != Done || err != nil {
		t.Fatal(got, err)
	}
	w.posted()
	if b.announcements() != 1 || !strings.Contains(b.thread[0].Body, "announced poll-comment-IC_1 ") {
		t.Errorf("the thread holds %+v", b.thread)
	}
}

// D12: a program of somebody else's that is taken over under our marks was not
// spawned, whatever its pane's ring says.
func TestTakenOverIsNotAnnounced(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	w.ledger.put(octoRef, record.QueueSpawn{DeliveryID: "poll-spawn-1", Run: testRun})
	w.tmux.add(tmux.Look{
		State: tmux.Live, Name: "loop-github-octo-repo-15", Owner: octoOwner, StartCommand: "vim",
		Ring: []string{record.Mark("poll-spawn-1")},
	})
	if got, err := w.host.Adopt(t.Context(), Adoption{Ref: octoRef, Force: true}); got != Done || err != nil {
		t.Fatal(got, err)
	}
	w.posted()
	if n := b.announcements(); n != 0 {
		t.Errorf("%d announcements", n)
	}
}

// D12: an announcement that comes too late, when the session has ended, is not
// made; a failing one is an event and fails nothing.
func TestAnnouncementsThatAreNotMade(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	b.fails = errors.New("403: read-only token")
	if got := w.deliver(w.queued("IC_1")); got != Done {
		t.Fatal(got)
	}
	w.posted()
	if f := w.fields["session.announce_failed"]; f["delivery_id"] != "poll-comment-IC_1" || !strings.Contains(fmt.Sprint(f["error"]), "read-only token") {
		t.Errorf("the event is %v", f)
	}
	if f := w.fields["reaction.failed"]; f["comment_id"] != "IC_1" || f["error"] == "" {
		t.Errorf("the event is %v", f)
	}
	if row := w.ledger.row(octoRef, "IC_1"); row.State != record.Delivered {
		t.Errorf("the comment is %s", row.State)
	}
	b.fails = nil
	if err := w.host.Announce(t.Context(), []workitem.Ref{octoRef}); err != nil {
		t.Fatal(err)
	}
	w.ledger.put(octoRef, record.SetStatus{Status: record.Shut, At: noon})
	w.posted()
	if b.announcements() != 0 {
		t.Error("a session that has ended was announced")
	}
}

// D12: a comment is answered when its delivery starts and when it has come to an
// end: completed, or failed for good. Not twice, and never in the queue's way.
func TestReactions(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(*world)
		want string
	}{
		{"delivered", func(w *world) { w.live(); w.deliver(w.queued("IC_1")) }, "eyes hooray"},
		{"spawned with", func(w *world) { w.deliver(w.queued("IC_1")) }, "eyes hooray"},
		{"refused once: one start", func(w *world) {
			w.live()
			w.tmux.script["paste"] = []string{"skip"}
			w.deliver(w.queued("IC_1"))
		}, "eyes hooray"},
		{"failed, and then delivered", func(w *world) {
			w.live()
			w.tmux.script["paste"] = []string{"skip", "skip"}
			c := w.queued("IC_1")
			w.deliver(c)
			w.ledger.put(octoRef, queue("IC_1"))
			w.deliver(c)
		}, "eyes hooray"},
		{"failed for good", func(w *world) {
			w.live()
			w.settings.MaxRetries = 1
			w.tmux.script["paste"] = []string{"skip", "skip"}
			w.deliver(w.queued("IC_1"))
		}, "eyes confused"},
		{"no answer: nothing is said of the end", func(w *world) {
			w.live()
			w.tmux.script["paste"] = []string{"never"}
			w.deliver(w.queued("IC_1"))
		}, "eyes"},
		{"stopped before it starts", func(w *world) {
			w.live()
			c := w.queued("IC_1")
			w.ledger.put(octoRef, record.Command{Control: record.Control{Command: "stop"}})
			w.deliver(c)
		}, ""},
		{"turned off, one by one", func(w *world) {
			w.live()
			w.settings.Reactions = Reactions{Completed: "heart"}
			w.deliver(w.queued("IC_1"))
		}, "heart"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			b := w.posting()
			c.do(w)
			if len(b.reactions) != 0 {
				t.Errorf("the delivery waited for %q (C6)", b.reactions)
			}
			w.posted()
			var want []string
			for _, reaction := range strings.Fields(c.want) {
				want = append(want, "IC_1 "+reaction)
			}
			if !slices.Equal(b.reactions, want) {
				t.Errorf("%q", b.reactions)
			}
			kept := 0
			w.host.begun.Range(func(any, any) bool { kept++; return true })
			if over := strings.Contains(c.want, "hooray") || strings.Contains(c.want, "confused"); over && kept != 0 {
				t.Errorf("what is over is kept: %d", kept)
			}
			if ids := slices.Sorted(slices.Values(w.postIDs)); len(slices.Compact(ids)) != len(w.postIDs) {
				t.Errorf("an id comes twice: %q", w.postIDs)
			}
		})
	}
}

// D12: nothing is posted where there is nowhere to.
func TestWithoutATracker(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	w.host.Later = nil
	if got := w.deliver(w.queued("IC_1")); got != Done || len(b.thread)+len(b.reactions) != 0 {
		t.Errorf("%s, %+v", got, b)
	}
}

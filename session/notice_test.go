package session

import (
	"errors"
	"strings"
	"testing"

	"theloop/policy"
	"theloop/record"
)

func (b *board) notices() int {
	n := 0
	for _, c := range b.thread {
		if c.Author == self && strings.Contains(c.Body, "the-loop:notice") {
			n++
		}
	}
	return n
}

// gaveUp is a comment that was given up and owes its notice.
func (w *world) gaveUp(id string) {
	w.queued(id)
	w.ledger.put(octoRef, record.Fail{Comment: id}, record.GiveUp{Comment: id, Version: "v1.0.0"})
}

// B3: one notice, with the marker and without a word of the comment; the row
// says that it is posted.
func TestAGiveUpIsNoticedOnce(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	w.gaveUp("IC_1")
	for range 2 {
		w.host.Notify(octoRef, "IC_1")
		w.posted()
	}
	if b.notices() != 1 {
		t.Fatalf("%d notices stand on the item", b.notices())
	}
	body := b.thread[0].Body
	for _, part := range []string{"<!-- the-loop:notice IC_1 v1.0.0 -->", "<!-- the-loop:agent-comment -->", "IC_1", "attempts: 1", "no person did"} {
		if !strings.Contains(body, part) {
			t.Errorf("the notice lacks %q:\n%s", part, body)
		}
	}
	if row := w.ledger.row(octoRef, "IC_1"); row.Notice != record.NoticePosted {
		t.Errorf("the row says %q", row.Notice)
	}
}

// B3, A5, A2: what is said on an item, word for word: marked as ours, and without
// a word of what somebody wrote there.
func TestGoldenNotices(t *testing.T) {
	const words = "correct horse battery staple"
	settled := func(w *world) {
		w.ledger.put(octoRef, record.Settle{Note: record.NoteOf(octoComment("IC_1", "octocat", words)), Outcome: record.TooLong, Version: "v1.0.0"})
	}
	for _, c := range []struct {
		file, comment string
		owe           func(*world)
	}{
		{"notice.golden", "IC_1", func(w *world) { w.gaveUp("IC_1") }},
		{"notice-too-long.golden", "IC_1", settled},
		{"notice-spawn.golden", "", func(w *world) {
			w.ledger.put(octoRef,
				record.Command{Control: record.Control{Command: "start", Actor: "octocat", Note: "https://github.com/octo/repo/issues/15#IC_9"}},
				record.QueueSpawn{DeliveryID: "poll-spawn-github-octo-repo-15-1", Run: testRun}, record.Fail{}, record.GiveUpSpawn{Version: "v1.0.0"})
		}},
	} {
		t.Run(c.file, func(t *testing.T) {
			w := newWorld(t)
			b := w.posting()
			c.owe(w)
			w.host.Notify(octoRef, c.comment)
			w.posted()
			if b.notices() != 1 {
				t.Fatalf("%d notices stand on the item", b.notices())
			}
			body := b.thread[0].Body
			golden(t, c.file, strings.TrimSuffix(body, "\n"))
			if !policy.SelfAuthored(body) {
				t.Error("it would be taken for a person's")
			}
			for _, theirs := range []string{words, "please do", "octocat", octoItem().Title} {
				if strings.Contains(body, theirs) {
					t.Errorf("it holds %q of what somebody wrote", theirs)
				}
			}
		})
	}
}

// B3, story 9: killed between the post and its record, it is not posted again.
func TestANoticeIsReadBackBeforeItIsPosted(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	b.lost = true // it arrives, and the answer does not
	w.gaveUp("IC_1")
	w.host.Notify(octoRef, "IC_1")
	w.posted()
	b.lost = false
	w.host.Notify(octoRef, "IC_1")
	w.posted()
	if row := w.ledger.row(octoRef, "IC_1"); b.notices() != 1 || row.Notice != record.NoticePosted {
		t.Errorf("%d notices, the row says %q", b.notices(), row.Notice)
	}
}

// A2: somebody else's marker is no proof.
func TestAStrangersNoticeIsNoProof(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	w.gaveUp("IC_1")
	b.thread = append(b.thread, octoComment("IC_9", "mallory", "<!-- the-loop:notice IC_1 v1.0.0 -->"))
	w.host.Notify(octoRef, "IC_1")
	w.posted()
	if b.notices() != 1 {
		t.Error("a stranger kept the notice away")
	}
}

// Story 19: another release's give-up has a notice of its own; a re-armed one
// has none.
func TestANoticeIsOfItsRelease(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	w.gaveUp("IC_1")
	w.host.Notify(octoRef, "IC_1")
	w.posted()
	w.ledger.put(octoRef, record.Rearm{Comment: "IC_1"})
	w.host.Notify(octoRef, "IC_1")
	w.posted()
	if b.notices() != 1 {
		t.Fatal("a re-armed comment was given notice of")
	}
	w.ledger.put(octoRef, record.Queue{Comment: "IC_1", DeliveryID: "d", Run: "r"}, record.Fail{Comment: "IC_1"}, record.GiveUp{Comment: "IC_1", Version: "v1.0.1"})
	w.host.Notify(octoRef, "IC_1")
	w.posted()
	if b.notices() != 2 {
		t.Error("the second give-up has no notice")
	}
}

// A failing post leaves the notice owed.
func TestAFailedNoticeStaysOwed(t *testing.T) {
	w := newWorld(t)
	b := w.posting()
	b.fails = errors.New("502")
	w.gaveUp("IC_1")
	w.host.Notify(octoRef, "IC_1")
	w.posted()
	if row := w.ledger.row(octoRef, "IC_1"); row.Notice != record.NoticeOwed || !w.emitted("poll.giveup_report_failed") {
		t.Errorf("the row says %q", row.Notice)
	}
}

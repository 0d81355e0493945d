package poller

import (
	"fmt"
	"testing"

	"theloop/policy"
	"theloop/record"
	"theloop/workitem"
)

// about returns the last event of a name: the item that it is about, and why.
func (w *world) about(name string) string {
	last := ""
	for _, e := range w.events {
		if e.Name == name {
			last = fmt.Sprintf("%v: %v", e.Fields["work_item"], e.Fields["reason"])
		}
	}
	return last
}

// R2: a session that is paused or set going again is told of, whoever asked and
// wherever, as the session that it is; what changes nothing is not.
func TestAPauseAndItsEndAreTold(t *testing.T) {
	w, _, item, pull := reviewed(t)
	w.review(pull, "octocat", "the-loop pause")
	w.cycle()
	if got := w.about("session.paused"); got != item.String()+": pause" {
		t.Errorf("paused on the pull request: %q", got)
	}
	if _, err := w.obey(item, policy.Resume); err != nil {
		t.Fatal(err)
	}
	if got := w.about("session.resumed"); got != item.String()+": resume" {
		t.Errorf("resumed from here: %q", got)
	}
	if _, err := w.obey(item, policy.Start); err != nil {
		t.Fatal(err)
	}
	w.change(item, record.Command{Control: record.Control{Command: "pause"}}) // before its session was there
	w.cycle()
	w.quietCycle()
	if p, r := w.told("session.paused"), w.told("session.resumed"); p != 2 || r != 1 {
		t.Errorf("%d pauses, %d resumes", p, r)
	}
	for _, e := range w.events {
		if e.Name == "session.paused" && e.Fields["harness"] != "claude" {
			t.Errorf("%+v", e.Fields)
		}
	}
}

// P9, R2: a repository that answers under another name is told of once a run.
func TestAMovedRepositoryIsToldOnce(t *testing.T) {
	w := newWorld(t)
	w.open(1, "octocat")
	moved := workitem.MovedError{From: "octo/repo", To: "octo/new"}
	w.src.listErr = fmt.Errorf("list issues: %w", &moved)
	for range 2 {
		if r := w.cycle(); len(r.Errors) != 1 {
			t.Fatalf("%v", r.Errors)
		}
	}
	w.src.listErr, w.src.bad = nil, []workitem.ItemError{{Ref: issue(2), Err: &workitem.MovedError{From: "octo/repo", To: "octo/newer"}}}
	w.cycle()
	if n := w.told("poll.repo_moved"); n != 2 {
		t.Errorf("told %d times", n)
	}
	w.restart("run-2", "v1.0.0")
	w.cycle()
	if e := w.events[len(w.events)-3]; w.told("poll.repo_moved") != 3 || e.Fields["from"] != "octo/repo" || e.Fields["to"] != "octo/newer" {
		t.Errorf("told %d times, %+v", w.told("poll.repo_moved"), e)
	}
}

// P3, R2: what a stranger's fork points at is not looked at, which is told once.
func TestAStrangersForkIsToldOnce(t *testing.T) {
	w := newWorld(t)
	f := w.forged()
	item := w.started()
	for n, author := range map[int]string{7: "mallory", 8: "octocat", 9: "mallory"} {
		links := workitem.Links{Closes: []workitem.Ref{item}, ForeignHead: true}
		if n == 9 {
			links.Closes = nil // it points at nothing
		}
		w.pull(f, n, author, links)
	}
	for range 2 {
		w.cycle()
		w.touch(issue(7))
	}
	if got := w.told("routing.linkage_dropped"); got != 1 {
		t.Errorf("told %d times", got)
	}
}

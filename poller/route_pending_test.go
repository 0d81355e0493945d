package poller

import (
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// D1: a session on its way up has one place, however many items wait for it.
func TestItemsThatShareASessionTakeOnePlace(t *testing.T) {
	w, _, item, pull := reviewed(t)
	w.max = 2
	w.pane(item, record.PaneDead, "life-1")
	first, second := w.say(item, "octocat", "a wish"), w.review(pull, "octocat", "another")
	w.cycle()
	if held := w.held[item.Key()]; len(held) != 2 {
		t.Fatalf("%q are queued for the session", held)
	}
	other := w.open(2, "octocat")
	w.say(other, "octocat", "the-loop start")
	w.cycle()
	w.wantFor(
		"deliver poll-comment-"+first+": #1 for #1", "deliver poll-comment-"+second+": #7 for #1",
		"spawn "+record.SpawnDeliveryID(other, 1)+": #2 for #2",
	)
}

// B2, D3: a close waits for what may still reach the session, whoever's row it is
// and wherever the stop was said.
func TestAStopOnThePullRequestWaitsForADeadline(t *testing.T) {
	for _, whose := range []string{"its own", "its target's"} {
		t.Run(whose, func(t *testing.T) {
			w, _, item, pull := reviewed(t)
			of := item
			id := w.say(item, "octocat", "a wish")
			if whose == "its own" {
				w.cycle()
				w.deliver(item, id)
				of, id = pull, w.review(pull, "octocat", "a wish")
			}
			w.cycle()
			w.change(of, record.Start{Comment: id, On: "life-1", Until: w.now.Add(90 * time.Second)})
			w.take() // an earlier process had it
			w.review(pull, "octocat", "the-loop stop")
			w.cycle()
			w.wantFor()
			if c := w.records[item.Key()].Item.Control; c.Command != "stop" {
				t.Fatalf("recorded %+v", c)
			}
			w.now = w.now.Add(time.Minute)
			w.cycle()
			w.wantFor("close close: #1 for #1")
		})
	}
}

// B2: a session that a pull request was to have for itself, before a person named
// its target, is not judged by the target's pane.
func TestATargetsPaneIsNoVerdictOnThePullRequestsOwnSpawn(t *testing.T) {
	w, _, _, pull := reviewed(t)
	rec := w.records[pull.Key()]
	rec.Item.Spawn = record.Spawn{N: 1, Delivery: record.Delivery{
		Attempts: 1, DeliveryID: record.SpawnDeliveryID(pull, 1), Run: "run-0", StartedOn: record.OnNewPane, Until: w.now,
	}}
	link := *rec.Link
	link.Source = linkByHand
	rec.Link, rec.Item.Kind = &link, workitem.PullRequest
	w.records[pull.Key()] = rec
	id := w.review(pull, "octocat", "a wish")
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
	if got := w.records[pull.Key()].Item.Spawn; got != rec.Item.Spawn || w.told("poll.recovered") > 0 {
		t.Errorf("its spawn is %+v, told of %d recoveries", got, w.told("poll.recovered"))
	}
}

// P3, I4: a pull request that is having a session of its own is nobody else's, also
// while its ledger has no row of it: the answer to its start was lost, and what it
// closes was edited meanwhile.
func TestASessionOnItsWayIsNotLeftBehindByALink(t *testing.T) {
	for _, by := range []string{"by itself", "by a comment"} {
		t.Run(by, func(t *testing.T) {
			w := newWorld(t)
			w.policy.RequireStart = false
			f := w.forged()
			item := w.open(1, "octocat")
			w.cycle()
			w.bringUp(item)
			w.max = 1
			pull := w.pull(f, 7, "octocat", workitem.Links{})
			w.cycle() // there is no room for it yet
			w.max = 8
			start, id := record.Start{On: record.OnNewPane, Until: w.now.Add(61 * time.Second)}, record.SpawnDeliveryID(pull, 1)
			if by == "by a comment" {
				start.Comment = w.review(pull, "octocat", "hello")
				id = record.CommentDeliveryID(start.Comment)
			}
			w.cycle()
			w.wantFor(map[string]string{"by itself": "spawn ", "by a comment": "deliver "}[by] + id + ": #7 for #7")
			w.change(pull, start)
			f.links[pull.Key()] = workitem.Links{Closes: []workitem.Ref{item}}
			w.pane(pull, record.PaneLive, "life-9", id)
			w.touch(pull)
			w.cycle()
			w.cycle()
			w.wantFor("adopt adopt: #7 for #7")
			if link := w.records[pull.Key()].Link; link != nil {
				t.Errorf("linked to %s", link.Target)
			}
		})
	}
}

// P3: a comment that an earlier program delivered says nothing of a session now.
func TestAnImportedPullRequestIsRouted(t *testing.T) {
	w := newWorld(t)
	f := w.forged()
	item := w.started()
	pull := w.pull(f, 7, "octocat", workitem.Links{Closes: []workitem.Ref{item}})
	w.change(pull, record.Import{
		Item: record.Item{
			Ref: pull.String(), Kind: workitem.PullRequest, Source: w.src.ID(), FirstSeenAt: w.now,
			Spawn: record.Spawn{Delivery: record.Delivery{Attempts: 1, DeliveryID: "their own"}},
		},
		Comments: []record.Comment{{
			ID: "old", State: record.Delivered, Delivery: record.Delivery{DeliveryID: record.CommentDeliveryID("old")}, Seq: 1,
		}},
	})
	id := w.review(pull, "octocat", "please add a test")
	w.cycle()
	w.wantFor("deliver poll-comment-" + id + ": #7 for #1")
}

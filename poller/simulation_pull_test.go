package poller

import (
	"context"
	"errors"
	"slices"

	"theloop/record"
	"theloop/workitem"
)

// pullRequest is one that may close an item, so that two of them share a session
// (P3). Anybody can make one from elsewhere.
func (s *sim) pullRequest() {
	closes := pick(s, "a pull request", "closes", "closes", "closes nothing", "there is none")
	if closes == "there is none" {
		return
	}
	l := workitem.Links{}
	if closes == "closes" {
		l.Closes = []workitem.Ref{issue(1)}
	}
	author := pick(s, "made by", "octocat", "octocat", "mallory")
	l.ForeignHead = author == "mallory"
	ref := s.pull(s.forge, 7, author, l)
	s.set(ref, func(i *workitem.Item) { i.Labelled = pick(s, "it is labelled", true, false) })
	s.tmux[ref.Key()] = &terminal{state: record.PaneAbsent}
	s.note("%s: a pull request of %s closes %v", ref, author, l.Closes)
}

// relink edits what a pull request says that it closes.
func (s *sim) relink() {
	for key, l := range s.forge.links {
		l.Closes = pick(s, "it closes", nil, []workitem.Ref{issue(1)}, []workitem.Ref{issue(2), issue(1)})
		s.forge.links[key] = l
		s.note("  %s closes %v", key, l.Closes)
	}
}

// session is whose session a job is for.
func (t *task) session() workitem.Ref {
	if t.e.Session.Zero() {
		return t.e.Ref
	}
	return t.e.Session
}

// sharing are the records of what goes into a session beside the item itself.
func (s *sim) sharing(session workitem.Ref) (others []record.Record) {
	for _, item := range s.src.items {
		rec := s.records[item.Ref.Key()]
		if rec.Link != nil && rec.Link.Target == session.String() {
			others = append(others, rec)
		}
	}
	return others
}

// others is what else goes into the session of a job (B8).
func (s *sim) others(t *task) (others []record.Record) {
	if t.session() != t.e.Ref {
		others = append(others, s.records[t.session().Key()])
	}
	for _, rec := range s.sharing(t.session()) {
		if rec.Item.Ref != t.e.Ref.String() {
			others = append(others, rec)
		}
	}
	return others
}

// aside is what a commit writes of a second record.
type aside struct {
	ref     workitem.Ref
	rev     uint64
	changes []record.Change
}

// Commit is the poller's; the workers have their own way to the same ledger.
func (s *sim) Commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change) ([]record.Change, error) {
	applied, _, err := s.commit(ctx, ref, rev, changes, nil)
	return applied, err
}

func (s *sim) CommitBoth(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change,
	target workitem.Ref, targetRev uint64, ofTarget []record.Change,
) ([]record.Change, []record.Change, error) {
	return s.commit(ctx, ref, rev, changes, &aside{target, targetRev, ofTarget})
}

func (s *sim) commit(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change, also *aside) (applied, alsoApplied []record.Change, err error) {
	s.call()
	if s.dead {
		return nil, nil, errDead
	}
	applied, alsoApplied, err = s.write(ctx, ref, rev, changes, also)
	s.call()
	if s.dead {
		return nil, nil, errDead
	}
	return applied, alsoApplied, err
}

// write is one transaction; a disk that fails leaves it unknown whether it was
// applied (B9).
func (s *sim) write(ctx context.Context, ref workitem.Ref, rev uint64, changes []record.Change, also *aside) (applied, alsoApplied []record.Change, err error) {
	disk := s.disk
	s.disk = ""
	if disk == "disk, not applied" {
		return nil, nil, record.ErrUnknown
	}
	before, other := s.records[ref.Key()], record.Record{}
	if also == nil {
		applied, err = s.world.Commit(ctx, ref, rev, changes)
	} else {
		other = s.records[also.ref.Key()]
		applied, alsoApplied, err = s.world.CommitBoth(ctx, ref, rev, changes, also.ref, also.rev, also.changes)
	}
	if err != nil {
		if errors.Is(err, record.ErrIllegal) {
			s.fail("an illegal commit: %v", err)
		}
		return nil, nil, err
	}
	s.passed = []record.Record{other}
	if also != nil {
		s.checkChanges(also.ref, other, alsoApplied)
		for n := range alsoApplied {
			step, _, _ := record.Apply(other, alsoApplied[:n+1])
			s.passed = append(s.passed, step)
		}
	}
	s.checkChanges(ref, before, applied)
	if disk != "" {
		return nil, nil, record.ErrUnknown
	}
	return applied, alsoApplied, nil
}

// owners are the records that may be whose session takes what is said on an item:
// in what its transaction made of them, step by step.
func (s *sim) owners(rec record.Record) []record.Record {
	owners := []record.Record{rec}
	if rec.Link == nil {
		return owners
	}
	if to, err := workitem.ParseRef(rec.Link.Target); err == nil {
		owners = append(owners, s.records[to.Key()])
	}
	for _, step := range s.passed {
		if step.Item.Ref == rec.Link.Target {
			owners = append(owners, step)
		}
	}
	return owners
}

// checkOrder: what starts is the oldest that waits for its session, on whichever
// item it was said (I7).
func (s *sim) checkOrder(t *task, row record.Comment) {
	older := slices.ContainsFunc(s.others(t), func(rec record.Record) bool {
		pending := rec.Comments.Pending()
		return !stray(rec) && len(pending) > 0 && pending[0].Position().Compare(row.Position()) < 0
	})
	if older {
		s.fail("I7: %s starts before what was said elsewhere", row.ID)
	}
}

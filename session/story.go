package session

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"theloop/record"
	"theloop/workitem"
)

// What a prompt tells beside what was read for the decision to send it (D10).

// errUntold is why a conversation cannot begin yet: the item that it is about
// could not be read.
var errUntold = errors.New("its item cannot be read")

// retell tells of the item whose conversation begins, where only the pull request
// that the comment stands on was read for the decision.
func (j *job) retell(ctx context.Context, v view) error {
	if !j.elsewhere() || j.Tell == nil || j.story.Pull != nil {
		return nil
	}
	owner, err := j.Tell(ctx, j.session, v.owner)
	if err != nil {
		return fmt.Errorf("begin the conversation of %s: %w: %w", j.session, errUntold, err)
	}
	pull := j.story.Item
	owner.Pull, owner.Thread = &pull, slices.Concat(owner.Thread, j.story.Thread)
	workitem.SortThread(owner.Thread)
	owner.Withheld += j.story.Withheld
	j.story = owner
	return nil
}

// pullStory is what was said on a pull request of the item whose session it is.
type pullStory struct {
	Story
	rec record.Record
}

// readPulls reads the item's pull requests but for the attempt's own, once. One
// that cannot be read is left out (P5).
func (j *job) readPulls(ctx context.Context) []pullStory {
	if j.Tell == nil || j.pullsRead {
		return j.pulls
	}
	j.pullsRead = true
	linked, err := j.Ledger.Linked(ctx, j.session)
	if err != nil {
		j.Log.Debug("not all pull requests of a session can be read", "work_item", j.session.String(), "error", err)
	}
	for _, ref := range linked {
		if ref.Key() == j.ref.Key() {
			continue
		}
		pull := pullStory{}
		if pull.rec, err = j.Ledger.Record(ctx, ref); err == nil {
			pull.Story, err = j.Tell(ctx, ref, pull.rec)
		}
		if err != nil {
			j.Log.Warn("what was said on a pull request is not told to the session of its item", "work_item", ref.String(), "error", err)
			continue
		}
		j.pulls = append(j.pulls, pull)
	}
	return j.pulls
}

// tellPulls tells a conversation that begins what was said on its item's pull
// requests: whoever reviewed them spoke to the one before.
func (j *job) tellPulls(ctx context.Context) {
	if j.pullsTold {
		return
	}
	j.pullsTold = true
	for _, pull := range j.readPulls(ctx) {
		j.story.Thread = slices.Concat(j.story.Thread, pull.Thread)
		j.story.Withheld += pull.Withheld
	}
	workitem.SortThread(j.story.Thread)
}

// findCause takes the comment that started the item for what is said: the words
// beside a start reach the session that it brings up, whether that begins a
// conversation or goes on with one (X6). It may stand on a pull request. Where
// another comment brings the session up, they are told beside that one to a
// conversation that goes on; one that begins has them in its thread.
func (j *job) findCause(ctx context.Context, v view, goesOn bool) error {
	c := v.owner.Item.Control
	if j.row != "" && !goesOn {
		j.cause = nil
		return nil
	}
	if goesOn && j.earlier == nil && c.Arming() && (j.row == "" || !c.Served) {
		if err := j.findEarlier(ctx, v, c.Note); err != nil {
			return err
		}
	}
	if j.cause != nil || !c.Arming() || c.Source != "comment" || c.Note == "" || j.row != "" && c.Served {
		return nil
	}
	if j.row != "" {
		return j.findBefore(ctx, v, *c)
	}
	if j.cause = takeCause(&j.story, v.owner, *c); j.cause != nil {
		return nil
	}
	pulls := j.readPulls(ctx)
	for i := range pulls {
		if j.cause = takeCause(&pulls[i].Story, pulls[i].rec, *c); j.cause != nil {
			item := pulls[i].Item
			j.story.Pull = &item
			return nil
		}
	}
	return nil
}

// findBefore looks for the comment that started the item beside the one that is
// delivered, and leaves the stories as they are.
func (j *job) findBefore(ctx context.Context, v view, control record.Control) error {
	if j.comment != nil && j.comment.URL == control.Note {
		return nil // it is that comment
	}
	stories := []pullStory{{Story: j.story, rec: v.rec}}
	if j.elsewhere() && j.Tell != nil {
		owner, err := j.readOwner(ctx, v)
		if err != nil {
			return err
		}
		stories = append(stories, owner)
	}
	for _, s := range stories {
		if j.cause = takeCause(&s.Story, s.rec, control); j.cause != nil {
			return nil
		}
	}
	for _, s := range j.readPulls(ctx) {
		if j.cause = takeCause(&s.Story, s.rec, control); j.cause != nil {
			return nil
		}
	}
	return nil
}

// readOwner reads the item whose session it is, once.
func (j *job) readOwner(ctx context.Context, v view) (pullStory, error) {
	if j.owner == nil {
		story, err := j.Tell(ctx, j.session, v.owner)
		if err != nil {
			return pullStory{}, fmt.Errorf("go on with the conversation of %s: %w: %w", j.session, errUntold, err)
		}
		j.owner = &pullStory{Story: story, rec: v.owner}
	}
	return *j.owner, nil
}

// takeCause takes the comment that a command was given with out of a story: each
// text stands in a prompt once. What was edited since it was obeyed, or is too
// long to be told whole, stays where it is (A5, A6).
func takeCause(s *Story, rec record.Record, control record.Control) *workitem.Comment {
	at := slices.IndexFunc(s.Thread, func(c workitem.Comment) bool {
		return c.URL == control.Note && record.Account(c.Author) == control.Actor
	})
	if at < 0 {
		return nil
	}
	c := s.Thread[at]
	row, known := rec.Comments.Get(c.ID)
	if !known || row.SHA256 != record.TextHash(c.Body) || TooLong(c.Body) {
		return nil
	}
	s.Thread = slices.Delete(slices.Clone(s.Thread), at, at+1)
	return &c
}

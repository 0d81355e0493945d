package github

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	gogithub "github.com/google/go-github/v88/github"

	"theloop/workitem"
)

// A surface is where comments of an item are listed, and how one is read there.
// A comment with an empty ID is none.
type surface struct {
	what  string
	path  string
	query url.Values
	read  func(json.RawMessage) (workitem.Comment, error)
}

// surfaces returns the places where people leave comments on an item: an issue
// has one, a pull request three (P2).
func (s *Source) surfaces(it workitem.Item) []surface {
	number := strconv.Itoa(it.Ref.Number)
	conversation := surface{what: "comments", path: s.itemPath(it.Ref, "comments"), query: url.Values{}, read: conversationComment}
	if it.Kind != workitem.PullRequest {
		return []surface{conversation}
	}
	return []surface{
		conversation,
		{what: "reviews", path: s.path("pulls", number, "reviews"), query: url.Values{}, read: reviewComment},
		{
			what: "inline comments", path: s.path("pulls", number, "comments"),
			query: url.Values{"sort": {"created"}, "direction": {"asc"}}, read: inlineComment,
		},
	}
}

// Comments returns what people left on an item, on all its surfaces, in thread
// order (P2). A comment that cannot be read fails the item (P4, P5).
func (s *Source) Comments(ctx context.Context, it workitem.Item) ([]workitem.Comment, error) {
	if err := s.owns(it.Ref); err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	var thread []workitem.Comment
	for _, place := range s.surfaces(it) {
		found, err := s.readSurface(ctx, place)
		if err != nil {
			return nil, fmt.Errorf("read %s of %s: %w", place.what, it.Ref, err)
		}
		thread = append(thread, found...)
	}
	workitem.SortThread(thread)
	return thread, nil
}

func (s *Source) readSurface(ctx context.Context, place surface) ([]workitem.Comment, error) {
	all, err := s.client.readList(ctx, place.path, place.query)
	if err != nil {
		return nil, err
	}
	var found []workitem.Comment
	for _, e := range all.elements {
		comment, err := place.read(e.raw)
		if err != nil {
			return nil, s.client.safe(err)
		}
		if comment.ID != "" {
			found = append(found, comment)
		}
	}
	return found, nil
}

func conversationComment(raw json.RawMessage) (workitem.Comment, error) {
	var c gogithub.IssueComment
	if err := decodeObject(raw, &c); err != nil {
		return workitem.Comment{}, err
	}
	return checked(workitem.Comment{
		ID: commentID(c.GetNodeID(), c.GetID()), DatabaseID: c.GetID(), Surface: workitem.Conversation,
		Author: author(c.User), Body: c.GetBody(), URL: c.GetHTMLURL(),
		CreatedAt: c.GetCreatedAt().Time, UpdatedAt: c.GetUpdatedAt().Time,
	})
}

// reviewComment reads a review. One that is not submitted yet, or has no words
// of its own, is no comment (P2).
func reviewComment(raw json.RawMessage) (workitem.Comment, error) {
	var r gogithub.PullRequestReview
	if err := decodeObject(raw, &r); err != nil {
		return workitem.Comment{}, err
	}
	if strings.EqualFold(r.GetState(), "PENDING") || strings.TrimSpace(r.GetBody()) == "" {
		return workitem.Comment{}, nil
	}
	return checked(workitem.Comment{
		ID: commentID(r.GetNodeID(), r.GetID()), DatabaseID: r.GetID(), Surface: workitem.Review,
		Author: author(r.User), Body: r.GetBody(), URL: r.GetHTMLURL(),
		CreatedAt: r.GetSubmittedAt().Time, UpdatedAt: r.GetSubmittedAt().Time,
	})
}

func inlineComment(raw json.RawMessage) (workitem.Comment, error) {
	var c gogithub.PullRequestComment
	if err := decodeObject(raw, &c); err != nil {
		return workitem.Comment{}, err
	}
	line := c.GetLine()
	if line == 0 {
		line = c.GetOriginalLine()
	}
	return checked(workitem.Comment{
		ID: commentID(c.GetNodeID(), c.GetID()), DatabaseID: c.GetID(), Surface: workitem.Inline,
		Author: author(c.User), Body: c.GetBody(), URL: c.GetHTMLURL(),
		CreatedAt: c.GetCreatedAt().Time, UpdatedAt: c.GetUpdatedAt().Time,
		Path: c.GetPath(), Line: line,
	})
}

// commentID is the node id, or the number where an old server has no other.
func commentID(nodeID string, id int64) string {
	if nodeID == "" && id > 0 {
		return strconv.FormatInt(id, 10)
	}
	return nodeID
}

// checked refuses a comment that could not be told from others, or placed
// among them (P4).
func checked(c workitem.Comment) (workitem.Comment, error) {
	switch {
	case !workitem.ValidCommentID(c.ID):
		return workitem.Comment{}, fmt.Errorf("a comment has the id %q, which is none", clip(c.ID))
	case c.DatabaseID < 1:
		return workitem.Comment{}, fmt.Errorf("comment %s has no number", c.ID)
	case c.CreatedAt.IsZero():
		return workitem.Comment{}, errors.New("comment " + c.ID + " has no time")
	}
	return c, nil
}

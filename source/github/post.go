package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"

	gogithub "github.com/google/go-github/v88/github"

	"theloop/workitem"
)

// Post leaves a comment on an item and returns its id. It is sent once: an
// error says that it may not have arrived, not that it did not.
func (s *Source) Post(ctx context.Context, ref workitem.Ref, body string) (string, error) {
	if err := s.owns(ref); err != nil {
		return "", fmt.Errorf("post a comment: %w", err)
	}
	a, err := s.client.call(ctx, http.MethodPost, s.itemPath(ref, "comments"), &gogithub.IssueComment{Body: &body}, nil)
	if err != nil {
		return "", fmt.Errorf("post a comment on %s: %w", ref, err)
	}
	comment, err := conversationComment(a.body)
	if err != nil {
		return "", fmt.Errorf("post a comment on %s: it was taken, but: %w", ref, s.client.safe(err))
	}
	return comment.ID, nil
}

// contents are the reactions that GitHub knows.
func contents() []string {
	return []string{"+1", "-1", "laugh", "confused", "heart", "hooray", "rocket", "eyes"}
}

// React leaves a reaction on a comment, or on the item itself when the comment
// is the zero value. A review's body cannot carry one: nothing is done then
// (D12). The same reaction twice is one.
func (s *Source) React(ctx context.Context, ref workitem.Ref, comment workitem.Comment, content string) error {
	if err := s.owns(ref); err != nil {
		return fmt.Errorf("react: %w", err)
	}
	if !slices.Contains(contents(), content) {
		return fmt.Errorf("react on %s: %q is no reaction; one of %v is", ref, clip(content), contents())
	}
	path, err := s.reactionPath(ref, comment)
	if err != nil || path == "" {
		return err
	}
	in := struct {
		Content string `json:"content"`
	}{content}
	var out gogithub.Reaction
	if _, err := s.client.call(ctx, http.MethodPost, path, in, &out); err != nil {
		return fmt.Errorf("react on %s: %w", ref, err)
	}
	return nil
}

func (s *Source) reactionPath(ref workitem.Ref, comment workitem.Comment) (string, error) {
	if comment.ID == "" {
		return s.itemPath(ref, "reactions"), nil
	}
	if comment.Surface == workitem.Review {
		return "", nil
	}
	id := comment.DatabaseID
	if id == 0 {
		_, id, _ = workitem.DatabaseID(comment.ID)
	}
	if id < 1 {
		return "", fmt.Errorf("react on %s: comment %q has no number", ref, clip(comment.ID))
	}
	family := "issues"
	if comment.Surface == workitem.Inline {
		family = "pulls"
	}
	return s.path(family, "comments", strconv.FormatInt(id, 10), "reactions"), nil
}

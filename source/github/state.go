package github

import (
	"context"
	"fmt"
	"net/http"
	"strings"

	gogithub "github.com/google/go-github/v88/github"

	"theloop/workitem"
)

// State asks for one item by its number. workitem.ErrGone is returned when
// GitHub proves that it is gone (P8): it says so (410), does not know it (404)
// although the repository is in sight, or answers with another repository's
// item although ours is where it was. Any other failure leaves it unanswered.
func (s *Source) State(ctx context.Context, ref workitem.Ref) (workitem.Item, error) {
	if err := s.owns(ref); err != nil {
		return workitem.Item{}, fmt.Errorf("ask for an item: %w", err)
	}
	it, err := s.fetch(ctx, ref)
	if err == nil {
		return it, nil
	}
	if couldBeGone(err) {
		err = s.judgeGone(ctx, err)
	}
	return workitem.Item{}, fmt.Errorf("ask for %s: %w", ref, err)
}

func (s *Source) fetch(ctx context.Context, ref workitem.Ref) (workitem.Item, error) {
	a, err := s.client.call(ctx, http.MethodGet, s.itemPath(ref), nil, nil)
	if err != nil {
		return workitem.Item{}, err
	}
	it, err := s.item(a.body)
	if err != nil {
		return workitem.Item{}, s.client.safe(err)
	}
	if it.Ref.Number != ref.Number {
		return workitem.Item{}, fmt.Errorf("the answer is about item %d", it.Ref.Number)
	}
	return it, nil
}

func couldBeGone(err error) bool {
	return hasStatus(err, http.StatusNotFound) || hasStatus(err, http.StatusGone) || isMoved(err)
}

// judgeGone looks at the repository before it believes that an item is gone: a
// token without permission gets a 404 for everything, a repository with issues
// switched off a 410, and a renamed one answers for all its items elsewhere.
func (s *Source) judgeGone(ctx context.Context, cause error) error {
	var repo gogithub.Repository
	_, err := s.client.call(ctx, http.MethodGet, s.path(), nil, &repo)
	switch {
	case err != nil:
		return fmt.Errorf("%w; and the repository is not in sight: %w", cause, err)
	case !strings.EqualFold(repo.GetFullName(), s.name()):
		return fmt.Errorf("%w; %w", cause, s.moved(repo.GetFullName()))
	case hasStatus(cause, http.StatusGone) && repo.HasIssues != nil && !repo.GetHasIssues():
		return fmt.Errorf("%w; issues are switched off in the repository", cause)
	}
	return fmt.Errorf("%w: %w", workitem.ErrGone, cause)
}

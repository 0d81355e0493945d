package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	gogithub "github.com/google/go-github/v88/github"

	"theloop/workitem"
)

// item reads what GitHub says of one issue or pull request.
func (s *Source) item(raw json.RawMessage) (workitem.Item, error) {
	var issue gogithub.Issue
	if err := decodeObject(raw, &issue); err != nil {
		return workitem.Item{}, err
	}
	if err := s.checkIssue(&issue); err != nil {
		return workitem.Item{}, err
	}
	it := workitem.Item{
		Ref: s.ref(issue.GetNumber()), Kind: workitem.Issue, Source: s.ID(),
		URL: issue.GetHTMLURL(), Title: issue.GetTitle(), Body: issue.GetBody(),
		Author: author(issue.User), Labels: labelNames(issue.Labels),
		State: workitem.State(issue.GetState()), CommentCount: issue.GetComments(),
		CreatedAt: issue.GetCreatedAt().Time, UpdatedAt: issue.GetUpdatedAt().Time,
		ClosedAt: issue.GetClosedAt().Time,
	}
	if issue.PullRequestLinks != nil {
		it.Kind = workitem.PullRequest
	}
	it.Labelled = s.isLabelled(it.Labels)
	return it, nil
}

func (s *Source) isLabelled(labels []string) bool {
	return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, s.o.Label) })
}

// checkIssue refuses what is not an item of this repository in a state we know.
func (s *Source) checkIssue(issue *gogithub.Issue) error {
	switch state := workitem.State(issue.GetState()); {
	case issue.GetNumber() < 1:
		return errors.New("an item without a number")
	case state != workitem.Open && state != workitem.Closed:
		return fmt.Errorf("item %d has the state %q, neither open nor closed", issue.GetNumber(), clip(string(state)))
	case issue.GetUpdatedAt().IsZero() || issue.GetCreatedAt().IsZero():
		return fmt.Errorf("item %d has no time of its making or last change", issue.GetNumber())
	}
	if home := homeOf(issue.GetRepositoryURL()); home != "" && !strings.EqualFold(home, s.name()) {
		return &movedError{number: issue.GetNumber(), to: home}
	}
	return nil
}

// movedError says that an item answers as one of another repository.
type movedError struct {
	number int
	to     string
}

func (e *movedError) Error() string {
	return fmt.Sprintf("item %d belongs to %q: the repository was renamed or the item transferred; write the new name into the configuration", e.number, clip(e.to))
}

func isMoved(err error) bool {
	var moved *movedError
	return errors.As(err, &moved)
}

// homeOf returns `owner/repo` of a repository's API address.
func homeOf(address string) string {
	_, path, ok := strings.Cut(address, "/repos/")
	if !ok {
		return ""
	}
	return strings.TrimSuffix(path, "/")
}

// numberOf returns the number of an item that cannot be read otherwise.
func numberOf(raw json.RawMessage) int {
	var e struct {
		Number int `json:"number"`
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return 0
	}
	return max(e.Number, 0)
}

func labelNames(labels []*gogithub.Label) []string {
	var names []string
	for _, l := range labels {
		if l.GetName() != "" {
			names = append(names, l.GetName())
		}
	}
	return names
}

// botSuffix ends the login of an app's account.
const botSuffix = "[bot]"

// author returns nobody for a deleted account, which GitHub leaves null (A1).
func author(u *gogithub.User) workitem.Author {
	if u.GetLogin() == "" {
		return workitem.Author{}
	}
	return workitem.Author{
		Login: u.GetLogin(), ID: u.GetID(),
		Bot: u.GetType() == "Bot" || strings.HasSuffix(strings.ToLower(u.GetLogin()), botSuffix),
	}
}

package github

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"theloop/workitem"
)

// The queries are all that is asked over GraphQL, which alone knows what a pull
// request closes. GitHub's description of its REST API does not cover them:
// testdata/github/graphql holds them, and answers to them, as they are sent.

// linksQuery asks for the links of one pull request.
const linksQuery = `query PullRequestLinks($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    defaultBranchRef { name }
    pullRequest(number: $number) {
      number
      headRefName
      baseRefName
      isCrossRepository
      closingIssuesReferences(first: 100, after: $after) {
        nodes { number repository { nameWithOwner } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
}`

// closingQuery asks for the open pull requests of a repository and their links.
// A page has 30 of them: that many bodies of the 65 536 characters that GitHub
// takes, each escaped to six bytes, stay below maxBody, so that nobody can make
// the list unreadable. It costs one point of the 5000 an hour.
const closingQuery = `query OpenPullRequests($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    nameWithOwner
    defaultBranchRef { name }
    pullRequests(states: OPEN, first: 30, after: $after, orderBy: {field: CREATED_AT, direction: ASC}) {
      nodes {
        number
        headRefName
        baseRefName
        isCrossRepository
        closingIssuesReferences(first: 100) {
          nodes { number repository { nameWithOwner } }
          pageInfo { hasNextPage endCursor }
        }
        url
        title
        body
        state
        createdAt
        updatedAt
        author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
        labels(first: 100) { nodes { name } }
        comments { totalCount }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}`

// connection is one page of a list in an answer.
type connection[T any] struct {
	Nodes    []*T `json:"nodes"`
	PageInfo struct {
		HasNextPage bool   `json:"hasNextPage"`
		EndCursor   string `json:"endCursor"`
	} `json:"pageInfo"`
}

// next returns where the next page begins, empty on the last one. A list that
// is not there is a failure, never an empty list (P1).
func (c connection[T]) next() (string, error) {
	switch {
	case c.Nodes == nil:
		return "", errors.New("a list in the answer is not there")
	case c.PageInfo.HasNextPage && c.PageInfo.EndCursor == "":
		return "", errors.New("a list in the answer goes on, but does not say where")
	case c.PageInfo.HasNextPage:
		return c.PageInfo.EndCursor, nil
	}
	return "", nil
}

// repositoryAnswer is what both queries ask of a repository.
type repositoryAnswer struct {
	Repository *struct {
		NameWithOwner    string `json:"nameWithOwner"`
		DefaultBranchRef struct {
			Name string `json:"name"`
		} `json:"defaultBranchRef"`
		PullRequest  *pullAnswer            `json:"pullRequest"`
		PullRequests connection[openAnswer] `json:"pullRequests"`
	} `json:"repository"`
}

// check refuses an answer about another repository: ours was renamed then.
func (a repositoryAnswer) check(name string) error {
	switch {
	case a.Repository == nil:
		return errors.New("the answer is about no repository")
	case !strings.EqualFold(a.Repository.NameWithOwner, name):
		return &workitem.MovedError{From: name, To: clip(a.Repository.NameWithOwner)}
	}
	return nil
}

// pullAnswer is what both queries ask of a pull request. Whether its head is in
// another repository must be said: nobody may be taken for one of our own.
type pullAnswer struct {
	Number            int                     `json:"number"`
	HeadRefName       string                  `json:"headRefName"`
	BaseRefName       string                  `json:"baseRefName"`
	IsCrossRepository *bool                   `json:"isCrossRepository"`
	Closes            connection[issueAnswer] `json:"closingIssuesReferences"`
}

func (p pullAnswer) check() error {
	switch {
	case p.Number < 1:
		return errors.New("a pull request without a number")
	case p.HeadRefName == "" || p.IsCrossRepository == nil:
		return fmt.Errorf("pull request %d without a head", p.Number)
	}
	return nil
}

// issueAnswer names an issue that a pull request closes; there is none where
// the token may not see it.
type issueAnswer struct {
	Number     int `json:"number"`
	Repository struct {
		NameWithOwner string `json:"nameWithOwner"`
	} `json:"repository"`
}

// openAnswer is an open pull request in a list.
type openAnswer struct {
	pullAnswer
	URL       string                  `json:"url"`
	Title     string                  `json:"title"`
	Body      string                  `json:"body"`
	State     string                  `json:"state"`
	CreatedAt time.Time               `json:"createdAt"`
	UpdatedAt time.Time               `json:"updatedAt"`
	Author    *actorAnswer            `json:"author"`
	Labels    connection[labelAnswer] `json:"labels"`
	Comments  struct {
		TotalCount int `json:"totalCount"`
	} `json:"comments"`
}

type labelAnswer struct {
	Name string `json:"name"`
}

// actorAnswer is an account; there is none for a deleted one.
type actorAnswer struct {
	Kind       string `json:"__typename"`
	Login      string `json:"login"`
	DatabaseID int64  `json:"databaseId"`
}

// author returns the account as REST would name it, where the login of a bot
// ends in [bot]: it must be the same account for whoever compares them (A1).
func (a *actorAnswer) author() workitem.Author {
	if a == nil || a.Login == "" {
		return workitem.Author{}
	}
	who := workitem.Author{Login: a.Login, ID: a.DatabaseID, Bot: a.Kind == "Bot"}
	if who.Bot && !strings.HasSuffix(strings.ToLower(who.Login), botSuffix) {
		who.Login += botSuffix
	}
	return who
}

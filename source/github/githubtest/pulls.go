package githubtest

import (
	"strconv"
	"strings"
)

// PullRequest is a pull request to add.
type PullRequest struct {
	Title, Body string
	// Author is a login; empty is a deleted account.
	Author string
	Labels []string
	// Branch is its head; empty means patch-<number>.
	Branch string
	// Fork is the owner of the repository that its head is in; empty means the
	// repository itself. ForkGone says that it was deleted.
	Fork     string
	ForkGone bool
	// Base is the branch that it would be merged into; empty means the default
	// one.
	Base string
	// Closes are the issues that it closes, as "octo/repo#12".
	Closes []string
}

// AddPullRequest adds a pull request and returns its number.
func (s *Server) AddPullRequest(full string, in PullRequest) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.addIssue(s.mustRepo(full), Issue{Title: in.Title, Body: in.Body, Author: in.Author, Labels: in.Labels, Pull: true})
	if in.Branch != "" {
		i.branch = in.Branch
	}
	if in.Base != "" {
		i.base = in.Base
	}
	i.fork, i.forkGone = in.Fork, in.ForkGone
	s.named(in.Fork)
	i.closes = s.closings(in.Closes)
	return i.number
}

// SetCloses replaces the issues that a pull request closes. Its time does not
// change, as when GitHub reads its words a while later.
func (s *Server) SetCloses(full string, number int, closes ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustIssue(full, number).closes = s.closings(closes)
}

func (s *Server) closings(names []string) []closing {
	var out []closing
	for _, name := range names {
		full, text, _ := strings.Cut(name, "#")
		number, err := strconv.Atoi(text)
		if err != nil {
			panic("githubtest: " + name + " is no name of an issue")
		}
		out = append(out, closing{s.mustRepo(full), s.mustIssue(full, number)})
	}
	return out
}

// seenClosings are those that the token may see.
func (i *issue) seenClosings() []closing {
	var out []closing
	for _, c := range i.closes {
		if !c.repo.hidden && !c.issue.deleted && c.issue.movedTo == nil {
			out = append(out, c)
		}
	}
	return out
}

// getPull answers for one pull request. The description knows no deleted fork,
// for which GitHub says null.
func (s *Server) getPull(r *repo, i *issue) Answer {
	a := s.ok(s.pull(r, i))
	a.undescribed = i.forkGone
	return a
}

func (s *Server) pull(r *repo, i *issue) object {
	o := s.shape("pull-request", r, i.number)
	for k, v := range s.issue(r, i) {
		if _, both := o[k]; both && k != "url" && k != "comments_url" {
			o[k] = v
		}
	}
	base := s.repository(r)
	o["base"] = o["base"].(map[string]any)
	branch(o["base"], i.base, base)
	branch(o["head"], i.branch, s.headRepository(r, i, base))
	return o.with(object{"requested_reviewers": []any{}, "requested_teams": []any{}, "merged": false, "merged_by": nil, "merged_at": nil})
}

func branch(of any, name string, repository object) {
	o := object(of.(map[string]any))
	o.with(object{"ref": name, "label": name, "repo": repository})
	if repository == nil {
		o["repo"] = nil
	}
}

// headRepository is nil for a deleted fork.
func (s *Server) headRepository(r *repo, i *issue, base object) object {
	switch {
	case i.forkGone:
		return nil
	case i.fork == "":
		return base
	}
	return s.repository(&repo{id: s.named(i.fork).id + 1_000_000, owner: i.fork, name: r.name})
}

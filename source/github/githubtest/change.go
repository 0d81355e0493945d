package githubtest

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Issue is an issue or a pull request to add.
type Issue struct {
	Title, Body string
	// Author is a login; empty is a deleted account.
	Author string
	Labels []string
	// Pull makes it a pull request.
	Pull bool
}

// Comment is a comment to add, or one that is there.
type Comment struct {
	ID     int64
	NodeID string
	// Author is a login; empty is a deleted account.
	Author string
	Body   string
	// At is when it was written; zero means now.
	At time.Time
	// State is a review's: COMMENTED (when empty), PENDING, APPROVED …
	State string
	// Path, Line and OriginalLine are an inline comment's; Line 0 is outdated.
	Path               string
	Line, OriginalLine int
	// Reactions are what was left on it, oldest first.
	Reactions []string
}

// AddRepo adds a repository by its full name.
func (s *Server) AddRepo(full string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	owner, name, _ := strings.Cut(full, "/")
	s.named(owner)
	s.repos = append(s.repos, &repo{id: s.id(), owner: owner, name: name})
}

// AddIssue adds an issue or a pull request and returns its number.
func (s *Server) AddIssue(full string, in Issue) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addIssue(s.mustRepo(full), in).number
}

func (s *Server) addIssue(r *repo, in Issue) *issue {
	i := &issue{
		id: s.id(), number: len(r.issues) + 1, pull: in.Pull, title: in.Title, body: in.Body,
		author: in.Author, labels: in.Labels, created: s.now(), updated: s.now(),
	}
	kind, prefix := "Issue", "I"
	if in.Pull {
		kind, prefix = "PullRequest", "PR"
		i.branch, i.base = fmt.Sprintf("patch-%d", i.number), defaultBranch
	}
	i.nodeID = s.nodeID(kind, prefix, r.id, i.id)
	s.named(in.Author)
	r.issues = append(r.issues, i)
	return i
}

// AddComment leaves a comment in the conversation of an item.
func (s *Server) AddComment(full string, number int, c Comment) Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.mustIssue(full, number)
	added := s.comment(s.mustRepo(full), i, c, "IssueComment", "IC")
	i.comments = append(i.comments, added)
	return added.shown()
}

// AddReview leaves a review on a pull request.
func (s *Server) AddReview(full string, number int, c Comment) Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.mustIssue(full, number)
	added := s.comment(s.mustRepo(full), i, c, "PullRequestReview", "PRR")
	if added.state == "" {
		added.state = "COMMENTED"
	}
	i.reviews = append(i.reviews, added)
	return added.shown()
}

// AddInline leaves an inline comment on a pull request.
func (s *Server) AddInline(full string, number int, c Comment) Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.mustIssue(full, number)
	added := s.comment(s.mustRepo(full), i, c, "PullRequestReviewComment", "PRRC")
	i.inline = append(i.inline, added)
	return added.shown()
}

func (s *Server) comment(r *repo, i *issue, c Comment, kind, prefix string) *comment {
	at := c.At.UTC().Truncate(time.Second)
	if c.At.IsZero() {
		at = s.now()
	}
	s.named(c.Author)
	i.updated = s.now()
	id := s.id()
	return &comment{
		id: id, nodeID: s.nodeID(kind, prefix, r.id, id), author: c.Author, body: c.Body,
		created: at, updated: at, state: c.State, path: c.Path, line: c.Line, original: c.OriginalLine,
	}
}

func (c *comment) shown() Comment {
	out := Comment{
		ID: c.id, NodeID: c.nodeID, Author: c.author, Body: c.body, At: c.created, State: c.state,
		Path: c.path, Line: c.line, OriginalLine: c.original,
	}
	for _, r := range c.reactions {
		out.Reactions = append(out.Reactions, r.content)
	}
	return out
}

// Comments returns the conversation of an item.
func (s *Server) Comments(full string, number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return shownAll(s.mustIssue(full, number).comments)
}

// Inline returns the inline comments of a pull request.
func (s *Server) Inline(full string, number int) []Comment {
	s.mu.Lock()
	defer s.mu.Unlock()
	return shownAll(s.mustIssue(full, number).inline)
}

func shownAll(comments []*comment) []Comment {
	var out []Comment
	for _, c := range comments {
		out = append(out, c.shown())
	}
	return out
}

// Reactions returns what was left on the item itself.
func (s *Server) Reactions(full string, number int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, r := range s.mustIssue(full, number).reactions {
		out = append(out, r.content)
	}
	return out
}

// EditComment changes the text of a comment, on any surface.
func (s *Server) EditComment(full string, number int, id int64, body string) {
	s.change(full, number, func(i *issue) {
		for _, c := range slices.Concat(i.comments, i.reviews, i.inline) {
			if c.id == id {
				c.body, c.updated = body, s.now()
			}
		}
	})
}

// DeleteComment takes a comment away, on any surface. The item's time does not
// change, as on GitHub.
func (s *Server) DeleteComment(full string, number int, id int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.mustIssue(full, number)
	is := func(c *comment) bool { return c.id == id }
	i.comments = slices.DeleteFunc(i.comments, is)
	i.reviews = slices.DeleteFunc(i.reviews, is)
	i.inline = slices.DeleteFunc(i.inline, is)
}

// CloseIssue closes an item.
func (s *Server) CloseIssue(full string, number int) {
	s.change(full, number, func(i *issue) { i.closed = s.now() })
}

// ReopenIssue opens it again.
func (s *Server) ReopenIssue(full string, number int) {
	s.change(full, number, func(i *issue) { i.closed = time.Time{} })
}

// SetLabels replaces the labels of an item.
func (s *Server) SetLabels(full string, number int, labels ...string) {
	s.change(full, number, func(i *issue) { i.labels = labels })
}

// SetText replaces title and body of an item.
func (s *Server) SetText(full string, number int, title, body string) {
	s.change(full, number, func(i *issue) { i.title, i.body = title, body })
}

// DeleteIssue deletes an item: it answers 410 from now on.
func (s *Server) DeleteIssue(full string, number int) {
	s.change(full, number, func(i *issue) { i.deleted = true })
}

// TransferIssue moves an item to another repository: it redirects from now on.
// The number it has there is returned.
func (s *Server) TransferIssue(full string, number int, to string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, target := s.mustIssue(full, number), s.mustRepo(to)
	there := *i
	there.number = len(target.issues) + 1
	target.issues = append(target.issues, &there)
	i.movedTo, i.movedRepo = &there, target
	return there.number
}

func (s *Server) change(full string, number int, f func(*issue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.mustIssue(full, number)
	f(i)
	i.updated = s.now()
}

// RenameRepo renames a repository; its old name redirects.
func (s *Server) RenameRepo(full, to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.mustRepo(full)
	r.former = append(r.former, r.full())
	r.owner, r.name, _ = strings.Cut(to, "/")
	s.named(r.owner)
}

// HideRepo takes away, or gives back, the token's sight of a repository: all of
// it answers 404.
func (s *Server) HideRepo(full string, hidden bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustRepo(full).hidden = hidden
}

// SwitchIssuesOff makes a repository one without issues: they answer 410.
func (s *Server) SwitchIssuesOff(full string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustRepo(full).issuesOff = true
}

// DeleteAccount makes everything an account wrote the work of nobody.
func (s *Server) DeleteAccount(login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.named(login).deleted = true
}

// OldNodeIDs says whether what is added from now on gets node ids of the older
// generation.
func (s *Server) OldNodeIDs(old bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.oldNodeIDs = old
}

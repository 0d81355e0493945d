package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	gogithub "github.com/google/go-github/v88/github"

	"theloop/workitem"
)

// Links returns what ties a pull request to other items (P3); an issue has no
// links, and nothing is asked for one.
//
// What it closes is what GitHub says, over GraphQL. When that is nothing, or
// cannot be asked, it is what the words of its body close: GitHub itself reads
// them some time after they were written. It is an error when GitHub did not
// answer this time and nothing else is found: a pull request is given its
// target once and for good. An issue that the branch is named after is looked
// up, unless it is among those.
func (s *Source) Links(ctx context.Context, it workitem.Item) (workitem.Links, error) {
	if err := s.owns(it.Ref); err != nil {
		return workitem.Links{}, fmt.Errorf("read links: %w", err)
	}
	if it.Kind != workitem.PullRequest {
		return workitem.Links{}, ctx.Err()
	}
	links, err := s.links(ctx, it)
	if err != nil {
		return workitem.Links{}, fmt.Errorf("read links of %s: %w", it.Ref, err)
	}
	return links, nil
}

func (s *Source) links(ctx context.Context, it workitem.Item) (workitem.Links, error) {
	pull, unasked := s.askPull(ctx, it.Ref.Number)
	pull.body = it.Body
	if unasked != nil {
		var err error
		if pull, err = s.readPull(ctx, it.Ref); err != nil {
			return workitem.Links{}, err
		}
	}
	links := s.linksOf(pull)
	named, err := s.namedIssue(ctx, links)
	if err != nil {
		return workitem.Links{}, err
	}
	links.Named = named
	if unasked != nil && !cannotAsk(unasked) && len(links.Refs()) == 0 {
		return workitem.Links{}, fmt.Errorf("what it closes was not answered, and its own words do not say: %w", unasked)
	}
	return links, nil
}

// pull is what was found out about a pull request, in whichever way.
type pull struct {
	number  int
	body    string
	branch  string
	foreign bool
	// onDefault says that it would be merged into the default branch: only there
	// do words close anything.
	onDefault bool
	closes    []workitem.Ref
}

// linksOf leaves Named to whoever knows, or asks, whether that issue is there;
// it is not set when the branch is named after the pull request itself.
func (s *Source) linksOf(p pull) workitem.Links {
	closes := p.closes
	if len(closes) == 0 && p.onDefault {
		closes = closingWords(s.example, p.body)
	}
	links := workitem.Links{Branch: p.branch, ForeignHead: p.foreign}
	seen := map[string]bool{s.ref(p.number).Key(): true}
	for _, ref := range closes {
		if !seen[ref.Key()] {
			links.Closes = append(links.Closes, ref)
		}
		seen[ref.Key()] = true
	}
	if ref := s.refOfBranch(p.branch); ref.Number != p.number {
		links.Named = ref
	}
	return links
}

// askPull asks GraphQL for one pull request and all that it closes.
func (s *Source) askPull(ctx context.Context, number int) (pull, error) {
	var found pull
	after := ""
	for range maxPages {
		var a repositoryAnswer
		if err := s.client.query(ctx, linksQuery, s.variables(after, number), &a); err != nil {
			return pull{}, err
		}
		if err := s.checkPull(a, number); err != nil {
			return pull{}, s.client.safe(err)
		}
		p := s.pullOf(a.Repository.PullRequest, a.Repository.DefaultBranchRef.Name)
		p.closes = append(found.closes, p.closes...)
		found = p
		next, err := a.Repository.PullRequest.Closes.next()
		if err != nil || next == "" {
			return found, err
		}
		if next == after {
			return pull{}, errors.New("a page of what it closes leads back to itself")
		}
		after = next
	}
	return pull{}, fmt.Errorf("it closes more than %d pages of issues", maxPages)
}

func (s *Source) checkPull(a repositoryAnswer, number int) error {
	if err := a.check(s.name()); err != nil {
		return err
	}
	if a.Repository.PullRequest == nil || a.Repository.PullRequest.Number != number {
		return fmt.Errorf("the answer is not about pull request %d", number)
	}
	return a.Repository.PullRequest.check()
}

// variables are those of a query; a number is for the one that takes one.
func (s *Source) variables(after string, number int) map[string]any {
	v := map[string]any{"owner": s.example.Owner, "name": s.example.Repo}
	if number > 0 {
		v["number"] = number
	}
	if after != "" {
		v["after"] = after
	}
	return v
}

// pullOf leaves out issues that the token may not see, and such whose names do
// not match their grammar (P4): none of them can be watched.
func (s *Source) pullOf(p *pullAnswer, defaultBranch string) pull {
	found := pull{
		number: p.Number, branch: p.HeadRefName, foreign: *p.IsCrossRepository,
		onDefault: p.BaseRefName != "" && p.BaseRefName == defaultBranch,
	}
	for _, issue := range p.Closes.Nodes {
		if issue == nil {
			continue
		}
		owner, repo, _ := strings.Cut(issue.Repository.NameWithOwner, "/")
		if ref, err := workitem.NewRef(provider, s.example.Host, owner, repo, issue.Number); err == nil {
			found.closes = append(found.closes, ref)
		}
	}
	return found
}

// readPull asks REST for one pull request; it does not know what that closes.
func (s *Source) readPull(ctx context.Context, ref workitem.Ref) (pull, error) {
	var p gogithub.PullRequest
	if _, err := s.client.call(ctx, http.MethodGet, s.path("pulls", strconv.Itoa(ref.Number)), nil, &p); err != nil {
		return pull{}, s.client.safe(err)
	}
	base := p.GetBase().GetRepo()
	switch {
	case p.GetNumber() != ref.Number:
		return pull{}, fmt.Errorf("the answer is about pull request %d", p.GetNumber())
	case !strings.EqualFold(base.GetFullName(), s.name()):
		return pull{}, s.client.safe(&movedError{number: ref.Number, to: base.GetFullName()})
	case p.GetHead().GetRef() == "" || base.GetID() == 0:
		return pull{}, fmt.Errorf("pull request %d without a head or a base", ref.Number)
	}
	return pull{
		number: ref.Number, body: p.GetBody(), branch: p.GetHead().GetRef(),
		foreign:   p.GetHead().GetRepo().GetID() != base.GetID(),
		onDefault: p.GetBase().GetRef() == base.GetDefaultBranch(),
	}, nil
}

// issueBranch is the name of a branch for an issue; a number has one spelling.
var issueBranch = regexp.MustCompile(`^issue-([1-9][0-9]{0,15})$`)

// refOfBranch returns the issue that a branch is named after, or the zero Ref.
func (s *Source) refOfBranch(branch string) workitem.Ref {
	found := issueBranch.FindStringSubmatch(branch)
	if found == nil {
		return workitem.Ref{}
	}
	number, err := strconv.Atoi(found[1])
	if err != nil {
		return workitem.Ref{}
	}
	ref, err := workitem.NewRef(provider, s.example.Host, s.example.Owner, s.example.Repo, number)
	if err != nil {
		return workitem.Ref{}
	}
	return ref
}

// namedIssue returns the issue that the branch is named after unless it is not
// there (P3), or is a pull request.
func (s *Source) namedIssue(ctx context.Context, links workitem.Links) (workitem.Ref, error) {
	named := links.Named
	if named.Zero() || slices.ContainsFunc(links.Closes, func(r workitem.Ref) bool { return r.Key() == named.Key() }) {
		return named, nil
	}
	it, err := s.State(ctx, named)
	switch {
	case errors.Is(err, workitem.ErrGone), hasStatus(err, http.StatusGone):
		return workitem.Ref{}, nil
	case err != nil:
		return workitem.Ref{}, err
	case it.Kind != workitem.Issue:
		return workitem.Ref{}, nil
	}
	return named, nil
}

package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"theloop/workitem"
)

// Closing returns the open pull requests of the repository, with the label or
// without, that point at one of the given items: they close it, or their branch
// is named after it (P1, P3). It returns all of them, the oldest first, or an
// error. Those with the label are in List as well. The Date of a listing that
// was read before holds for these items, too.
//
// Of the links, Named is set only to one of the given items, for which nobody
// need be asked whether it is there.
//
// The given items are those of this host, whatever their repository; others are
// ignored. Nothing is asked when there are none, or when pull requests are not
// watched. Else it is one query for every 30 open pull requests. A server that
// answers no queries is asked for all its open items, and then the words of
// pull requests alone can name an item, not their branches.
func (s *Source) Closing(ctx context.Context, items []workitem.Ref) ([]workitem.Linked, error) {
	wanted := s.wanted(items)
	if len(wanted) == 0 || !s.o.PullRequests {
		return nil, ctx.Err()
	}
	found, err := s.askClosing(ctx, wanted)
	if cannotAsk(err) {
		found, err = s.readClosing(ctx, wanted)
	}
	if err != nil {
		return nil, fmt.Errorf("list %s pull requests that close items: %w", s.name(), err)
	}
	return found, nil
}

// wanted are items of one host by their keys.
type wanted map[string]bool

func (s *Source) wanted(items []workitem.Ref) wanted {
	keys := wanted{}
	for _, ref := range items {
		if ref.Provider == provider && sameHost(ref.Host, s.example.Host) {
			keys[ref.Key()] = true
		}
	}
	return keys
}

func sameHost(a, b string) bool {
	return strings.EqualFold(a, b) || isPublic(a) && isPublic(b)
}

func (w wanted) has(ref workitem.Ref) bool { return w[ref.Key()] }

// narrow takes Named from links unless it is wanted, and reports whether they
// point at anything wanted.
func (w wanted) narrow(links workitem.Links) (workitem.Links, bool) {
	if !w.has(links.Named) {
		links.Named = workitem.Ref{}
	}
	return links, slices.ContainsFunc(links.Refs(), w.has)
}

// askClosing walks through all open pull requests over GraphQL. A cursor is the
// place of an element, and no page number: the list cannot shift under it.
func (s *Source) askClosing(ctx context.Context, w wanted) ([]workitem.Linked, error) {
	var found []workitem.Linked
	after := ""
	for range maxPages {
		var a repositoryAnswer
		if err := s.client.query(ctx, closingQuery, s.variables(after, 0), &a); err != nil {
			return nil, err
		}
		if err := a.check(s.name()); err != nil {
			return nil, s.client.safe(err)
		}
		page := a.Repository.PullRequests
		next, err := page.next()
		if err != nil {
			return nil, err
		}
		for _, p := range page.Nodes {
			if found, err = s.addClosing(ctx, found, w, p, a.Repository.DefaultBranchRef.Name); err != nil {
				return nil, s.client.safe(err)
			}
		}
		if next == "" {
			return found, nil
		}
		if next == after {
			return nil, errors.New("a page of pull requests leads back to itself")
		}
		after = next
	}
	return nil, fmt.Errorf("there are more than %d pages of open pull requests", maxPages)
}

// addClosing appends a pull request if it points at anything wanted. The rest
// of what it closes is asked for when a page does not hold it.
func (s *Source) addClosing(ctx context.Context, to []workitem.Linked, w wanted, p *openAnswer, defaultBranch string) ([]workitem.Linked, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	if p.State != "OPEN" {
		return to, nil
	}
	more, err := p.Closes.next()
	if err != nil {
		return nil, fmt.Errorf("pull request %d: %w", p.Number, err)
	}
	one := s.pullOf(&p.pullAnswer, defaultBranch)
	if more != "" {
		if one, err = s.askPull(ctx, p.Number); err != nil {
			return nil, fmt.Errorf("pull request %d: %w", p.Number, err)
		}
	}
	one.body = p.Body
	if links, ok := w.narrow(s.linksOf(one)); ok {
		to = append(to, workitem.Linked{Item: s.openItem(p), Links: links})
	}
	return to, nil
}

// check refuses what is no pull request, and one without what an item must
// have.
func (p *openAnswer) check() error {
	if p == nil {
		return errors.New("a pull request in the answer is not there")
	}
	if err := p.pullAnswer.check(); err != nil {
		return err
	}
	switch {
	case p.State != "OPEN" && p.State != "CLOSED" && p.State != "MERGED":
		return fmt.Errorf("pull request %d has the state %q, which is none", p.Number, clip(p.State))
	case p.CreatedAt.IsZero() || p.UpdatedAt.IsZero():
		return fmt.Errorf("pull request %d has no time of its making or last change", p.Number)
	case p.Labels.Nodes == nil:
		return fmt.Errorf("pull request %d has no list of labels", p.Number)
	}
	return nil
}

func (s *Source) openItem(p *openAnswer) workitem.Item {
	it := workitem.Item{
		Ref: s.ref(p.Number), Kind: workitem.PullRequest, Source: s.ID(),
		URL: p.URL, Title: p.Title, Body: p.Body, Author: p.Author.author(),
		State: workitem.Open, CommentCount: p.Comments.TotalCount,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
	for _, l := range p.Labels.Nodes {
		if l != nil && l.Name != "" {
			it.Labels = append(it.Labels, l.Name)
		}
	}
	it.Labelled = s.isLabelled(it.Labels)
	return it
}

// readClosing looks through all open items over REST.
func (s *Source) readClosing(ctx context.Context, w wanted) ([]workitem.Linked, error) {
	all, err := s.client.readList(ctx, s.path("issues"), url.Values{
		"state": {"open"}, "sort": {"created"}, "direction": {"asc"},
	})
	if err != nil {
		return nil, err
	}
	var found []workitem.Linked
	for _, e := range all.elements {
		it, err := s.item(e.raw)
		if err != nil {
			return nil, s.client.safe(err)
		}
		if it.Kind != workitem.PullRequest || it.State != workitem.Open || !slices.ContainsFunc(closingWords(s.example, it.Body), w.has) {
			continue
		}
		one, err := s.readPull(ctx, it.Ref)
		if err != nil {
			return nil, err
		}
		if links, ok := w.narrow(s.linksOf(one)); ok {
			found = append(found, workitem.Linked{Item: it, Links: links})
		}
	}
	return found, nil
}

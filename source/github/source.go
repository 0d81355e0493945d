package github

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"theloop/workitem"
)

const provider = "github"

// RepoOptions say which repository is watched, and what of it.
type RepoOptions struct {
	Owner, Repo string
	// Label is what an open item must carry to be listed.
	Label string
	// Issues and PullRequests say which kinds are listed; at least one is.
	Issues, PullRequests bool
}

// Source is one repository.
type Source struct {
	client *Client
	o      RepoOptions
	// example is a ref of this repository; only its number is made up.
	example workitem.Ref
}

// Repo returns a Source for one repository. No request is made.
func (c *Client) Repo(o RepoOptions) (*Source, error) {
	example, err := workitem.NewRef(provider, c.host, o.Owner, o.Repo, 1)
	if err != nil {
		return nil, fmt.Errorf("repository to watch: %w", err)
	}
	if err := checkLabel(o.Label); err != nil {
		return nil, fmt.Errorf("watch %s/%s: %w", o.Owner, o.Repo, err)
	}
	if !o.Issues && !o.PullRequests {
		return nil, fmt.Errorf("watch %s/%s: neither issues nor pull requests are monitored; switch one on, or take it out", o.Owner, o.Repo)
	}
	return &Source{client: c, o: o, example: example}, nil
}

// checkLabel refuses what GitHub's list of labels cannot express: it parts them
// by commas, and would look for items with both halves.
func checkLabel(label string) error {
	switch {
	case strings.TrimSpace(label) == "":
		return errors.New("a label is required; without one every open item would be worked on")
	case strings.Contains(label, ","):
		return fmt.Errorf("the label %q has a comma, by which GitHub parts labels; rename the label", label)
	}
	return nil
}

// ID returns the source's name in key form: "github:octo/repo" or
// "github:ghe.corp.example/octo/repo".
func (s *Source) ID() string {
	key, _, _ := strings.Cut(s.example.Key(), "#")
	return key
}

// Self returns the token's own account.
func (s *Source) Self(ctx context.Context) (workitem.Author, error) { return s.client.Self(ctx) }

// List returns every open item of the repository that carries the label, of
// the kinds that are watched, oldest first (P1). An item that cannot be read is
// in Bad (P5); anything else that goes wrong fails the whole.
func (s *Source) List(ctx context.Context) (workitem.Listing, error) {
	query := url.Values{
		"state": {"open"}, "labels": {s.o.Label},
		"sort": {"created"}, "direction": {"asc"},
	}
	all, err := s.client.readList(ctx, s.path("issues"), query)
	if err != nil {
		return workitem.Listing{}, fmt.Errorf("list %s issues: %w", s.name(), err)
	}
	listing := workitem.Listing{Date: all.date}
	for _, e := range all.elements {
		if err := s.add(&listing, e); err != nil {
			return workitem.Listing{}, fmt.Errorf("list %s issues: %w", s.name(), err)
		}
	}
	return listing, nil
}

// add puts one element into the listing, if it belongs there: a server that
// ignored the query would else hand us every item it has. It returns an error
// only for what cannot even be named, or is another repository's.
func (s *Source) add(listing *workitem.Listing, e element) error {
	item, err := s.item(e.raw)
	if err != nil {
		number := numberOf(e.raw)
		var moved *movedError
		switch {
		case errors.As(err, &moved): // items do not move by themselves within a listing
			return s.client.safe(s.moved(moved.to))
		case number == 0:
			return s.client.safe(err)
		}
		listing.Bad = append(listing.Bad, workitem.ItemError{Ref: s.ref(number), Err: s.client.safe(err)})
		return nil
	}
	if item.State == workitem.Open && item.Labelled && s.watches(item.Kind) {
		listing.Items = append(listing.Items, item)
	}
	return nil
}

func (s *Source) watches(kind workitem.Kind) bool {
	if kind == workitem.PullRequest {
		return s.o.PullRequests
	}
	return s.o.Issues
}

func (s *Source) ref(number int) workitem.Ref {
	ref := s.example
	ref.Number = number
	return ref
}

// owns refuses a ref of another repository: its number would name something
// else here.
func (s *Source) owns(ref workitem.Ref) error {
	if ref.Number < 1 || ref.Key() != s.ref(ref.Number).Key() {
		return fmt.Errorf("%s is not of %s", ref, s.ID())
	}
	return nil
}

// path returns the address of the repository or of something below it. Owner
// and name have been checked against their grammar, which leaves nothing to
// escape.
func (s *Source) path(parts ...string) string {
	return strings.Join(append([]string{"repos", s.example.Owner, s.example.Repo}, parts...), "/")
}

func (s *Source) itemPath(ref workitem.Ref, parts ...string) string {
	return s.path(append([]string{"issues", strconv.Itoa(ref.Number)}, parts...)...)
}

// moved says that the repository answers as another one.
func (s *Source) moved(to string) error {
	return &workitem.MovedError{From: s.name(), To: clip(to)}
}

// name is `owner/repo` as configured.
func (s *Source) name() string { return s.example.Owner + "/" + s.example.Repo }

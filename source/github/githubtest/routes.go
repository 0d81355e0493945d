package githubtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// inRepo answers below a repository.
func (s *Server) inRepo(c call, r *repo, parts []string) Answer {
	switch pattern, number := normal(parts); c.r.Method + " " + pattern {
	case "GET ":
		return s.ok(s.repository(r))
	case "GET issues":
		return s.listIssues(c, r)
	case "GET issues/N":
		return s.withIssue(c, r, number, func(i *issue) Answer { return s.ok(s.issue(r, i)) })
	case "GET issues/N/comments":
		return s.listComments(c, r, number, func(i *issue) []*comment { return i.comments }, s.conversation)
	case "GET pulls/N":
		return s.withPull(c, r, number, func(i *issue) Answer { return s.getPull(r, i) })
	case "GET pulls/N/reviews":
		return s.listComments(c, r, number, func(i *issue) []*comment { return i.reviews }, s.review)
	case "GET pulls/N/comments":
		return s.listComments(c, r, number, func(i *issue) []*comment { return i.inline }, s.inlineComment)
	case "POST issues/N/comments":
		return s.withIssue(c, r, number, func(i *issue) Answer { return s.postComment(c, r, i) })
	case "POST issues/N/reactions":
		return s.withIssue(c, r, number, func(i *issue) Answer { return s.react(c, &i.reactions) })
	case "POST issues/comments/N/reactions":
		return s.reactOn(c, r, int64(number), func(i *issue) []*comment { return i.comments })
	case "POST pulls/comments/N/reactions":
		return s.reactOn(c, r, int64(number), func(i *issue) []*comment { return i.inline })
	}
	return s.notFound()
}

// normal replaces the number in a path by N.
func normal(parts []string) (pattern string, number int) {
	out := slices.Clone(parts)
	for i, p := range out {
		if n, err := strconv.Atoi(p); err == nil {
			out[i], number = "N", n
		}
	}
	return strings.Join(out, "/"), number
}

func (s *Server) withIssue(c call, r *repo, number int, f func(*issue) Answer) Answer {
	i := r.find(number)
	switch {
	case i == nil:
		return s.notFound()
	case i.movedTo != nil:
		return s.redirect(c, fmt.Sprintf("%s/repositories/%d/issues/%d", s.URL(), i.movedRepo.id, i.movedTo.number))
	case i.deleted:
		return s.refusal(http.StatusGone, "This issue was deleted")
	case r.issuesOff && !i.pull:
		return s.refusal(http.StatusGone, "Issues are disabled for this repo")
	}
	return f(i)
}

func (s *Server) withPull(c call, r *repo, number int, f func(*issue) Answer) Answer {
	return s.withIssue(c, r, number, func(i *issue) Answer {
		if !i.pull {
			return s.notFound()
		}
		return f(i)
	})
}

func (s *Server) listIssues(c call, r *repo) Answer {
	if r.issuesOff {
		return s.refusal(http.StatusGone, "Issues are disabled for this repo")
	}
	q := c.r.URL.Query()
	var found []*issue
	for _, i := range r.issues {
		if i.deleted || i.movedTo != nil || !inState(i, q.Get("state")) || !hasLabels(i, q.Get("labels")) {
			continue
		}
		found = append(found, i)
	}
	slices.SortStableFunc(found, func(a, b *issue) int {
		if q.Get("direction") == "asc" {
			a, b = b, a
		}
		if q.Get("sort") == "updated" {
			return cmp.Or(b.updated.Compare(a.updated), cmp.Compare(b.number, a.number))
		}
		return cmp.Or(b.created.Compare(a.created), cmp.Compare(b.number, a.number))
	})
	return paged(s, c, r, found, func(i *issue) object { return s.issue(r, i) })
}

func inState(i *issue, state string) bool {
	return state == "all" || (state == "closed") == !i.closed.IsZero()
}

// hasLabels reports whether the item carries every label of the list, as
// GitHub compares them: parted by commas, without case.
func hasLabels(i *issue, list string) bool {
	for want := range strings.SplitSeq(list, ",") {
		has := slices.ContainsFunc(i.labels, func(l string) bool { return strings.EqualFold(l, want) })
		if want != "" && !has {
			return false
		}
	}
	return true
}

func (s *Server) listComments(c call, r *repo, number int, of func(*issue) []*comment, show func(*repo, *issue, *comment) object) Answer {
	return s.withIssue(c, r, number, func(i *issue) Answer {
		if strings.Contains(c.path, "/pulls/") && !i.pull {
			return s.notFound()
		}
		return paged(s, c, r, of(i), func(c *comment) object { return show(r, i, c) })
	})
}

func (s *Server) postComment(c call, r *repo, i *issue) Answer {
	var in struct{ Body string }
	if err := json.Unmarshal(c.body, &in); err != nil || strings.TrimSpace(in.Body) == "" {
		return s.refusal(http.StatusUnprocessableEntity, "Validation Failed")
	}
	added := s.comment(r, i, Comment{Author: s.o.Login, Body: in.Body}, "IssueComment", "IC")
	i.comments = append(i.comments, added)
	return s.json(http.StatusCreated, s.conversation(r, i, added))
}

func (s *Server) reactOn(c call, r *repo, id int64, of func(*issue) []*comment) Answer {
	for _, i := range r.issues {
		for _, at := range of(i) {
			if at.id == id {
				return s.react(c, &at.reactions)
			}
		}
	}
	return s.notFound()
}

// react adds a reaction; the same one of the same account is there once.
func (s *Server) react(c call, on *[]reaction) Answer {
	var in struct{ Content string }
	if err := json.Unmarshal(c.body, &in); err != nil {
		return s.refusal(http.StatusUnprocessableEntity, "Validation Failed")
	}
	for _, r := range *on {
		if r.content == in.Content && r.author == s.o.Login {
			return s.ok(s.reaction(r))
		}
	}
	added := reaction{id: s.id(), content: in.Content, author: s.o.Login, at: s.now()}
	*on = append(*on, added)
	return s.json(http.StatusCreated, s.reaction(added))
}

// paged cuts a page out of a list, with the Link header that leads on.
func paged[T any](s *Server, c call, r *repo, all []T, show func(T) object) Answer {
	q := c.r.URL.Query()
	size := min(positive(q.Get("per_page"), 30), s.o.MaxPerPage)
	number := positive(q.Get("page"), 1)
	from := min((number-1)*size, len(all))
	shown := []object{}
	for _, v := range all[from:min(from+size, len(all))] {
		shown = append(shown, show(v))
	}
	a := s.ok(shown)
	if link := s.links(c, r, number, (len(all)+size-1)/size); link != "" {
		a.Header.Set("Link", link)
	}
	return a
}

func (s *Server) links(c call, r *repo, number, last int) string {
	_, rest, _ := strings.Cut(c.path, "/repos/"+r.full())
	at := func(page int, rel string) string {
		q := c.r.URL.Query()
		q.Set("page", strconv.Itoa(page))
		return fmt.Sprintf("<%s/repositories/%d%s?%s>; rel=%q", s.URL(), r.id, rest, q.Encode(), rel)
	}
	var links []string
	if number > 1 {
		links = append(links, at(number-1, "prev"))
	}
	if number < last {
		links = append(links, at(number+1, "next"), at(last, "last"))
	}
	if number > 1 {
		links = append(links, at(1, "first"))
	}
	return strings.Join(links, ", ")
}

func positive(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return n
	}
	return otherwise
}

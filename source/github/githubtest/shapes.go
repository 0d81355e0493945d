package githubtest

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// object is a JSON object.
type object map[string]any

// shape returns one of GitHub's examples as if it were about item number of r:
// addresses lead there, everything else is still the example's.
func (s *Server) shape(example string, r *repo, number int) object {
	text := loaded().examples[example]
	if strings.HasPrefix(text, "[") {
		var all []json.RawMessage
		mustDecode(text, &all)
		text = string(all[0])
	}
	full := "octocat/Hello-World"
	name := full
	if r != nil {
		name = r.full()
	}
	text = strings.NewReplacer(
		"api.github.com/repos/"+full, "api.github.com/repos/"+name,
		"github.com/"+full, "github.com/"+name,
	).Replace(text)
	text = strings.NewReplacer(
		"https://api.github.com", s.URL(), "http://api.github.com", s.URL(),
		"https://github.com/"+name, s.o.Web+"/"+name,
		"/1347", "/"+strconv.Itoa(number), "/pull/1#", fmt.Sprintf("/pull/%d#", number),
		"/pull/12#", fmt.Sprintf("/pull/%d#", number), "/pulls/12\"", fmt.Sprintf("/pulls/%d\"", number),
	).Replace(text)
	var o object
	mustDecode(text, &o)
	return o
}

func mustDecode(text string, v any) {
	if err := json.Unmarshal([]byte(text), v); err != nil {
		panic("githubtest: example: " + err.Error())
	}
}

func (o object) with(fields object) object {
	for k, v := range fields {
		o[k] = v
	}
	return o
}

// account is null for nobody, as GitHub says a deleted account.
func (s *Server) account(login string) json.RawMessage {
	u := s.named(login)
	if u == nil || u.deleted {
		return json.RawMessage("null")
	}
	if u.shown == nil {
		u.shown = s.showAccount(u)
	}
	return u.shown
}

func (s *Server) showAccount(u *user) json.RawMessage {
	text, err := json.Marshal(s.shape("issue", nil, 0)["user"])
	if err != nil {
		panic("githubtest: " + err.Error())
	}
	var o object
	mustDecode(strings.ReplaceAll(string(text), "octocat", url.PathEscape(u.login)), &o)
	kind := "User"
	if u.bot {
		kind = "Bot"
	}
	text, err = json.Marshal(o.with(object{"login": u.login, "id": u.id, "type": kind}))
	if err != nil {
		panic("githubtest: " + err.Error())
	}
	return text
}

func (s *Server) repository(r *repo) object {
	o := s.shape("full-repository-default-response", r, 0)
	for _, related := range []string{"template_repository", "parent", "source", "organization"} {
		delete(o, related)
	}
	return o.with(object{
		"id": r.id, "name": r.name, "full_name": r.full(), "owner": s.account(r.owner),
		"has_issues": !r.issuesOff, "language": nil, "default_branch": defaultBranch,
	})
}

func (s *Server) issue(r *repo, i *issue) object {
	o := s.shape("issue", r, i.number).with(object{
		"id": i.id, "node_id": i.nodeID, "number": i.number, "title": i.title, "body": i.body,
		"user": s.account(i.author), "labels": labels(r, i.labels), "comments": len(i.comments),
		"state": "open", "state_reason": nil, "closed_at": nil, "closed_by": nil,
		"assignee": nil, "assignees": []any{}, "milestone": nil, "locked": false, "active_lock_reason": nil,
		"created_at": stamp(i.created), "updated_at": stamp(i.updated),
	})
	delete(o, "repository")
	if !i.closed.IsZero() {
		o.with(object{"state": "closed", "state_reason": "completed", "closed_at": stamp(i.closed)})
	}
	if !i.pull {
		delete(o, "pull_request")
		return o
	}
	page := fmt.Sprintf("%s/%s/pull/%d", s.o.Web, r.full(), i.number)
	return o.with(object{"html_url": page, "pull_request": object{
		"url":      fmt.Sprintf("%s/repos/%s/pulls/%d", s.URL(), r.full(), i.number),
		"html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch", "merged_at": nil,
	}})
}

func labels(r *repo, names []string) []object {
	out := []object{}
	for n, name := range names {
		out = append(out, object{
			"id": r.id*100 + int64(n), "node_id": "LA_" + strconv.Itoa(n), "name": name, "description": nil,
			"color": "ededed", "default": false, "url": "https://api.github.com/repos/" + r.full() + "/labels/" + url.PathEscape(name),
		})
	}
	return out
}

func (s *Server) conversation(r *repo, i *issue, c *comment) object {
	return s.shape("issue-comment", r, i.number).with(object{
		"id": c.id, "node_id": c.nodeID, "body": c.body, "user": s.account(c.author),
		"html_url":   fmt.Sprintf("%s/%s/%s/%d#issuecomment-%d", s.o.Web, r.full(), section(i), i.number, c.id),
		"created_at": stamp(c.created), "updated_at": stamp(c.updated),
	})
}

func (s *Server) review(r *repo, i *issue, c *comment) object {
	o := s.shape("pull-request-review-items", r, i.number).with(object{
		"id": c.id, "node_id": c.nodeID, "body": c.body, "user": s.account(c.author), "state": c.state,
		"html_url":     fmt.Sprintf("%s/%s/pull/%d#pullrequestreview-%d", s.o.Web, r.full(), i.number, c.id),
		"submitted_at": stamp(c.created),
	})
	if c.state == "PENDING" {
		delete(o, "submitted_at")
	}
	return o
}

func (s *Server) inlineComment(r *repo, i *issue, c *comment) object {
	o := s.shape("pull-request-review-comment-items", r, i.number).with(object{
		"id": c.id, "node_id": c.nodeID, "body": c.body, "user": s.account(c.author),
		"html_url": fmt.Sprintf("%s/%s/pull/%d#discussion_r%d", s.o.Web, r.full(), i.number, c.id),
		"path":     c.path, "line": c.line, "original_line": c.original,
		"created_at": stamp(c.created), "updated_at": stamp(c.updated),
	})
	// What is outdated has no line of its own. The description, which knows a
	// number only, leaves it out; GitHub says null.
	if c.line == 0 {
		delete(o, "line")
	}
	return o
}

func (s *Server) reaction(r reaction) object {
	return s.shape("reaction", nil, 0).with(object{
		"id": r.id, "content": r.content, "user": s.account(r.author), "created_at": stamp(r.at),
	})
}

func section(i *issue) string {
	if i.pull {
		return "pull"
	}
	return "issues"
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

package main_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"theloop/record"
	"theloop/source/github/githubtest"
)

// move is a state root as the Python version leaves it, its tracker, and the tmux
// server with its sessions.
type move struct {
	*life
	github *githubtest.Server
	said   map[int][]string // ids of what was said since, by item
}

func newMove(t *testing.T) *move {
	t.Helper()
	l := newLife(t, programs{loop: inPath(t, "the-loop"), agent: inPath(t, "agent")})
	m := &move{life: l, github: githubtest.New(t, githubtest.Options{}), said: map[int][]string{}}
	m.env = append(m.env, "GH_TOKEN="+m.github.Token())
	m.write("config.yaml", fmt.Sprintf(`polling:
  sources: [{provider: github, repos: [octo/repo]}]
routing:
  authorizedUsers: [octocat]
  defaultHarness: claude
  tmux: {resumeProbeSeconds: 0}
  harnesses:
    claude:
      command: [%[1]q, -log, %[2]q, -session-id, '{{sessionId}}', '{{prompt}}']
      resume: [%[1]q, -log, %[2]q, -resume, '{{sessionId}}', '{{prompt}}']
integrations: {github: {api: {baseUrl: %[3]q}}}
`, m.bin.agent, m.path("agent.log"), m.github.URL()))
	m.github.AddRepo("octo/repo")
	for n := 1; n <= moveItems; n++ {
		m.past(n)
	}
	m.handle(moveLive, liveConversation, "active")
	m.handle(moveDead, deadConversation, "active")
	m.handle(moveItems, "5e0f8c1d-7a42-4b6f-9d3e-1c2b3a4d5e6f", "closed")
	m.oldSession(moveLive, liveConversation)
	return m
}

// past makes an item on the tracker, and the record that the old poller kept.
func (m *move) past(n int) {
	issue := githubtest.Issue{Author: "octocat", Title: fmt.Sprintf("item %d", n), Labels: []string{"the-loop: auto-execute"}}
	if n == movePull {
		issue.Pull, issue.Labels = true, nil
	}
	if got := m.github.AddIssue("octo/repo", issue); got != n {
		m.Fatalf("item %d has the number %d", n, got)
	}
	if n == movePull {
		m.github.SetCloses("octo/repo", n, fmt.Sprintf("octo/repo#%d", moveLive))
	}
	var seen []string
	for i := range oldWords {
		seen = append(seen, m.github.AddComment("octo/repo", n, githubtest.Comment{Author: "octocat", Body: fmt.Sprintf("old words %d of item %d", i, n)}).NodeID)
	}
	slices.Reverse(seen) // its order is the old poller's own
	poll := map[string]any{"seenComments": seen, "lastPolledAt": "2026-07-31T10:42:00Z"}
	doc := map[string]any{"ref": m.ref(n), "url": m.url(n), "poll": poll}
	if n == movePull { // counted here, and delivered by what the issue's session says
		poll["seenComments"], poll["commentAttempts"] = seen[1:], map[string]int{seen[0]: 1}
	} else if n <= moveDead || n == moveItems {
		doc["control"] = m.control(n, "start")
	} else {
		m.kind(n, doc, poll)
	}
	m.writeJSON(fmt.Sprintf(".the-loop/portable/github-octo-repo-%d.json", n), doc)
}

// kind gives the other items what the old poller's records have in them. None of it
// asks for a session or a delivery.
func (m *move) kind(n int, doc, poll map[string]any) {
	switch n % 6 {
	case 0: // only watched
		poll["spawn"], poll["gaveUp"] = map[string]any{}, map[string]any{}
	case 1: // started, and its start was served
		doc["control"] = m.control(n, "start")
		poll["spawn"] = map[string]any{"attempts": 0, "gaveUp": false, "deliveryId": ""}
	case 2:
		doc["control"] = m.control(n, "stop")
		doc["graph"] = map[string]any{"loop": "pdlc-work-item-loop", "nodes": []any{}}
	case 3:
		doc["control"] = m.control(n, "pause")
		doc["custom"] = map[string]any{"kept": true}
	case 4: // given up, and by an agreement not tried again
		doc["control"] = m.control(n, "cleanup")
		poll["spawn"] = map[string]any{"attempts": 3, "gaveUp": true, "deliveryId": ""}
	case 5:
		m.github.CloseIssue("octo/repo", n)
		delete(doc, "poll")
		doc["sealed"] = true
	}
}

func (m *move) ref(n int) string { return fmt.Sprintf("github:octo/repo#%d", n) }

// url is where people see the item.
func (m *move) url(n int) string {
	if n == movePull {
		return fmt.Sprintf("https://github.com/octo/repo/pull/%d", n)
	}
	return fmt.Sprintf("https://github.com/octo/repo/issues/%d", n)
}

func (m *move) control(n int, command string) map[string]any {
	return map[string]any{
		"ref": m.ref(n), "command": command, "source": "comment", "actor": "octocat",
		"requestedAt": "2026-07-31T09:11:58Z", "note": "",
	}
}

// handle writes what the old poller kept of a session; the live one's says that the
// pull request belongs to it and that its last comment was delivered.
func (m *move) handle(n int, conversation, status string) {
	m.Helper()
	item := func(n int) map[string]any {
		return map[string]any{"ref": m.ref(n), "provider": "github", "owner": "octo", "repo": "repo", "number": n}
	}
	doc := map[string]any{
		"workItem": item(n), "harness": "claude", "harnessSessionId": conversation, "cwd": m.dir, "status": status,
		"createdAt": "2026-07-31T09:12:04Z", "lastEventAt": "2026-07-31T10:41:59Z", "url": "",
		"tmuxTarget": fmt.Sprintf("loop-github-octo-repo-%d", n), "recentDeliveries": []string{}, "pullRequests": []any{},
	}
	if n == moveLive {
		doc["recentDeliveries"] = []string{record.CommentDeliveryID(m.tried())}
		doc["pullRequests"] = []any{map[string]any{
			"workItem": item(movePull), "harness": "claude", "harnessSessionId": "", "cwd": "", "status": "active",
			"createdAt": "2026-07-31T10:00:00Z", "lastEventAt": nil, "tmuxTarget": "", "recentDeliveries": []any{},
		}}
	}
	m.writeJSON(fmt.Sprintf(".the-loop/local/github-octo-repo-%d.json", n), doc)
}

// tried is the pull request's comment that its record only knows as attempted.
func (m *move) tried() string {
	return m.github.Comments("octo/repo", movePull)[oldWords-1].NodeID
}

// oldSession makes a session as the Python version does: no marks.
func (m *move) oldSession(n int, conversation string) {
	m.Helper()
	a := m.finish(m.command("tmux", "new-session", "-d", "-s", fmt.Sprintf("loop-github-octo-repo-%d", n), "-c", m.dir,
		"--", m.bin.agent, "-log", m.path("agent.log"), "--session-id", conversation, "the old first prompt"))
	if a.code != 0 {
		m.Fatal(a.stderr)
	}
	m.until("the old session is up", func() bool { return m.told("the old first prompt") == 1 })
}

func (m *move) writeJSON(name string, doc any) {
	m.Helper()
	text, err := json.Marshal(doc)
	if err != nil {
		m.Fatal(err)
	}
	m.write(name, string(text))
}

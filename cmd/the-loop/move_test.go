package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"theloop/source/github/githubtest"
	"theloop/testdata/harness/harnesslog"
)

// The move from the Python version (docs/moving.md): thirty items, a live session
// as it makes them, a dead one, a pull request that belongs to the live one's issue
// and whose last comment only the session's handle knows to be delivered. Import,
// plan and two cycles send nothing again, bring up nothing that nobody asked for,
// and put each new comment into the old pane, once (B6, D5, D7, P3, X4).
func TestTheMove(t *testing.T) {
	t.Parallel()
	m := newMove(t)

	refused := m.run("poll", "start", "--once")
	if refused.code != 1 || !strings.Contains(refused.stderr, "the-loop migrate import-json") {
		t.Errorf("a start beside records: exit code %d: %s", refused.code, refused.stderr)
	}
	dry := m.report("--dry-run")
	if _, err := os.Stat(m.path(".the-loop/ledger.db")); err == nil {
		t.Error("the refused start, or the dry run, made a ledger")
	}
	want := importReport{Imported: moveItems, Links: 1, FirstSight: []string{}, Retries: []any{}, Conflicts: []any{}, Invalid: []any{}}
	want.Sessions.Live, want.Sessions.Gone = 2, 1
	want.DryRun = true
	m.same("the dry run", dry, want)
	want.DryRun = false
	m.same("the import", m.report(), want)
	want.Imported, want.Unchanged, want.Links, want.Sessions.Live, want.Sessions.Gone = 0, moveItems, 0, 0, 0
	m.same("a second import", m.report(), want)
	m.exported("as it was", nil)

	m.says(moveLive, "token-the-issue")
	m.says(movePull, "token-the-pull")
	m.planned(moveLive, movePull)
	m.once(2)
	m.hears("token-the-issue", "token-the-pull")
	m.says(movePull, "token-the-pull-again")
	m.once(1)
	m.hears("token-the-issue", "token-the-pull", "token-the-pull-again")
	m.once(0)
	m.hears("token-the-issue", "token-the-pull", "token-the-pull-again")
	m.exported("two cycles later", m.said)
	m.must("ledger", "check")
	if again := m.report(); again.Imported != 0 {
		t.Errorf("an import behind the cycles takes %d records over what happened", again.Imported)
	}

	// The dead one comes back as the conversation that it was, once it is asked for.
	m.says(moveDead, "token-the-dead")
	m.once(1)
	m.resumed("token-the-dead")
}

// The items with a story; the others are of the kinds that move.kind tells.
const (
	moveItems = 30
	moveLive  = 1
	movePull  = 2
	moveDead  = 3
	oldWords  = 3 // comments an item has
)

const (
	liveConversation = "6f1f0c2e-8a0e-4f0b-9f0d-0c1b2a3d4e5f"
	deadConversation = "0b6f3a52-91f7-4c39-8a4e-5d2f7b1c6e90"
)

func (m *move) says(n int, text string) {
	c := m.github.AddComment("octo/repo", n, githubtest.Comment{Author: "octocat", Body: text})
	m.said[n] = append(m.said[n], c.NodeID)
}

// importReport is what `migrate import-json` answers.
type importReport struct {
	Imported, Unchanged, Links  int
	Conflicts, Invalid, Retries []any
	FirstSight                  []string
	Sessions                    struct{ Live, Gone, Foreign int }
	DryRun                      bool
}

func (m *move) report(args ...string) importReport {
	m.Helper()
	var r importReport
	text := m.must(append([]string{"migrate", "import-json", "--format", "json"}, args...)...)
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		m.Fatalf("%v: %s", err, text)
	}
	return r
}

func (m *move) same(what string, got, want any) {
	m.Helper()
	if d := cmp.Diff(want, got); d != "" {
		m.Errorf("%s (-want +got):\n%s", what, d)
	}
}

// planned demands that the next cycle would deliver to these items and do nothing
// else that anybody could notice.
func (m *move) planned(items ...int) {
	m.Helper()
	var doc struct {
		Items []struct {
			Ref   string
			Steps []struct{ Kind string }
		}
		Errors []string
	}
	text := m.must("poll", "plan", "--format", "json")
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		m.Fatal(err)
	}
	var would, want []string
	for _, item := range doc.Items {
		for _, step := range item.Steps {
			would = append(would, step.Kind+" "+item.Ref)
		}
	}
	for _, n := range items {
		want = append(want, "deliver "+m.ref(n))
	}
	slices.Sort(would)
	m.same("the plan", would, want)
	m.same("the plan's errors", doc.Errors, []string{})
}

// once runs a cycle that forwards so many comments.
func (m *move) once(forwarded int) {
	m.Helper()
	before := len(m.events("poll.comment_forwarded"))
	out := m.must("poll", "start", "--once")
	if got := len(m.events("poll.comment_forwarded")) - before; got != forwarded {
		m.Errorf("%d comments were forwarded, want %d: %s", got, forwarded, out)
	}
}

// hears demands that the old pane was told these texts, once each, and no old one,
// and that there is no other session.
func (m *move) hears(texts ...string) {
	m.Helper()
	for _, text := range texts {
		m.until(text+" has arrived", func() bool { return m.told(quoted(text)) > 0 })
	}
	records, err := harnesslog.Read(m.path("agent.log"))
	if err != nil {
		m.Fatal(err)
	}
	if starts := harnesslog.Starts(records); len(starts) != 1 {
		m.Errorf("%d agents were started, want the old one alone", len(starts))
	}
	all := strings.Join(harnesslog.Texts(records), "\n")
	for _, text := range texts {
		if got := m.told(quoted(text)); got != 1 {
			m.Errorf("%s was told %d times:\n%s", text, got, all)
		}
	}
	if strings.Contains(all, "old words") {
		m.Errorf("something was sent again:\n%s", all)
	}
	list := m.finish(m.command("tmux", "list-sessions", "-F", "#{session_name}"))
	m.same("the sessions", list.stdout, fmt.Sprintf("loop-github-octo-repo-%d\n", moveLive))
}

// quoted is a text as prompts carry it: in their data.
func quoted(text string) string { return `"` + text + `"` }

// resumed demands that the dead conversation was taken up with the text.
func (m *move) resumed(text string) {
	m.Helper()
	m.until(text+" has arrived", func() bool { return m.told(quoted(text)) > 0 })
	records, err := harnesslog.Read(m.path("agent.log"))
	if err != nil {
		m.Fatal(err)
	}
	starts := harnesslog.Starts(records)
	if len(starts) != 2 || starts[1].Resume != deadConversation || m.told(quoted(text)) != 1 {
		m.Errorf("%d agents; the last one goes on with %q; %s was told %d times", len(starts), starts[len(starts)-1].Resume, text, m.told(quoted(text)))
	}
}

// exported demands that the export gives back the originals, with what was said
// since among what was seen.
func (m *move) exported(when string, since map[int][]string) {
	m.Helper()
	to := m.path("export " + when)
	m.must("migrate", "export-json", "--to", to, "--sessions")
	for n := 1; n <= moveItems; n++ {
		name := fmt.Sprintf("portable/github-octo-repo-%d.json", n)
		want, got := m.document(m.path(".the-loop/"+name)), m.document(filepath.Join(to, name))
		if since != nil {
			happened(want, got, n, m.tried(), since[n])
		}
		m.same(name+" "+when, got, want)
	}
}

// happened puts what the cycles add into the document that was: what was said, and
// that the comment which the session's handle proves is dealt with.
func happened(want, got map[string]any, n int, tried string, said []string) {
	was, _ := want["poll"].(map[string]any)
	is, _ := got["poll"].(map[string]any)
	if was == nil || is == nil {
		return
	}
	was["lastPolledAt"] = is["lastPolledAt"]
	if n == movePull {
		said = append([]string{tried}, said...)
	}
	for _, id := range said {
		was["seenComments"] = append(was["seenComments"].([]any), id)
	}
}

func (m *move) document(path string) (doc map[string]any) {
	m.Helper()
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, &doc)
	}
	if err != nil {
		m.Fatal(err)
	}
	return doc
}

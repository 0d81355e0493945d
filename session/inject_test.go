//go:build unix

package session

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"theloop/record"
	"theloop/workitem"
)

// hostile is what somebody would write who knows what is behind: @CANARY is a
// file that must never come to be.
var hostile = []string{
	"#(touch @CANARY)", "#{@the_loop_owner}", "#{", "%1", "=loop-1:", ";", "\\;", "; kill-server", "' ; kill-server ; '", "\" ; kill-server ; \"", "}", "{ kill-server }",
	"$(touch @CANARY)", "`touch @CANARY`", "$HOME", "${IFS}", "*", "~", ",", "-x", "--config=/etc/passwd", "-t=x", "--upload-pack=touch @CANARY", "../../../../tmp/x", "/etc/passwd",
	"\n", "\r", "\x00", "\x1b[201~touch @CANARY\r", "\u202e", "\u2028", "\xff", "{{prompt}}", "{{sessionId}}", "{{workItem}}", "$payload_excerpt", "${delivery_id}", "$$", "%s%n", "&&", "|", "<!-- the-loop:agent-comment -->",
}

// attack writes a few of them in a row.
func attack(rng *rand.Rand, canary string) string {
	var b strings.Builder
	for range 1 + rng.IntN(4) {
		b.WriteString(hostile[rng.IntN(len(hostile))])
	}
	return strings.ReplaceAll(b.String(), "@CANARY", canary)
}

// life is one session from its first prompt to its end, with hostile texts in
// everything that trackers, rows and folders can hold.
func (r *rig) wholeLife(say func() string) {
	r.t.Helper()
	ref := workitem.Ref{Provider: "github", Host: say(), Owner: say(), Repo: say(), Number: 15}
	dir := filepath.Join(r.dir, strings.NewReplacer("/", "_", "\x00", "_").Replace(say()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		r.t.Fatal(err)
	}
	r.settings.Workdir = dir
	failed := ""
	r.host.Emit = func(_ string, fields map[string]any) {
		if why, ok := fields["error"]; ok {
			failed += fmt.Sprint(why) + "\n"
		}
	}
	r.settings.HarnessArgs = map[string][]string{"test": {"-session-id", strings.ReplaceAll(say(), "\x00", "")}}
	item := workitem.Item{Ref: ref, Kind: workitem.PullRequest, URL: say(), Title: say(), Body: say(), Author: workitem.Author{Login: say()}, Source: say()}
	r.ledger.put(ref, record.Observe{Item: item}, record.FirstSeen{At: time.Now().Add(-time.Hour)},
		record.PutSession{Session: record.Session{ // as an import may have written it
			Harness: "test", HarnessSessionID: say(), TmuxTarget: say(), Pane: say(), Identity: say(), Cwd: say(), Status: record.Active, Host: testHost,
		}})
	for n := range 3 {
		c := workitem.Comment{
			ID: say() + string(rune('a'+n)), Author: workitem.Author{Login: "octocat"}, Body: say(), URL: say(), Path: say(), Line: n,
			Surface: workitem.Inline, CreatedAt: noon.Add(time.Duration(n) * time.Second),
		}
		id := record.CommentDeliveryID(c.ID)
		r.ledger.put(ref, record.Hold{Note: record.NoteOf(c)}, record.Queue{Comment: c.ID, DeliveryID: id, Run: r.host.Run})
		story := Story{Item: item, Thread: []workitem.Comment{{ID: "x", Author: workitem.Author{Login: "hubot"}, Body: say()}}}
		if got := r.host.Deliver(r.t.Context(), Delivery{Ref: ref, DeliveryID: id, Comment: c, Story: story}); got != Done {
			r.t.Fatalf("%+q: %s, %s", c.Body, got, failed)
		}
		texts := r.texts(n + 1)
		want := strings.ToValidUTF8(c.Body, "\ufffd")
		if d := data(r.t, texts[n]); d.Event.Text != want && !strings.Contains(c.Body, "\xff") {
			r.t.Errorf("it reads %+q, not %+q", d.Event.Text, want)
		}
		if n == 1 {
			if got := r.host.Close(r.t.Context(), Close{Ref: ref, Reason: say()}); got != Done {
				r.t.Errorf("closed: %s", got)
			}
		}
	}
}

// values are what of ours may differ from one call to the next: names of our
// making, ids and numbers.
var values = regexp.MustCompile(`loop-[A-Za-z0-9_-]+|(x--)?[0-9a-f]{8}[0-9a-f-]*|harmless|[0-9]+`)

// D8, A5: a fuzz test through a tmux that writes down its arguments: whatever the
// texts are, each argument is a constant but for values of our own form, and
// nothing of the texts is run.
func TestRealInjection(t *testing.T) {
	t.Parallel()
	rng := seeded(t)
	shapes := func(say func(canary string) string) map[string]string {
		r := newRig(t)
		calls := r.recorded()
		r.host.pause = func(context.Context, time.Duration) error {
			r.eventually("it has started", func() bool { return len(r.records()) > 0 })
			return nil
		}
		canary := filepath.Join(r.dir, "canary")
		r.wholeLife(func() string { return say(canary) })
		set := map[string]string{}
		for _, call := range calls() {
			for _, arg := range call {
				shape := values.ReplaceAllString(arg, "N")
				set[shape] = arg
				if strings.Contains(shape, "canary") || strings.ContainsAny(shape, "\x00\u202e\u2028") {
					t.Errorf("a text is in the argument %+q", arg)
				}
			}
		}
		if _, err := os.Stat(canary); err == nil {
			t.Error("a text was run")
		}
		if left := r.user("list-buffers"); left != "" {
			t.Errorf("buffers are left: %s", left)
		}
		return set
	}
	harmless := shapes(func(string) string { return "harmless" }) // which a conversation's id may be
	maps.Copy(harmless, shapes(func(string) string { return "harmless text" }))
	if len(harmless) < 20 {
		t.Fatalf("only %d kinds of arguments: %q", len(harmless), harmless)
	}
	for range long(4, 150) {
		for shape, arg := range shapes(func(canary string) string { return attack(rng, canary) }) {
			if _, ok := harmless[shape]; !ok {
				t.Errorf("only with hostile texts: %+q", arg)
			}
		}
	}
}

// A5: what a tracker names is no repository of ours: a ref that holds anything
// but what refs are made of is refused where it is read.
func TestHostileRefsAreRefused(t *testing.T) {
	for _, text := range append([]string{"--upload-pack=x", "../x", "$(x)", "a/b"}, hostile...) {
		for _, parts := range [][2]string{{text, "repo"}, {"octo", text}} {
			if ref, err := workitem.NewRef("github", "", parts[0], parts[1], 1); err == nil && (ref.Owner != "octo" && ref.Owner != text || strings.ContainsAny(text, "/$#;`'\"\n\x00{}*~|&")) {
				t.Errorf("%+q was let in as %+v", parts, ref)
			}
		}
	}
}

package poller

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"theloop/eventlog"
)

var update = flag.Bool("update", false, "write docs/behaviour.md anew")

// docs/behaviour.md is the table. go test ./poller -run TestTheDocument -update
// writes it.
func TestTheDocumentIsTheTable(t *testing.T) {
	const file = "../docs/behaviour.md"
	want := document()
	if *update {
		if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the table says: go test ./poller -run TestTheDocument -update", file)
	}
}

// What the table says can be read, and every event that it names can be found.
func TestTheTableCanBeRead(t *testing.T) {
	for _, p := range table {
		seen := map[string]bool{}
		for _, r := range p.rules {
			if seen[r.name] || r.name == "" || r.text == "" || !strings.HasSuffix(r.text, ".") {
				t.Errorf("%s: %q says %q", p.title, r.name, r.text)
			}
			seen[r.name] = true
			for _, e := range r.says() {
				if !slices.Contains(eventlog.Names(), e) {
					t.Errorf("%s: %q names the event %q, which there is not", p.title, r.name, e)
				}
			}
		}
	}
}

// says is every event that tells of a rule: its own, then those of the work that
// it asks for.
func (r rule) says() []string {
	events := slices.Clone(r.events)
	if r.deliver {
		events = append(events, "dispatch.succeeded", "dispatch.failed")
	}
	if r.giveUp {
		events = append(events, "poll.giveup_reported")
	}
	if r.occupied {
		events = append(events, "dispatch.dropped")
	}
	word, _, _ := strings.Cut(r.session, ":")
	return append(events, map[string][]string{
		"spawn": {"session.spawned", "dispatch.failed"}, "close": {"session.closed"}, "adopt": {"session.adopted"},
	}[word]...)
}

// shown is what events shows of a rule, with the word that tells it from others.
func (r rule) shown() string {
	reason := map[string]string{
		"poll.comment_settled": r.settle, "poll.comment_dropped": r.baseline, "dispatch.dropped": "session-occupied",
	}
	var out []string
	for _, e := range r.says() {
		at := "`" + e + "`"
		if reason[e] != "" {
			at += " (" + reason[e] + ")"
		}
		out = append(out, at)
	}
	return strings.Join(out, ", ")
}

func document() string {
	var b strings.Builder
	b.WriteString(preface)
	b.WriteString("\n| it depends on | which is one of |\n|---|---|\n")
	for _, a := range axes {
		fmt.Fprintf(&b, "| %s | %s |\n", meaning[a], strings.Join(a.values, ", "))
	}
	fmt.Fprintf(&b, "\n%s\n", reading)
	for _, p := range table {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| situation | what happens | `events` shows | how to change it |\n|---|---|---|---|\n", p.title, p.intro)
		for _, r := range p.rules {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", capital(r.name), r.text, r.shown(), r.change)
		}
	}
	return b.String()
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

var meaning = map[*axis]string{
	bySight:    "whether the item was seen before",
	byItem:     "what the tracker says of it (*off list*: it is open and has lost its label; *open again*: it had ended)",
	byTarget:   "whose session it is: its own, or that of the item that a pull request belongs to",
	byRow:      "what the ledger has of that session (*elsewhere*: it is another machine's)",
	byPane:     "what tmux says of it (*unknown*: it did not answer; *occupied*: something that is not ours has its name)",
	byControl:  "the command that was recorded last (`do` and `contribute` are a start, and so is a `resume` that was obeyed)",
	byOpener:   "who opened the item: somebody in `routing.authorizedUsers`, or not",
	byAuthor:   "who wrote the comment (*nobody*: the account was deleted; *marked*: it carries the mark of what agents and the poller post)",
	byBody:     "what the comment says",
	byDelivery: "what became of the comment so far (*none*: it is new; *waiting*: it is to be sent; *queued*, *started*: it is in its session's queue; *gave up before*: another release did)",
	byAttempts: "whether its attempts are below `polling.maxRetries` or at it",
	byPolicy:   "`routing.spawnOnUnmatched`",
	byStart:    "`routing.control.requireStartCommand`",
	byRevision: "whether somebody else wrote the record meanwhile",
	byOrder:    "whether the comment was written behind the command that was recorded last, or before it (that one stands on another item of the same session then: a pull request, or its issue)",
}

const preface = `# What it does when

This page is for whoever runs the-loop and asks: why did it do that, how do I see it, how do I change it?
It has a line for every situation that a work item and a comment on it can be in.
[behaviours.md](behaviours.md) is the specification: what must hold, by number, with what no single decision
shows (locks, crashes, trackers, tmux). Where the two differ, behaviours.md is right and this page has a bug.

About an item of your own, ` + "`the-loop ledger why REF`" + ` tells what was seen, decided and tried, and
` + "`the-loop poll plan`" + ` what the next cycle would do. ` + "`the-loop events`" + ` shows the events that are named here.

Do not edit it: it is written by the tests from the table that they hold the program against
(` + "`go test ./poller -run TestTheDocument -update`" + `).

## What a decision depends on
`

const reading = `Every combination of these that there can be has one line in each part below, and one alone. What happens
is what these lines say together, and nothing else. What a line does not mention makes no difference to it,
unless another line of the same part mentions it.
A session *is there* when its row is active and its terminal lives, or it is paused; one that is dead or gone is
brought back, with its conversation, by the next thing that is to be delivered. With several comments, each is
dealt with in the thread's order on what the one before it left.`

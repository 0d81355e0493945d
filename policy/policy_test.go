package policy

import (
	"testing"

	"theloop/workitem"
)

func TestAuthorized(t *testing.T) { // A1
	p := New(Options{AuthorizedUsers: []string{"octocat", " @Hubot ", "", "renovate", "Copilot[bot]", "kim", "[bot]", "AaZz-Mm"}})
	for _, tt := range []struct {
		why    string
		author workitem.Author
		want   bool
	}{
		{"a listed account", workitem.Author{Login: "octocat"}, true},
		{"in another case", workitem.Author{Login: "OctoCat"}, true},
		{"the first letter and the last, in the other case", workitem.Author{Login: "aAzZ-mM"}, true},
		{"the signs next to the letters", workitem.Author{Login: "octoc@t"}, false},
		{"listed with an at sign and spaces", workitem.Author{Login: "hubot"}, true},
		{"a stranger", workitem.Author{Login: "mallory"}, false},
		{"a longer name", workitem.Author{Login: "octocat2"}, false},
		{"nobody, though an empty name is listed", workitem.Author{}, false},
		{"nobody, marked as a bot", workitem.Author{Bot: true}, false},
		{"nobody, with a number", workitem.Author{ID: 7}, false},
		{"a look-alike that only Unicode folds to k", workitem.Author{Login: "\u212Aim"}, false},
		{"a bot that is listed itself", workitem.Author{Login: "Copilot[bot]", Bot: true}, true},
		{"a listed bot that the tracker spells without the suffix", workitem.Author{Login: "copilot", Bot: true}, true},
		{"a bot, when the person of that name is listed", workitem.Author{Login: "renovate", Bot: true}, false},
		{"a bot with the suffix, when the person of that name is listed", workitem.Author{Login: "renovate[bot]", Bot: true}, false},
		{"a bot that nobody marked as one", workitem.Author{Login: "renovate[bot]"}, false},
		{"a person, when the bot of that name is listed", workitem.Author{Login: "Copilot"}, false},
		{"an app that writes as a listed person", workitem.Author{Login: "octocat", Bot: true}, false},
	} {
		if got := p.Authorized(tt.author); got != tt.want {
			t.Errorf("%s: Authorized(%+v) = %v", tt.why, tt.author, got)
		}
	}
}

func TestNobodyIsObeyedWithoutAList(t *testing.T) { // A1
	for _, p := range []Policy{{}, New(Options{}), New(Options{AuthorizedUsers: []string{"", " ", "@"}})} {
		if !p.Empty() || p.Authorized(workitem.Author{Login: "octocat"}) || p.Authorized(workitem.Author{}) {
			t.Errorf("%+v obeys somebody", p)
		}
	}
	if New(Options{AuthorizedUsers: []string{"octocat"}}).Empty() {
		t.Error("a policy with a user is empty")
	}
}

func TestSelfAuthored(t *testing.T) { // A2
	for body, want := range map[string]bool{
		"Done.\n\n" + Marker:                      true,
		Marker + "\nthe-loop start":               true,
		"> " + Marker + "\n> Done.\n\nI disagree": true,
		"```\n" + Marker + "\n```":                true,
		"":                                        false,
		"the-loop:agent-comment":                  false,
		"<!-- the-loop:agent-comment-2 -->":       false,
		"<!-- the-loop:notice IC_1 6.1.0 -->":     false,
	} {
		if got := SelfAuthored(body); got != want {
			t.Errorf("SelfAuthored(%q) = %v", body, got)
		}
	}
	if Marker != "<!-- the-loop:agent-comment -->" {
		t.Error("the marker that is on comments already has changed")
	}
}

func TestSpawnPolicy(t *testing.T) { // X4
	for _, tt := range []struct {
		spawn              Spawn
		labelled, unmarked bool
	}{
		{"", true, false},
		{SpawnLabeled, true, false},
		{SpawnAlways, true, true},
		{SpawnNever, false, false},
		{"sometimes", false, false},
	} {
		p := New(Options{SpawnOnUnmatched: tt.spawn})
		if p.MaySpawn(true) != tt.labelled || p.MaySpawn(false) != tt.unmarked {
			t.Errorf("%q: labelled %v, not labelled %v", tt.spawn, p.MaySpawn(true), p.MaySpawn(false))
		}
	}
}

func TestRequireStartNeedsControl(t *testing.T) { // X5
	for _, tt := range []struct{ control, require, want bool }{
		{true, true, true}, {true, false, false}, {false, true, false}, {false, false, false},
	} {
		if got := New(Options{ControlEnabled: tt.control, RequireStart: tt.require}).RequireStart(); got != tt.want {
			t.Errorf("control %v, requireStartCommand %v: %v", tt.control, tt.require, got)
		}
	}
}

func TestMaxRetries(t *testing.T) { // B2
	for given, want := range map[int]int{0: DefaultMaxRetries, -1: DefaultMaxRetries, 1: 1, 7: 7} {
		if got := New(Options{MaxRetries: given}).MaxRetries(); got != want {
			t.Errorf("MaxRetries %d: %d, want %d", given, got, want)
		}
	}
	if got := (Policy{}).MaxRetries(); got != 1 {
		t.Errorf("without options: %d, want 1", got)
	}
}

func TestCommandWords(t *testing.T) { // X4
	for _, tt := range []struct {
		word   string
		arming bool
		acts   Command
	}{
		{"start", true, Start},
		{"do", true, Start},
		{"contribute", true, Start},
		{"resume", true, Resume},
		{"stop", false, Stop},
		{"pause", false, Pause},
		{"cleanup", false, Cleanup},
	} {
		c, ok := ParseCommand(tt.word)
		if !ok || c.Arming() != tt.arming || c.ActsAs() != tt.acts {
			t.Errorf("%s: known %v, arming %v, acts as %s", tt.word, ok, c.Arming(), c.ActsAs())
		}
	}
	for _, word := range []string{"", "execute", "Start", "the-loop start"} {
		if c, ok := ParseCommand(word); ok || c.Arming() {
			t.Errorf("%q is taken for a command", word)
		}
	}
	if len(AllCommands()) != 7 {
		t.Error("there are seven commands")
	}
}

func TestKeyword(t *testing.T) {
	p := New(Options{ControlEnabled: true, Keywords: map[Command]string{Start: "go", Stop: ""}})
	for c, want := range map[Command]string{Start: "go", Stop: "", Pause: "the-loop pause", "execute": ""} {
		if got := p.Keyword(c); got != want {
			t.Errorf("Keyword(%s) = %q, want %q", c, got, want)
		}
	}
	if got := New(Options{}).Keyword(Start); got != "" {
		t.Errorf("without control the keyword is %q", got)
	}
}

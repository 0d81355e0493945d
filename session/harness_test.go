package session

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"theloop/workitem"
)

// The command lines of the built-in and the configured harnesses: placeholders
// in one pass, arguments before the prompt, a prompt always.
func TestHarnessArgv(t *testing.T) {
	s := Settings{
		HarnessArgs: map[string][]string{"claude": {"--model", "x {{workItem}}"}, "mine": {"-v"}, "cursor": {"--force"}},
		Harnesses: map[string]Harness{
			"mine":   {Command: []string{"mine", "--id={{sessionId}}", "--on", "{{workItem}}"}},
			"inside": {Command: []string{"in", "--prompt={{prompt}}", "{{sessionId}}{{sessionId}}"}, Resume: []string{"in", "-r", "{{sessionId}}", "{{prompt}}", "tail"}},
			"cursor": {Command: []string{"my-cursor", "{{prompt}}"}},
		},
	}
	const prompt = "do {{sessionId}} {{workItem}}"
	for _, c := range []struct {
		name   string
		resume bool
		want   []string
	}{
		{"claude", false, []string{"claude", "--session-id", "ID", "--model", "x github:octo/repo#15", "{{prompt}}"}},
		{"claude", true, []string{"claude", "--resume", "ID", "--model", "x github:octo/repo#15", "{{prompt}}"}},
		{"mine", false, []string{"mine", "--id=ID", "--on", "github:octo/repo#15", "-v", "{{prompt}}"}},
		{"inside", false, []string{"in", "--prompt=" + prompt, "IDID"}},
		{"inside", true, []string{"in", "-r", "ID", "{{prompt}}", "tail"}},
		{"cursor", false, []string{"my-cursor", "--force", "{{prompt}}"}},
	} {
		h, err := s.harness(c.name)
		if err != nil {
			t.Fatal(err)
		}
		command := h.Command
		if c.resume {
			command = h.Resume
		}
		if diff := cmp.Diff(c.want, h.argv(command, "ID", prompt, octoRef)); diff != "" {
			t.Errorf("%s (resume %v):\n%s", c.name, c.resume, diff)
		}
	}
	strange := workitem.Ref{Provider: "github", Owner: "o\x00\n", Repo: "r\u202e", Number: 1}
	if argv := s.Harnesses["mine"].argv([]string{"mine", "{{workItem}}"}, "ID", prompt, strange); strings.ContainsAny(argv[1], "\x00\n\u202e") {
		t.Errorf("a strange ref is in %q", argv)
	}
	cursor, err := Settings{}.harness("cursor")
	if err != nil || cursor.namesSession() || len(cursor.Resume) == 0 {
		t.Errorf("cursor: %+v %v", cursor, err)
	}
	if _, err := (Settings{}).harness("vim"); err == nil || !strings.Contains(err.Error(), "routing.harnesses") {
		t.Errorf("an unknown harness: %v", err)
	}
}

func TestSessionIDs(t *testing.T) {
	uuid := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	a, err := newSessionID(nil)
	b, err2 := newSessionID(nil)
	if err != nil || err2 != nil || a == b || !uuid.MatchString(a) || !usableSessionID(a) {
		t.Errorf("%q %q %v %v", a, b, err, err2)
	}
	fixed, err := newSessionID(bytes.NewReader(make([]byte, 16)))
	if err != nil || fixed != "00000000-0000-4000-8000-000000000000" {
		t.Errorf("%q %v", fixed, err)
	}
	if _, err := newSessionID(strings.NewReader("short")); err == nil {
		t.Error("an id without randomness")
	}
	for _, bad := range []string{"", "--help", "a b", "a;b", "$(x)", "../x", strings.Repeat("a", 129)} {
		if usableSessionID(bad) {
			t.Errorf("%q may stand in a command line", bad)
		}
	}
}

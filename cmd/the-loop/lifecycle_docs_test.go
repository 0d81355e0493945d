package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func document(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Every command of the operating guide is understood, and those of this program
// are run by a script, but for what needs a service manager.
func TestOperationsAreRun(t *testing.T) {
	guide := document(t, "docs/operations.md")
	script := document(t, "cmd/the-loop/testdata/script/lifecycle_operations.txtar")
	var run []string
	for line := range strings.Lines(script) {
		line = strings.TrimSpace(line)
		for _, name := range []string{" &poller&", " &follow&"} {
			line = strings.TrimSuffix(line, name)
		}
		run = append(run, strings.NewReplacer("exec ", "", "$MODULE/", "", ".local/", "~/.local/", ".config/", "~/.config/").Replace(line))
	}
	commands := 0
	for _, line := range shown(guide) {
		commands++
		program, _, _ := strings.Cut(line, " ")
		switch program {
		case "systemctl", "journalctl":
			if !strings.Contains(line, "the-loop") && !strings.Contains(line, "daemon-reload") {
				t.Errorf("%q is about another unit", line)
			}
		case "launchctl":
			if !strings.Contains(line, "the-loop") {
				t.Errorf("%q is about another agent", line)
			}
		case "loginctl", "sed", "make":
		default:
			if !slices.Contains(run, line) {
				t.Errorf("no script runs %q", line)
			}
		}
	}
	if commands < 20 {
		t.Errorf("the guide shows %d commands: that cannot be all", commands)
	}
	for _, line := range commandLines(guide) {
		if err := understood(t, strings.ReplaceAll(line, "&& the-loop poll start", "")); err != nil {
			t.Errorf("the guide shows %q: %v", line, err)
		}
	}
}

// shown are the lines of the blocks that are to be typed.
func shown(text string) (lines []string) {
	block := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "```"):
			block = line == "```sh"
		case block && line != "":
			lines = append(lines, line)
		}
	}
	return lines
}

// The unit lets tmux survive a restart of the poller, keeps files private, and
// runs a command that there is.
func TestSystemdUnit(t *testing.T) {
	unit := document(t, "docs/systemd/the-loop.service")
	for _, line := range []string{
		"Type=notify", "KillMode=process", "UMask=0077", "LimitCORE=0", "NoNewPrivileges=yes", "WantedBy=default.target",
	} {
		if !strings.Contains("\n"+unit, "\n"+line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
	_, command, _ := strings.Cut(unit, "\nExecStart=%h/.local/bin/")
	command, _, _ = strings.Cut(command, "\n")
	if err := understood(t, command); err != nil {
		t.Errorf("it starts %q: %v", command, err)
	}
}

// The same for launchd.
func TestLaunchdAgent(t *testing.T) {
	plist := document(t, "docs/launchd/the-loop.plist")
	decoder := xml.NewDecoder(strings.NewReader(plist))
	var words []string
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.CharData:
			if word := strings.TrimSpace(string(token)); word != "" {
				words = append(words, word)
			}
		case xml.StartElement:
			if token.Name.Local == "true" {
				words = append(words, "true")
			}
		}
	}
	text := strings.Join(words, " ")
	for _, part := range []string{
		"ProgramArguments HOME/.local/bin/the-loop poll start --foreground ", " AbandonProcessGroup true ", " Umask 63 ", " Core 0 ", " RunAtLoad true ",
	} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in %s", part, text)
		}
	}
}

var said = regexp.MustCompile("`((?:the-loop|tmux) [a-z][^`\n]*)`")

// Every command of the guide to sessions is run by one of its two scripts, every
// word of it said there, and its entry for another agent used.
func TestSessionsGuideIsRun(t *testing.T) {
	guide := document(t, "docs/sessions.md")
	script := document(t, "cmd/the-loop/testdata/script/sessions_guide.txtar") + document(t, "cmd/the-loop/testdata/script/sessions_guide_own.txtar")
	var run []string
	for line := range strings.Lines(script) {
		line = strings.ReplaceAll(strings.TrimSpace(line), "'", "")
		for _, before := range []string{"exec tmux -L desk new-window -t desk: ", "env -u TMUX ", "github comment octo/repo#15 octocat ", "exec "} {
			line = strings.TrimPrefix(line, before)
		}
		run = append(run, line)
	}
	lines := shown(guide)
	for _, found := range said.FindAllStringSubmatch(guide, -1) {
		lines = append(lines, found[1])
	}
	for _, line := range lines {
		plain := strings.NewReplacer("'", "", `"`, "").Replace(line) // a script does not part words at the blanks of a variable
		if !slices.ContainsFunc(run, func(s string) bool { return s == plain || strings.HasPrefix(s, plain+`\n`) }) {
			t.Errorf("no script runs %q", line)
		}
	}
	if len(lines) < 10 {
		t.Errorf("the guide shows %q: that cannot be all", lines)
	}
	_, entry, _ := strings.Cut(guide, "```yaml\nrouting:\n")
	entry, _, _ = strings.Cut(entry, "```")
	if entry == "" || !strings.Contains(script, entry) {
		t.Errorf("no script uses this entry for another agent:\n%s", entry)
	}
}

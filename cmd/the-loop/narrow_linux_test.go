package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"theloop/view"
)

// What people copy from a terminal, refs and ids of comments, is whole however narrow
// that is, on a line that holds it, and no other line is wider (cli: ledger, sessions).
func TestNarrowTerminals(t *testing.T) {
	t.Parallel()
	l := newLife(t, programs{loop: inPath(t, "the-loop"), agent: inPath(t, "agent")})
	for _, kind := range []string{"portable", "local"} {
		if err := os.CopyFS(l.path(filepath.Join(".the-loop", kind)), os.DirFS(filepath.Join("..", "..", "testdata", kind))); err != nil {
			t.Fatal(err)
		}
	}
	long := "github:ghe.corp.example/an-organisation/a-repository-of-it#1234"
	l.write(".the-loop/portable/long.json", fmt.Sprintf(`{"ref": %q, "poll": {"commentAttempts": {"PRRC_kwDOABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789": 1}}}`, long))
	if a := l.run("migrate", "import-json"); a.code > 1 {
		t.Fatal(a.stderr)
	}
	for _, c := range []struct {
		args  []string
		whole []string
	}{
		{[]string{"ledger", "list"}, []string{"github:ghe.corp.example/octo/repo#15", "github:octo/repo#15", "jira:acme/core#204", long}},
		{[]string{"sessions", "list"}, []string{"github:octo/repo#15"}},
		{[]string{"ledger", "inspect", "github:octo/repo#15"}, []string{"github:octo/repo#15", "IC_kwDOQ1aB7s6Zq001", "PRR_kwDOQ1aB7s6Zq002"}},
		{[]string{"ledger", "inspect", long}, []string{long, "PRRC_kwDOABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"}},
	} {
		for _, columns := range []uint16{40, 60, 80, 200} {
			tt, cmd := newTerminal(t, columns), l.command(l.bin.loop, c.args...)
			cmd.Env = append(cmd.Env, "NO_COLOR=1")
			cmd.Stdout, cmd.Stderr = tt.tty, tt.tty
			shown, code := tt.run(cmd)
			if code != 0 {
				t.Fatalf("%v: exit code %d: %s", c.args, code, shown)
			}
			for _, name := range c.whole {
				if !strings.Contains(shown, name) {
					t.Errorf("%v on %d columns has no %s:\n%s", c.args, columns, name, shown)
				}
			}
			if _, table, facts := strings.Cut(shown, "\r\n\r\n"); facts && c.args[1] == "inspect" {
				_, shown, _ = strings.Cut(table, "\r\n\r\n") // facts are the terminal's to wrap
			}
			for line := range strings.Lines(shown) {
				line = strings.TrimRight(line, "\r\n")
				if view.Width(line) > int(columns) && strings.Contains(line, " ") {
					t.Errorf("%v: %d columns of %d: %q", c.args, view.Width(line), columns, line)
				}
			}
		}
	}
}

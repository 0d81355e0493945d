package main_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// On a terminal an import shows how far it is, on one line of stderr that is gone
// when the answer comes; on a pipe nothing of it is there (cli: migrate).
func TestProgress(t *testing.T) {
	t.Parallel()
	const records = 300
	l := newLife(t, programs{loop: inPath(t, "the-loop"), agent: inPath(t, "agent")})
	for n := 1; n <= records; n++ {
		l.write(fmt.Sprintf(".the-loop/portable/%d.json", n), fmt.Sprintf(`{"ref": "github:octo/repo#%d", "poll": {"seenComments": ["IC_1"]}}`, n))
	}
	answer := fmt.Sprintf("imported %d records, 0 unchanged, 0 conflicts, 0 invalid\n", records)
	if piped := l.run("migrate", "import-json", "--dry-run"); piped.stderr != "" || strings.ContainsAny(piped.stdout, "\r\x1b") {
		t.Errorf("on pipes: stdout %q, stderr %q", piped.stdout, piped.stderr)
	}
	for _, c := range []struct {
		columns uint16
		args    []string
		shown   []string
		answer  string
	}{
		{100, []string{"migrate", "import-json", "--dry-run"}, []string{"reading ", "importing "}, "it would import"},
		{30, []string{"migrate", "import-json"}, []string{"reading ", "importing "}, answer},
		{100, []string{"migrate", "export-json", "--to", "out"}, []string{"exporting "}, "exported 300 records"},
	} {
		tt, cmd := newTerminal(t, c.columns), l.command(l.bin.loop, c.args...)
		var stdout bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, tt.tty
		shown, code := tt.run(cmd)
		if code != 0 || !strings.Contains(stdout.String(), c.answer) || strings.ContainsAny(stdout.String(), "\r\x1b") {
			t.Errorf("%v: exit code %d, %q", c.args, code, stdout.String())
		}
		for _, want := range c.shown {
			if !regexp.MustCompile(want + ` +\d+% \[`).MatchString(shown) {
				t.Errorf("%v: a terminal of %d columns shows no %q: %q", c.args, c.columns, want, shown)
			}
		}
		if !strings.HasSuffix(shown, "\x1b[2K\r") || strings.Contains(shown, "\n") {
			t.Errorf("%v: a line is left on the terminal: %q", c.args, shown)
		}
		for _, line := range strings.FieldsFunc(shown, func(r rune) bool { return r == '\r' }) {
			if text := strings.ReplaceAll(strings.ReplaceAll(line, "\x1b[0K", ""), "\x1b[2K", ""); len(text) > int(c.columns) {
				t.Errorf("%v: %q is wider than %d columns", c.args, text, c.columns)
			}
		}
	}

	// one that fails half way takes the bar away before it says why
	l.write("in-the-way/portable/github-octo-repo-150.json/README", "a folder has the name of a record\n")
	tt, cmd := newTerminal(t, 100), l.command(l.bin.loop, "migrate", "export-json", "--to", "in-the-way", "--force")
	cmd.Stderr = tt.tty
	shown, code := tt.run(cmd)
	if code != 1 || !strings.Contains(shown, "exporting ") || !strings.Contains(shown, "\x1b[2K\rthe-loop: ") {
		t.Errorf("exit code %d, %q", code, shown)
	}
}

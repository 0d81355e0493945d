package main_test

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"theloop/testdata/harness/harnesslog"
)

// harnessInput is all that the agents' terminals got.
func (c *crash) harnessInput() string {
	c.t.Helper()
	records, err := harnesslog.Read(c.log())
	if err != nil {
		c.t.Fatal(err)
	}
	return string(harnesslog.Input(records, 0))
}

// With tokens in the poller's environment none of them is in tmux's environment,
// the panes, any other process, or a file (D8, P9).
func TestTokensStayWithThePoller(t *testing.T) {
	t.Parallel()
	c := newCrashWith(t, inPath(t, "the-loop"), inPath(t, "agent"), "")
	c.begin(1)
	const token = "ghp_a-token-that-nobody-else-may-see"
	cmd := c.command("poll", "start", "--interval", "0.1")
	for _, name := range []string{"GH_TOKEN", "GITHUB_TOKEN", "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN", "ANTHROPIC_API_KEY", "AWS_SECRET_ACCESS_KEY", "MY_OWN"} {
		cmd.Env = append(cmd.Env, name+"="+token)
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	c.eventually("the session is up", func() bool {
		records, err := harnesslog.Read(c.log())
		return err == nil && len(harnesslog.Starts(records)) > 0
	})
	c.says(1)
	c.eventually("the comment arrives", func() bool { return strings.Contains(c.harnessInput(), "token-000001-end") })

	tmux := func(args ...string) string {
		ask := exec.Command("tmux", args...)
		ask.Env = c.env
		out, err := ask.CombinedOutput()
		if err != nil {
			t.Errorf("tmux %q: %v %s", args, err, out)
		}
		return string(out)
	}
	target := "=loop-inbox-local-demo-1:"
	places := map[string]string{
		"tmux's environment":     tmux("show-environment", "-g"),
		"the session's":          tmux("show-environment", "-t", target),
		"tmux's options":         tmux("show-options", "-s") + tmux("show-options", "-g") + tmux("show-options", "-p", "-t", target),
		"the pane":               tmux("capture-pane", "-p", "-S", "-", "-t", target),
		"tmux's buffers":         tmux("list-buffers"),
		"what started the agent": tmux("list-panes", "-a", "-F", "#{pane_start_command}"),
	}
	ours := c.processes(cmd.Process.Pid, places)
	if ours < 2 { // at least the tmux server and the agent
		t.Errorf("only %d other processes of ours were looked at", ours)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &output)
	}
	places["what the poller printed"] = output.String()
	if err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && filepath.Ext(path) != ".bin" {
			text, readErr := os.ReadFile(path)
			places[path], err = string(text), readErr
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for place, text := range places {
		if strings.Contains(text, token) {
			t.Errorf("a token is in %s", place)
		}
	}
	if _, ok := places[filepath.Join(c.dir, ".the-loop", "ledger.db")]; !ok {
		t.Error("the ledger was not looked into")
	}
}

// processes puts the command line and environment of every process but the poller
// into places, and returns how many of them are of this world.
func (c *crash) processes(poller int, places map[string]string) (ours int) {
	c.t.Helper()
	entries, err := os.ReadDir("/proc")
	if err != nil {
		c.t.Fatal(err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		command, _ := os.ReadFile("/proc/" + e.Name() + "/cmdline") // it may be gone by now
		places["the command line of "+e.Name()] = string(command)
		if pid == poller {
			continue
		}
		environ, _ := os.ReadFile("/proc/" + e.Name() + "/environ")
		places["the environment of "+e.Name()+" "+string(command)] = string(environ)
		if bytes.Contains(environ, []byte("HOME="+c.dir+"\x00")) {
			ours++
		}
	}
	return ours
}

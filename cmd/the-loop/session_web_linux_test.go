package main_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The web terminal, with a real server in the place of ttyd (R3): it shows the
// sessions of this ledger and no others, lets nobody type, is refused by name
// when it cannot be had, and ends with the poller.
func TestWebTerminal(t *testing.T) {
	t.Parallel()
	tools := t.TempDir()
	if err := os.Rename(build(t, "./testdata/ttyd", tools), filepath.Join(tools, "ttyd")); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	c := newCrashWith(t, inPath(t, "the-loop"), inPath(t, "agent"), fmt.Sprintf("  webTerminal: {enabled: true, port: %d}\n", port))
	c.begin(1)
	c.begin(2)

	if said := c.refused(); !strings.Contains(said, "ttyd is not there (PATH=") {
		t.Errorf("without ttyd: %s", said)
	}
	for i, kv := range c.env {
		if path, ok := strings.CutPrefix(kv, "PATH="); ok {
			c.env[i] = "PATH=" + tools + ":" + path
		}
	}
	if said := c.refused(); !strings.Contains(said, fmt.Sprintf("127.0.0.1:%d", port)) {
		t.Errorf("with the port taken: %s", said)
	}
	if entries, _ := filepath.Glob(filepath.Join(c.dir, ".the-loop", "*.db")); len(entries) > 0 {
		t.Errorf("a refused start made %q", entries)
	}
	l.Close()

	private := exec.Command("tmux", "new-session", "-d", "-s", "private", "echo the user\\'s own; exec cat")
	private.Env = c.env
	if out, err := private.CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	cmd := c.command("poll", "start", "--interval", "0.1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill() }()
	base := fmt.Sprintf("http://127.0.0.1:%d", port)
	c.eventually("it shows both sessions", func() bool {
		text := fetch(base + "/")
		return strings.Contains(text, "?arg=loop-inbox-local-demo-1") && strings.Contains(text, "?arg=loop-inbox-local-demo-2") && !strings.Contains(text, "private")
	})
	c.eventually("it shows one of them", func() bool {
		return strings.Contains(fetch(base+"/?arg=loop-inbox-local-demo-2&send=typed-by-a-stranger%0d"), "harness is ready")
	})
	for _, bad := range []string{"private", "loop-inbox-local-demo-", "--instance=x", "=private:", "$0", "%250"} {
		if text := fetch(base + "/?arg=" + bad); strings.Contains(text, "the user's own") || !strings.Contains(text, "no session") {
			t.Errorf("%s shows %q", bad, text)
		}
	}
	if text := fetch(base + "/?arg=loop-inbox-local-demo-2&arg=x"); !strings.Contains(text, "unexpected argument") {
		t.Errorf("two names show %q", text)
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, &stderr)
	}
	if text := fetch(base + "/"); !strings.Contains(text, "refused") {
		t.Errorf("behind the poller somebody answers: %s", text)
	}
	if !strings.Contains(stderr.String(), base) {
		t.Errorf("it does not say where: %s", &stderr)
	}
	if log := c.harnessInput(); strings.Contains(log, "typed-by-a-stranger") {
		t.Errorf("what a browser sent arrived: %q", log)
	}
}

// R3: what a browser sees ends with the browser, also below a poller that was
// started with nohup(1), whose children ignore SIGHUP.
func TestWebTerminalUnderNohup(t *testing.T) {
	t.Parallel()
	c := newCrashWith(t, inPath(t, "the-loop"), inPath(t, "agent"), "")
	cmd := exec.Command("sh", "-c", `trap "" HUP; exec "$0" session-view --instance=nobodys --`, c.program)
	cmd.Dir, cmd.Env = c.dir, c.env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	forgotten := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
	defer forgotten.Stop()
	if _, err := io.ReadAtLeast(out, make([]byte, 100), len("no sessions")); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("it did not end by itself: %v", err)
	}
}

// refused starts a poller that must not start, and returns what it says.
func (c *crash) refused() string {
	c.t.Helper()
	out, err := c.command("poll", "start", "--once").CombinedOutput()
	if err == nil {
		c.t.Errorf("it was started: %s", out)
	}
	return string(out)
}

// fetch asks once, on a connection of its own.
func fetch(url string) string {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return string(text)
}

func (c *crash) eventually(what string, ok func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); <-time.After(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatalf("%s: not within 20 s", what)
		}
	}
}

package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"theloop/testdata/harness/harnesslog"
)

// crashRounds is how many kills the short form makes; SOAK=N makes N.
const crashRounds = 50

// Nothing is lost and nothing is sent twice through kill -9 (F5, B8, D2, D7):
// the real program on the real tmux is killed at random moments while comments
// arrive; after clean cycles every authorised comment is in exactly one pane
// exactly once, in thread order, in one session an item, counted from what the
// harness read and not from the ledger. Nothing is given up, which is less than
// the one in a hundred that might be where a pane is lost with its poller.
func TestNothingIsLostThroughKills(t *testing.T) {
	t.Parallel()
	rounds := crashRounds
	if soak, err := strconv.Atoi(os.Getenv("SOAK")); err == nil {
		rounds = soak
	}
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("replay with SEED=%d SOAK=%d go test -run %s ./cmd/the-loop", seed, rounds, t.Name())
	rng := rand.New(rand.NewPCG(seed, 0))

	c := newCrash(t, 3)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { c.writeUntil(stop, rand.New(rand.NewPCG(seed, 1))) })
	for range rounds {
		c.runAndKill(time.Duration(100+rng.IntN(1500)) * time.Millisecond)
	}
	close(stop)
	writer.Wait()
	c.settle()
	c.check()
}

// crash is one world: an inbox with started items, a state root, a tmux server.
type crash struct {
	t         *testing.T
	dir       string
	program   string
	env       []string
	items     int
	tokens    int
	mu        sync.Mutex
	said      map[int][]string // authorised tokens by item, in thread order
	strangers []string
}

func newCrash(t *testing.T, items int) *crash {
	t.Helper()
	dir := t.TempDir()
	c := newCrashWith(t, build(t, "./cmd/the-loop", dir), build(t, "./testdata/harness", dir), "")
	for n := 1; n <= items; n++ {
		c.begin(n)
	}
	return c
}

// newCrashWith makes a world without items. more is added to the routing part of
// its configuration.
func newCrashWith(t *testing.T, program, harness, more string) *crash {
	t.Helper()
	c := &crash{t: t, dir: t.TempDir(), program: program, said: map[int][]string{}}
	sockets, err := os.MkdirTemp("", "tl")
	if err != nil {
		t.Fatal(err)
	}
	c.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.dir, "TMUX_TMPDIR=" + sockets, "TERM=xterm"}
	t.Cleanup(func() {
		kill := exec.Command("tmux", "kill-server")
		kill.Env = c.env
		_ = kill.Run() // none may run
		os.RemoveAll(sockets)
	})
	c.write("cli-config.yaml", fmt.Sprintf(`polling:
  maxRetries: 3
  sources:
    - provider: inbox
      path: inbox
routing:
  authorizedUsers: [octocat]
  maxSessions: 100
  defaultHarness: logging
  tmux:
    resumeProbeSeconds: 0
  harnesses:
    logging:
      command: [%[1]q, -log, %[2]q, -session-id, "{{sessionId}}", "{{prompt}}"]
      resume: [%[1]q, -log, %[2]q, -resume, "{{sessionId}}", "{{prompt}}"]
%[3]s`, harness, c.log(), more))
	return c
}

// begin makes an item that is started.
func (c *crash) begin(n int) {
	c.items = max(c.items, n)
	c.write(fmt.Sprintf("inbox/%d/item.md", n), "---\ntitle: item\nauthor: octocat\nlabels: ['the-loop: auto-execute']\nstate: open\n---\nwork\n")
	c.write(fmt.Sprintf("inbox/%d/comments/20260101T000000Z-octocat.md", n), "the-loop start\n")
}

// build compiles a package of this module and returns the program.
func build(t testing.TB, pkg, dir string, flags ...string) string {
	t.Helper()
	out := filepath.Join(dir, filepath.Base(pkg)+".bin")
	cmd := exec.Command("go", append(append([]string{"build", "-o", out}, flags...), pkg)...)
	cmd.Dir = filepath.Join("..", "..")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, text)
	}
	return out
}

// write makes a file in one step, so that nobody sees half of it.
func (c *crash) write(name, text string) {
	path := filepath.Join(c.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		c.t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(c.dir, "aside"), []byte(text), 0o600); err != nil {
		c.t.Error(err)
	}
	if err := os.Rename(filepath.Join(c.dir, "aside"), path); err != nil {
		c.t.Error(err)
	}
}

// writeUntil lets people write comments: some of them strangers.
func (c *crash) writeUntil(stop <-chan struct{}, rng *rand.Rand) {
	tick := time.NewTicker(120 * time.Millisecond)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-stop:
			return
		case <-tick.C:
		}
		item, token := 1+rng.IntN(c.items), fmt.Sprintf("token-%06d-end", n)
		at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * time.Second)
		author := "octocat"
		if rng.IntN(10) == 0 {
			author = "mallory"
		}
		c.mu.Lock()
		if author == "octocat" {
			c.said[item] = append(c.said[item], token)
		} else {
			c.strangers = append(c.strangers, token)
		}
		c.mu.Unlock()
		c.write(fmt.Sprintf("inbox/%d/comments/%s-%s.md", item, at.Format("20060102T150405Z"), author), token+"\n")
	}
}

func (c *crash) command(args ...string) *exec.Cmd {
	cmd := exec.Command(c.program, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	cmd.Args = append(cmd.Args, "-c", "cli-config.yaml")
	return cmd
}

// runAndKill starts the poller and kills it after a while.
func (c *crash) runAndKill(after time.Duration) {
	c.t.Helper()
	cmd := c.command("poll", "start", "--interval", "0.05")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case err := <-exited:
		c.t.Fatalf("the poller ended by itself: %v\n%s", err, &stderr)
	case <-ctx.Done(): // the random moment
	}
	if err := cmd.Process.Signal(syscall.SIGKILL); err != nil && !errors.Is(err, os.ErrProcessDone) {
		c.t.Fatal(err)
	}
	<-exited
}

// settle runs clean cycles until nothing is pending any more.
func (c *crash) settle() {
	c.t.Helper()
	deadline := time.Now().Add(2 * time.Minute)
	for {
		if out, err := c.command("poll", "start", "--once").CombinedOutput(); err != nil {
			c.t.Fatalf("a clean cycle: %v\n%s", err, out)
		}
		out, err := c.command("ledger", "list", "--pending").Output()
		if err != nil {
			c.t.Fatalf("ledger list: %v", err)
		}
		if strings.TrimSpace(string(out)) == "no work items" {
			return
		}
		if time.Now().After(deadline) {
			c.t.Fatalf("still pending after clean cycles:\n%s", out)
		}
	}
}

var tokens = regexp.MustCompile(`token-\d+-end`)

func (c *crash) check() {
	c.t.Helper()
	records, err := harnesslog.Read(c.log())
	if err != nil {
		c.t.Fatal(err)
	}
	all := 0
	for n := 1; n <= c.items; n++ {
		got := c.heard(records, n)
		all += len(got)
		if want := c.said[n]; !slices.Equal(got, want) {
			c.t.Errorf("item %d: %s", n, difference(got, want))
		}
		for _, token := range c.strangers {
			if slices.Contains(got, token) {
				c.t.Errorf("item %d heard a stranger: %s", n, token)
			}
		}
	}
	out, err := c.command("ledger", "list", "--gave-up").Output()
	if err != nil || strings.TrimSpace(string(out)) != "no work items" {
		c.t.Errorf("given up: %v\n%s", err, out)
	}
	c.t.Logf("%d comments delivered, each once", all)
}

func (c *crash) log() string { return filepath.Join(c.dir, "harness.log") }

// heard is the tokens that an item's session was told, in order. There must
// have been one session.
func (c *crash) heard(records []harnesslog.Record, item int) []string {
	c.t.Helper()
	var mine []harnesslog.Record
	for _, start := range harnesslog.Starts(records) {
		if !bytes.Contains(start.Prompt, fmt.Appendf(nil, "inbox:local/demo#%d\"", item)) {
			continue
		}
		if mine != nil {
			c.t.Errorf("item %d had more than one session", item)
		}
		for _, r := range records {
			if r.PID == start.PID {
				mine = append(mine, r)
			}
		}
	}
	var got []string
	for _, text := range harnesslog.Texts(mine) {
		got = append(got, tokens.FindAllString(text, -1)...)
	}
	return got
}

func difference(got, want []string) string {
	count := map[string]int{}
	for _, token := range got {
		count[token]++
	}
	var parts []string
	for _, token := range want {
		if count[token] != 1 {
			parts = append(parts, fmt.Sprintf("%s arrived %d times", token, count[token]))
		}
	}
	if len(parts) == 0 {
		return fmt.Sprintf("the order is not the thread's: %v, want %v", got, want)
	}
	return strings.Join(parts, "; ")
}

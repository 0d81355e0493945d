package main_test

import (
	"encoding/json"
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

// longForm is how many rounds a test makes: SOAK's when it is set.
func longForm(short int) int {
	if n, err := strconv.Atoi(os.Getenv("SOAK")); err == nil && n > 0 {
		return n
	}
	return short
}

// The real program, killed by itself at each of its named failpoints, first while
// it brings sessions up, then while it delivers: each comment arrives once, in
// order; each item has one session, which is announced once (F5, B8, D2, D7, D12).
func TestKilledAtEveryFailpoint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c := newCrashWith(t, build(t, "./cmd/the-loop", dir, "-tags", "failpoint"), inPath(t, "agent"), "")
	next := 0
	for range (longForm(1) + 99) / 100 {
		var items []int
		for _, at := range []string{"decided", "committed", "started", "pasted", "proved", "outcome", "announced"} {
			next++
			c.begin(next)
			items = append(items, next)
			c.runUntilKilledAt(at)
		}
		c.settle()
		// Each at a session of its own: one that was cut waits for its deadline.
		for i, at := range []string{"decided", "committed", "loaded", "started", "pasted", "outcome"} {
			c.says(items[i])
			c.says(items[i])
			c.runUntilKilledAt(at)
		}
		c.settle()
	}
	c.check()
	for n := 1; n <= c.items; n++ {
		if times := c.announced(n); times != 1 {
			t.Errorf("item %d was announced %d times", n, times)
		}
	}
}

// inPath is a program that TestMain has put into PATH.
func inPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// says leaves a comment of somebody who may give input.
func (c *crash) says(item int) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.tokens++
	token := fmt.Sprintf("token-%06d-end", c.tokens)
	c.said[item] = append(c.said[item], token)
	at := time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC).Add(time.Duration(c.tokens) * time.Second)
	c.write(fmt.Sprintf("inbox/%d/comments/%s-octocat.md", item, at.Format("20060102T150405Z")), token+"\n")
	return token
}

// runUntilKilledAt runs a poller that is built with failpoints until it has died
// at one.
func (c *crash) runUntilKilledAt(point string) {
	c.t.Helper()
	cmd := c.command("poll", "start", "--interval", "0.05")
	cmd.Env = append(slices.Clone(cmd.Env), "THE_LOOP_FAILPOINT="+point)
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	exited := make(chan error, 1)
	go func() { exited <- cmd.Wait() }()
	select {
	case <-exited:
	case <-time.After(20 * time.Second):
		_ = cmd.Process.Kill()
		<-exited
		c.t.Fatalf("it never came to %s", point)
	}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
		c.t.Fatalf("at %s it ended by itself: %v", point, cmd.ProcessState)
	}
}

// announced is how often the session of an item stands announced on it.
func (c *crash) announced(item int) (times int) {
	c.t.Helper()
	posted, err := filepath.Glob(filepath.Join(c.dir, "inbox", strconv.Itoa(item), "comments", "*-the-loop.md"))
	if err != nil {
		c.t.Fatal(err)
	}
	for _, path := range posted {
		text, err := os.ReadFile(path)
		if err != nil {
			c.t.Fatal(err)
		}
		times += strings.Count(string(text), "<!-- the-loop:announced ")
	}
	return times
}

// Nothing that releases are made of knows the failpoints.
func TestReleasesHaveNoFailpoints(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-f", "{{.GoFiles}}", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	if files := string(out); strings.Contains(files, "failpoint_on.go") || !strings.Contains(files, "failpoint_off.go") {
		t.Errorf("a release is made of %s", files)
	}
}

// With the tmux server killed, too, every comment arrives at least once, in order,
// at most once in one life of a pane; what comes again says that it may be a
// repeat (D7, I1, I7, I11).
func TestKilledWithItsServer(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("replay with SEED=%d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	c := newCrashWith(t, inPath(t, "the-loop"), inPath(t, "agent"), "")
	for n := range 3 {
		c.begin(n + 1)
	}
	c.settle() // what is there at first sight is told in another way (X1)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() { c.writeUntil(stop, rand.New(rand.NewPCG(seed, 1))) })
	for round := range longForm(5) {
		c.runAndKill(time.Duration(300+rng.IntN(1200)) * time.Millisecond)
		if round%2 == 0 || rng.IntN(2) == 0 {
			c.killServer()
		}
	}
	close(stop)
	writer.Wait()
	c.settle()
	records, err := harnesslog.Read(c.log())
	if err != nil {
		t.Fatal(err)
	}
	repeats := 0
	for n := 1; n <= c.items; n++ {
		repeats += c.atLeastOnce(n, records)
	}
	if t.Failed() {
		for n := 1; n <= c.items; n++ {
			out, _ := c.command("ledger", "inspect", fmt.Sprintf("inbox:local/demo#%d", n)).CombinedOutput()
			t.Logf("%s", out)
		}
	}
	t.Logf("%d comments came again and said so", repeats)
}

// The same, killed at each named failpoint and the server right behind it, while
// nobody is left to ask what arrived.
func TestKilledAtFailpointsWithItsServer(t *testing.T) {
	t.Parallel()
	c := newCrashWith(t, build(t, "./cmd/the-loop", t.TempDir(), "-tags", "failpoint"), inPath(t, "agent"), "")
	points := []string{"decided", "committed", "started", "loaded", "pasted", "outcome"}
	for n := range points {
		c.begin(n + 1)
	}
	c.settle()
	for range (longForm(1) + 99) / 100 {
		for i, at := range points {
			c.says(i + 1)
			c.says(i + 1)
			c.runUntilKilledAt(at)
			c.killServer()
			if at != "started" && at != "pasted" && at != "outcome" { // those wait for a deadline of ten seconds
				c.settle()
			}
		}
		c.settle()
	}
	records, err := harnesslog.Read(c.log())
	if err != nil {
		t.Fatal(err)
	}
	repeats := 0
	for n := 1; n <= c.items; n++ {
		repeats += c.atLeastOnce(n, records)
	}
	t.Logf("%d comments came again and said so", repeats)
}

// killServer kills the tmux server, if one runs, and waits until it is gone. The
// agents have read what was pasted by then: what is in a terminal when its server
// is killed is delivered, and nobody reads it any more (D7).
func (c *crash) killServer() {
	c.t.Helper()
	for size, quiet := int64(-1), 0; quiet < 20; <-time.After(10 * time.Millisecond) {
		info, err := os.Stat(c.log())
		if err != nil || info.Size() == size {
			quiet++
			continue
		}
		size, quiet = info.Size(), 0
	}
	ask := exec.Command("tmux", "list-sessions", "-F", "#{pid}")
	ask.Env = c.env
	out, _ := ask.Output() // none may run
	text, _, _ := strings.Cut(string(out), "\n")
	pid, err := strconv.Atoi(text)
	if err != nil {
		return
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		c.t.Error(err)
	}
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil; <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal("the tmux server does not go")
		}
	}
}

var excerpt = regexp.MustCompile("(?s)\n`{3,}json\n(.*)\n`{3,}$")

// event is the words that a prompt was sent for, and which item's they are.
func event(t *testing.T, prompt string) (item, words string) {
	t.Helper()
	var doc struct {
		WorkItem string
		Event    struct{ Text string }
	}
	found := excerpt.FindStringSubmatch(prompt)
	if found == nil {
		return "", "" // a conversation that goes on without a word
	}
	if err := json.Unmarshal([]byte(found[1]), &doc); err != nil {
		t.Fatalf("%v in %s", err, prompt)
	}
	return doc.WorkItem, strings.TrimSpace(doc.Event.Text)
}

// atLeastOnce holds what the lives of an item's sessions were told against the
// thread, and returns how often something came again.
func (c *crash) atLeastOnce(n int, records []harnesslog.Record) (repeats int) {
	c.t.Helper()
	ref, said := fmt.Sprintf("inbox:local/demo#%d", n), c.said[n]
	heard := map[string]int{}
	for _, start := range harnesslog.Starts(records) {
		mine := slices.DeleteFunc(slices.Clone(records), func(r harnesslog.Record) bool { return r.PID != start.PID })
		last := -1
		for _, prompt := range harnesslog.Texts(mine) {
			item, words := event(c.t, prompt)
			at := slices.Index(said, words)
			if item != ref || words == "" || words == "the-loop start" {
				continue
			}
			switch {
			case at < 0:
				c.t.Errorf("item %d heard %q", n, words)
			case at <= last:
				c.t.Errorf("item %d heard %s behind %s in one life", n, words, said[last])
			case heard[words] > 0:
				repeats++
				if !strings.Contains(prompt, "may be a repeat") {
					c.t.Errorf("item %d heard %s again, and it does not say so", n, words)
				}
			}
			last = max(last, at)
			heard[words]++
		}
	}
	for _, token := range said {
		if heard[token] == 0 {
			c.t.Errorf("item %d never heard %s", n, token)
		}
	}
	return repeats
}

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"theloop/eventlog"
	"theloop/heartbeat"
	"theloop/lock"
	"theloop/testdata/harness/harnesslog"
)

const (
	// patience is for a machine that is busy with everything else: what is
	// waited for takes a second or two.
	patience = 60 * time.Second
	lookEach = 20 * time.Millisecond
)

// eventually waits until done returns "", else fails with what it returned last.
func eventually(ts *testscript.TestScript, done func() string) {
	deadline := time.Now().Add(patience)
	tick := time.NewTicker(lookEach)
	defer tick.Stop()
	for {
		missing := done()
		if missing == "" {
			return
		}
		if time.Now().After(deadline) {
			ts.Fatalf("waited %s: %s", patience, missing)
		}
		<-tick.C
	}
}

// waitfor waits for a condition:
//
//	waitfor running [ROOT]     a poller holds the lock and has finished a cycle
//	waitfor cycle [ROOT]       ... and finishes one more
//	waitfor free [ROOT]        nobody holds the lock
//	waitfor file FILE REGEXP   the file's text matches
//	waitfor answer REGEXP PROGRAM [ARG…]   what a program prints matches
func waitforCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: waitfor running|cycle|free [ROOT], file FILE REGEXP, answer REGEXP PROGRAM [ARG...]")
	}
	root := ts.MkAbs(".the-loop")
	if len(args) == 2 {
		root = ts.MkAbs(args[1])
	}
	switch {
	case args[0] == "running":
		eventually(ts, func() string { return noCycleSince(root, time.Time{}) })
	case args[0] == "cycle":
		since := time.Now()
		eventually(ts, func() string { return noCycleSince(root, since) })
	case args[0] == "free":
		eventually(ts, func() string { return stillHeld(root) })
	case args[0] == "file" && len(args) == 3:
		want := regexp.MustCompile("(?m)" + args[2])
		eventually(ts, func() string { return noMatch(ts.MkAbs(args[1]), want) })
	case args[0] == "answer" && len(args) > 2:
		want := regexp.MustCompile("(?m)" + args[1])
		eventually(ts, func() string { return noAnswer(ts, args[2:], want) })
	default:
		ts.Fatalf("waitfor does not know %q", args)
	}
}

// noCycleSince says what is missing until the poller that holds the lock has
// finished a cycle that ended after since.
func noCycleSince(root string, since time.Time) string {
	status, err := lock.Probe(filepath.Join(root, lock.File))
	if err != nil || !status.Held {
		return fmt.Sprintf("no poller holds the lock (%v)", err)
	}
	begun, err := startOf(root, status.PID)
	if err != nil || begun.IsZero() {
		return fmt.Sprintf("the poller (pid %d) has told of no start (%v)", status.PID, err)
	}
	beat, ok := heartbeat.Read(filepath.Join(root, heartbeat.File))
	if !ok || beat.LastCycleAt.Before(begun) || !beat.LastCycleAt.After(since) {
		return "it has finished no cycle"
	}
	return ""
}

// startOf is when a poller said that it had started; zero when it has not.
func startOf(root string, pid int) (at time.Time, err error) {
	path := filepath.Join(root, "logs", "events.jsonl")
	_, err = eventlog.Read(path, eventlog.Filter{Type: "poller.started"}, func(e eventlog.Entry) error {
		if strings.Contains(string(e.Raw), fmt.Sprintf(`"pid":%d,`, pid)) {
			at = e.Time
		}
		return nil
	})
	return at, err
}

func stillHeld(root string) string {
	status, err := lock.Probe(filepath.Join(root, lock.File))
	if err != nil || status.Held {
		return fmt.Sprintf("the lock is held by pid %d (%v)", status.PID, err)
	}
	return ""
}

func noMatch(path string, want *regexp.Regexp) string {
	text, err := os.ReadFile(path)
	if err != nil || !want.Match(text) {
		return fmt.Sprintf("%s does not match %s (%v):\n%s", path, want, err, text)
	}
	return ""
}

func noAnswer(ts *testscript.TestScript, args []string, want *regexp.Regexp) string {
	err := ts.Exec(args[0], args[1:]...) // which says nothing: it may fail for a while
	if text := ts.ReadFile("stdout"); !want.MatchString(text) {
		return fmt.Sprintf("%v does not print %s (%v):\n%s", args, want, err, text)
	}
	return ""
}

// agent heard [-count=N] REGEXP waits until the agents were told something, in
// their first prompts and pastes, counted over all that they were told. With !
// it must not have been told so far: use it behind something later that was.
func agentCmd(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 || args[0] != "heard" {
		ts.Fatalf("usage: [!] agent heard [-count=N] REGEXP")
	}
	count, exactly := 1, false
	if text, ok := strings.CutPrefix(args[1], "-count="); ok {
		n, err := strconv.Atoi(text)
		ts.Check(err)
		count, exactly, args = n, true, args[1:]
	}
	what, log := regexp.MustCompile(args[1]), ts.MkAbs("agent.log")
	if neg {
		if n := len(what.FindAllString(told(ts, log), -1)); n > 0 {
			ts.Fatalf("an agent was told %s, %d times:\n%s", what, n, told(ts, log))
		}
		return
	}
	heard := func() int { return len(what.FindAllString(told(ts, log), -1)) }
	eventually(ts, func() string {
		if heard() >= count {
			return ""
		}
		return fmt.Sprintf("no agent was told %s %d times:\n%s", what, count, told(ts, log))
	})
	if n := heard(); exactly && n != count {
		ts.Fatalf("an agent was told %s %d times, not %d:\n%s", what, n, count, told(ts, log))
	}
}

func told(ts *testscript.TestScript, log string) string {
	records, err := harnesslog.Read(log)
	ts.Check(err)
	return strings.Join(harnesslog.Texts(records), "\n")
}

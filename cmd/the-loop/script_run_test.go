package main

import (
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode"

	"github.com/rogpeppe/go-internal/testscript"

	"theloop/lock"
)

// exits CODE PROGRAM ARG… runs a program that has to end with this code.
func exitsCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	if got := runCode(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("%s: exit code %d, want %s", strings.Join(args[1:], " "), got, args[0])
	}
}

// refused PROGRAM ARG… runs a program that has to say no: exit code 1, nothing
// on stdout, one line on stderr.
func refusedCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 {
		ts.Fatalf("usage: refused PROGRAM [ARG...]")
	}
	if got := runCode(ts, args); got != exitFailed {
		ts.Fatalf("%s: exit code %d, want %d", strings.Join(args, " "), got, exitFailed)
	}
	if out := ts.ReadFile("stdout"); out != "" {
		ts.Fatalf("stdout is for answers, and has %q", out)
	}
	text := ts.ReadFile("stderr")
	if strings.Count(text, "\n") != 1 || !strings.HasPrefix(text, "the-loop: ") || !strings.HasSuffix(text, "\n") {
		ts.Fatalf("want one line that begins with the-loop: on stderr, have %q", text)
	}
}

func runCode(ts *testscript.TestScript, args []string) int {
	err := ts.Exec(args[0], args[1:]...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		ts.Fatalf("run %s: %v", args[0], err)
	}
	return 0
}

// signal NAME [PIDFILE] sends a signal to the poller that holds the lock.
func signalCmd(ts *testscript.TestScript, neg bool, args []string) {
	signals := map[string]syscall.Signal{"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP, "CONT": syscall.SIGCONT}
	if neg || len(args) < 1 || signals[args[0]] == 0 {
		ts.Fatalf("usage: signal TERM|INT|KILL|STOP|CONT [PIDFILE]")
	}
	path := ".the-loop/" + lock.File
	if len(args) > 1 {
		path = args[1]
	}
	status, err := lock.Probe(ts.MkAbs(path))
	ts.Check(err)
	if !status.Held || status.PID <= 1 {
		ts.Fatalf("nobody to signal: %+v", status)
	}
	ts.Check(syscall.Kill(status.PID, signals[args[0]]))
}

// printable FILE… demands text that is safe on a terminal: no control, bidi or
// invisible character (A8).
func printableCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: printable FILE...")
	}
	for _, name := range args {
		text := ts.ReadFile(name)
		if text == "" {
			ts.Fatalf("%s is empty: that shows nothing", name)
		}
		bad := slices.IndexFunc([]rune(text), func(r rune) bool { return r != '\n' && !unicode.IsGraphic(r) })
		if bad >= 0 {
			ts.Fatalf("%s has %U in it: %q", name, []rune(text)[bad], text)
		}
	}
}

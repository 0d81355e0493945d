package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
)

// The help of every command shows an example that the grammar takes, and its
// exit codes; it is an answer, so it goes to stdout.
func TestHelpOfEveryCommand(t *testing.T) {
	leaves := grammar(t).Model.Leaves(false)
	if len(leaves) == 0 {
		t.Fatal("there is no command")
	}
	for _, leaf := range leaves {
		path := strings.Fields(strings.TrimPrefix(leaf.FullPath(), "the-loop "))
		t.Run(strings.Join(path, "_"), func(t *testing.T) {
			out, stderr, code := ask(t, append(path, "--help")...)
			if code != exitDone || stderr != "" {
				t.Errorf("exit code %d, stderr %q", code, stderr)
			}
			if !strings.HasPrefix(out, "Usage: "+leaf.FullPath()) {
				t.Errorf("it does not begin with its usage:\n%s", out)
			}
			if !strings.Contains(leaf.Detail, "\nExit codes: ") && !strings.HasPrefix(leaf.Detail, "Exit codes: ") {
				t.Errorf("no exit codes:\n%s", out)
			}
			if !leaf.Hidden {
				checkExample(t, leaf.Detail)
			}
		})
	}
}

// the-loop alone, and a group without a verb, say what there is.
func TestHelpWithoutCommand(t *testing.T) {
	alone, stderr, code := ask(t)
	asked, _, _ := ask(t, "--help")
	if code != exitDone || stderr != "" || alone != asked {
		t.Errorf("the-loop alone: exit code %d, stderr %q, stdout:\n%s", code, stderr, alone)
	}
	for _, leaf := range grammar(t).Model.Leaves(true) {
		if name := strings.TrimPrefix(leaf.FullPath(), "the-loop "); !strings.Contains(alone, "\n  "+name) {
			t.Errorf("it does not list %q:\n%s", name, alone)
		}
	}
}

func checkExample(t *testing.T, detail string) {
	t.Helper()
	_, rest, ok := strings.Cut("\n"+detail, "\nExample: ")
	example, _, _ := strings.Cut(rest, "\n")
	if !ok {
		t.Fatalf("no example:\n%s", detail)
	}
	for part := range strings.SplitSeq(example, "&&") {
		if err := understood(t, part); err != nil {
			t.Errorf("the example %q is not understood: %v", part, err)
		}
	}
}

// understood parses a command line as a shell and then the grammar do.
func understood(t *testing.T, line string) error {
	t.Helper()
	words, err := exec.Command("sh", "-c", `printf '%s\0' `+line).Output()
	if err != nil {
		t.Fatalf("no shell reads %q: %v", line, err)
	}
	args := strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
	if args[0] != "the-loop" {
		return fmt.Errorf("it runs %q", args[0])
	}
	_, err = grammar(t).Parse(args[1:])
	return err
}

func grammar(t *testing.T) *kong.Kong {
	t.Helper()
	k, err := kong.New(&cli{}, kong.Name("the-loop"))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// ask runs the program in this process.
func ask(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, complaint bytes.Buffer
	d := &deps{
		stdout: &out, stderr: &complaint, env: func(string) string { return "" },
		cwd: t.TempDir(), home: t.TempDir(), now: time.Now,
	}
	code = execute(context.Background(), d, args)
	return out.String(), complaint.String(), code
}

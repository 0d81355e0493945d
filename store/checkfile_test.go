package store_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"theloop/store"
)

// childCheck is what a child of CheckInChild does: the whole of it, or only the
// beginning.
func childCheck(args []string) error {
	switch args[0] {
	case "report":
		return store.ReportCheck(context.Background(), args[1], os.Stdout)
	case "silent":
		return nil
	case "usage": // a program that does not know what is wanted of it
		os.Exit(2)
	}
	fmt.Println(`{"begun":true}`) // and the process ends in the middle of it
	return endAs(args[0])
}

// endAs ends this process.
func endAs(mode string) error {
	switch mode {
	case "fault":
		fault()
	case "killed":
		self, err := os.FindProcess(os.Getpid())
		return errors.Join(err, self.Kill())
	}
	return errors.New("an error")
}

func checkInChild(t *testing.T, path, mode string) ([]store.Problem, error) {
	t.Helper()
	t.Setenv(childVar, "check")
	t.Setenv("GORACE", "atexit_sleep_ms=0")
	return store.CheckInChild(t.Context(), path, os.Args[0], mode, path)
}

// TestCheckInChild: a fault of the pages is a refusal, one of a row is a problem
// of its item, and nothing that the child meets is the end of this process.
func TestCheckInChild(t *testing.T) {
	for name, c := range map[string]struct {
		lay  func(t *testing.T, path string)
		want string // of the error
		rows int
	}{
		"sound":     {lay: func(t *testing.T, path string) { populate(t, path, 40) }},
		"a row":     {lay: edit(set("comments", "github:octo/repo#1\x00IC_9", "{")), rows: 1},
		"a page":    {lay: spoil, want: "faults, the first one: page "},
		"cut short": {lay: cutTo(20480), want: "is cut short"},
		"foreign":   {lay: write([]byte("not a ledger")), want: "is no ledger"},
		"newer":     {lay: edit(setMeta("schema", "99")), want: "schema 99"},
		"not there": {lay: func(*testing.T, string) {}, want: "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			c.lay(t, path)
			before := contents(t, filepath.Dir(path))
			problems, err := checkInChild(t, path, "report")
			if len(problems) != c.rows {
				t.Errorf("problems: %v", problems)
			}
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v", err)
			}
			same(t, "the folder", before, contents(t, filepath.Dir(path)))
		})
	}
}

// spoil makes a page wrong that opening does not look at.
func spoil(t *testing.T, path string) {
	populate(t, path, 40)
	whole, err := os.ReadFile(path)
	must(t, err)
	for page := int64(2); ; page++ {
		poke(page, 10, 0xEE)(t, path)
		l, err := store.Open(t.Context(), options(path))
		if err == nil {
			problems, err := l.CheckPages(t.Context())
			must(t, err)
			closes(t, l)
			if len(problems) > 0 {
				return
			}
		}
		must(t, os.WriteFile(path, whole, 0o600))
	}
}

func cutTo(size int64) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		populate(t, path, 40)
		must(t, os.Truncate(path, size))
	}
}

// TestChildThatEnds: a child that a fault ended says that the ledger is damaged;
// any other end says nothing about it.
func TestChildThatEnds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 1)
	for mode, isDamage := range map[string]bool{"fault": true, "killed": false, "fails": false, "silent": false, "usage": false} {
		_, err := checkInChild(t, path, mode)
		var damaged *store.DamagedError
		if err == nil || errors.As(err, &damaged) != isDamage {
			t.Errorf("%s: %v", mode, err)
		}
	}
}

// TestCheckAgrees: what the library's own check of the pages finds, the one that
// reads the file finds as well, whatever byte is wrong.
func TestCheckAgrees(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, whole, 12)
	data, err := os.ReadFile(whole)
	must(t, err)
	dir := fastFolder(t)
	found, stride := 0, 83
	if os.Getenv("SOAK") != "" {
		stride = 7
	}
	for at := 0; at < len(data); at += stride {
		path := filepath.Join(dir, fmt.Sprint(at)) // one whose opening met a fault stays locked
		data[at] ^= 0xFF
		must(t, os.WriteFile(path, data, 0o600))
		data[at] ^= 0xFF
		l, err := store.Open(t.Context(), options(path))
		must(t, os.Remove(path))
		if err != nil {
			continue
		}
		problems, err := l.CheckPages(t.Context())
		if err != nil || len(problems) > 0 {
			found++
		} else if library, err := l.CheckLibrary(t.Context()); err != nil || len(library) > 0 {
			t.Errorf("byte %d of page %d: %v %v", at%4096, at/4096, library, err)
		}
		shut(t, l)
	}
	if found < 20 {
		t.Errorf("only %d wrong bytes were found", found)
	}
	t.Logf("%d of %d wrong bytes were found", found, len(data)/stride)
}

// TestCheckFindsLostPages: a page that is neither used nor free is a fault: the
// list of free pages that lacks one is no list to write by.
func TestCheckFindsLostPages(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	pokeAt("freelist", 10, 1)(t, path) // how many there are
	l := open(t, path)
	defer closes(t, l)
	problems, err := l.Check(t.Context())
	must(t, err)
	library, err := l.CheckLibrary(t.Context())
	must(t, err)
	if len(problems) == 0 || len(problems) != len(library) || !strings.Contains(problems[0].Text, "neither used nor free") {
		t.Errorf("%v, and the library says %v", problems, library)
	}
}

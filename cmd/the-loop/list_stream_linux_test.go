package main_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"theloop/record"
	"theloop/store"
	"theloop/view"
	"theloop/workitem"
)

// manyItems makes a ledger.
func manyItems(t testing.TB, root string, items int) {
	t.Helper()
	l, err := store.Open(t.Context(), store.Options{Path: filepath.Join(root, store.File)})
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 7, 31, 9, 11, 58, 0, time.UTC)
	for done := 0; done < items; {
		var writes []store.Write
		for ; done < items && len(writes) < 1000; done++ {
			ref := workitem.Ref{Provider: "github", Owner: "octo", Repo: "repo", Number: done + 1}
			writes = append(writes, store.Write{Ref: ref, Changes: []record.Change{
				record.Observe{Item: workitem.Item{
					Ref: ref, Kind: workitem.Issue, Title: fmt.Sprintf("Thing %d that is to be done in the world", done),
					URL: fmt.Sprintf("https://github.com/octo/repo/issues/%d", done+1), Author: workitem.Author{Login: "octocat"}, Source: "github:octo/repo",
				}, UpdatedAt: at, ReadAt: at},
				record.FirstSeen{At: at},
			}})
		}
		if err := l.Batch(t.Context(), writes); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// A list is printed while it is read, and the ledger is free again however long its
// reader takes: a pager that is left open keeps no poller from starting (cli:
// ledger).
func TestListDoesNotKeepTheLedger(t *testing.T) {
	t.Parallel()
	const items = 5_000
	l := newLife(t, programs{loop: inPath(t, "the-loop"), agent: inPath(t, "agent")})
	l.write(".the-loop/README", "a state root\n")
	manyItems(t, l.root(), items)
	cmd := l.command(l.bin.loop, "ledger", "list")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for range 2 { // it is at it, and a pipe holds a small part
		if !lines.Scan() {
			t.Fatal("there is no list")
		}
	}
	l.until("the ledger is free", func() bool {
		again, err := store.Open(t.Context(), store.Options{Path: filepath.Join(l.root(), store.File)})
		var inUse *store.InUseError
		if errors.As(err, &inUse) {
			return false
		}
		if err != nil {
			t.Fatal(err)
		}
		return again.Close() == nil
	})
	n := 2
	for lines.Scan() {
		n++
	}
	if err := errors.Join(lines.Err(), cmd.Wait()); err != nil || n != items+1 {
		t.Errorf("%d lines for %d items: %v", n, items, err)
	}
}

// On a terminal the list and the facts of an item fit into its width, whatever that
// is (A8; cli: ledger).
func TestListOnTerminals(t *testing.T) {
	t.Parallel()
	l := newLife(t, programs{loop: inPath(t, "the-loop"), agent: inPath(t, "agent")})
	l.write(".the-loop/README", "a state root\n")
	manyItems(t, l.root(), 600)
	for columns, want := range map[uint16]string{
		44: "ITEM:", 80: "github:octo/repo#600  open   -        ", 150: "DELIVERED", 220: "https:\\u002f\\u002fgithub.com/octo/repo/issues/600",
	} {
		tt, cmd := newTerminal(t, columns), l.command(l.bin.loop, "ledger", "list")
		cmd.Env = append(cmd.Env, "NO_COLOR=1")
		cmd.Stdout = tt.tty
		shown, code := tt.run(cmd)
		if code != 0 || !strings.Contains(shown, want) || strings.Count(shown, "nobody has started it") == 0 && columns >= 150 {
			t.Errorf("%d columns: exit code %d, no %q in\n%s", columns, code, want, shown[max(0, len(shown)-500):])
		}
		for line := range strings.Lines(shown) {
			if w := view.Width(strings.TrimRight(line, "\r\n")); w > int(columns) {
				t.Errorf("%d of %d columns: %q", w, columns, line)
			}
		}
	}
}

// The same over the socket, as one JSON document, however many there are.
func TestListOverTheSocket(t *testing.T) {
	t.Parallel()
	const items = 5_000
	l := newLife(t, programs{loop: inPath(t, "the-loop"), agent: inPath(t, "agent")})
	l.write(".the-loop/README", "a state root\n")
	manyItems(t, l.root(), items)
	l.ready(l.daemon("--fresh"))
	var rows []struct{ Ref, URL string }
	if err := json.Unmarshal([]byte(l.must("ledger", "list", "--format", "json")), &rows); err != nil || len(rows) != items {
		t.Errorf("%d items of %d: %v", len(rows), items, err)
	}
	if n := strings.Count(l.must("ledger", "list"), "\n"); n != items+1 {
		t.Errorf("%d lines for %d items", n, items)
	}
	l.must("poll", "stop")
}

// BenchmarkLedgerList runs the program that lists 100 000 items, with no poller; the
// aim is a second. "cpu-s" is what it computed, which a busy machine does not change,
// "MiB" the most memory that it took, of which the ledger's pages are a part.
func BenchmarkLedgerList(b *testing.B) {
	program, err := exec.LookPath("the-loop")
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	root := filepath.Join(dir, ".the-loop")
	if err := syscall.Mkdir(root, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte("polling: {sources: [{provider: github, repos: [octo/repo]}]}\n"), 0o600); err != nil {
		b.Fatal(err)
	}
	const items = 100_000
	manyItems(b, root, items)
	for _, format := range []string{"text", "json"} {
		b.Run(format, func(b *testing.B) {
			var most int64
			var cpu time.Duration
			for b.Loop() {
				cmd := exec.Command(program, "ledger", "list", "--format", format, "-c", "config.yaml")
				cmd.Dir, cmd.Env = dir, []string{"HOME=" + dir}
				out, err := cmd.StdoutPipe()
				if err != nil {
					b.Fatal(err)
				}
				if err := cmd.Start(); err != nil {
					b.Fatal(err)
				}
				n, err := io.Copy(io.Discard, out)
				if err = errors.Join(err, cmd.Wait()); err != nil || n < items*50 {
					b.Fatalf("%d bytes: %v", n, err)
				}
				cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				most = max(most, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
			}
			b.ReportMetric(cpu.Seconds()/float64(b.N), "cpu-s")
			b.ReportMetric(float64(most)/1024, "MiB")
		})
	}
}

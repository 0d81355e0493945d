package eventlog

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// R2
func TestAppendWritesOneLine(t *testing.T) {
	f := inFolder(t)
	f.Append(Event{Name: "poll.comment_failed", Fields: map[string]any{
		"zeta": 1, "will_retry": false, "attempts": 3, "comment_id": "IC_1", "work_item": "github:octo/repo#15",
		"actor": "", "attempt": 0, "outcome": nil, "error": errors.New("tmux: no\nserver <&>"),
	}})
	f.Append(Event{Name: "control.command", Source: "sessions", Level: Warning, Fields: map[string]any{
		"commands": []string{"stop", "start"}, "pid": 7, "source": "cli",
	}})
	want := `{"ts":"2026-03-01T12:00:00.007Z","source":"poll","event":"poll.comment_failed","level":"warning","pid":42,"v":"1.2.3",` +
		`"work_item":"github:octo/repo#15","comment_id":"IC_1","attempts":3,"error":"tmux: no\\nserver <&>","will_retry":false,"zeta":1}` + "\n" +
		`{"ts":"2026-03-01T12:00:00.007Z","source":"sessions","event":"control.command","level":"warning","pid":42,"v":"1.2.3",` +
		`"commands":["stop","start"],"field_pid":7,"field_source":"cli"}` + "\n"
	got, err := os.ReadFile(f.path)
	if err != nil || string(got) != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
}

func TestOpenTouchesNothingAndAppendMakesPrivateFiles(t *testing.T) {
	f := inFolder(t)
	folder := filepath.Dir(f.path)
	if _, err := os.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Open made %s: %v", folder, err)
	}
	f.Append(detail("x"))
	for path, want := range map[string]fs.FileMode{folder: fs.ModeDir | 0o700, f.path: 0o600} {
		if info, err := os.Lstat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v; want %v", path, info.Mode(), err, want)
		}
	}
}

func TestLogThatIsNotEnabledDoesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "events.jsonl")
	for _, l := range []*Log{nil, Open(Options{Path: path})} {
		l.Append(detail("x"))
		if n, err := l.Dropped(), l.Close(); n != 0 || err != nil {
			t.Errorf("%d dropped, %v", n, err)
		}
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}

// R2: a torn line, of this process or of another one that was killed, damages
// only itself.
func TestTornTailDamagesOnlyItself(t *testing.T) {
	f := inFolder(t)
	tear := func() {
		t.Helper()
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(`{"ts":"2026-03-01T12:0`); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		t.Fatal(err)
	}
	tear() // before the file is opened
	f.Append(detail("a"))
	f.Append(detail("b"))
	tear() // while it is open
	f.Append(detail("c"))
	wantDetails(t, f.path, 2, "a", "b", "c")
}

// R2: a short write is an error, not continued, and the next line is whole.
func TestShortWriteIsDropped(t *testing.T) {
	f := inFolder(t)
	calls := 0
	f.write = func(file *os.File, line []byte) (int, error) {
		calls++
		if calls == 2 {
			return writeOnce(file, line[:len(line)/2])
		}
		return writeOnce(file, line)
	}
	for _, s := range []string{"a", "b", "c", "d"} {
		f.Append(detail(s))
	}
	if calls != 4 || f.Dropped() != 1 || f.warned() != 1 {
		t.Errorf("%d writes, %d dropped, warned %q", calls, f.Dropped(), f.warnings)
	}
	wantDetails(t, f.path, 1, "a", "c", "d")
}

// R2: after any error the next line begins with a newline, whatever the file
// seems to end in.
func TestLineAfterAnErrorBeginsWithANewline(t *testing.T) {
	f := inFolder(t)
	var lines []string
	f.write = func(_ *os.File, line []byte) (int, error) {
		lines = append(lines, string(line))
		if len(lines) == 1 {
			return 0, errors.New("no space left on device")
		}
		return len(line), nil
	}
	f.Append(detail("a"))
	f.Append(detail("b"))
	if lines[0][0] != '{' || !strings.HasPrefix(lines[1], "\n{") {
		t.Errorf("got %q", lines)
	}
}

// R2: what is in the way of the file is warned of once and counted; the caller
// goes on.
func TestSomethingInTheWay(t *testing.T) {
	for name, block := range map[string]func(path string) error{
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"symbolic link": func(path string) error {
			return os.Symlink(filepath.Join(filepath.Dir(path), "elsewhere"), path)
		},
		"link to a device": func(path string) error { return os.Symlink(os.DevNull, path) },
		"FIFO":             makeFIFO,
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, filepath.Join(t.TempDir(), "events.jsonl"))
			if err := block(f.path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(f.path)
			inTime(t, func() { f.Append(detail("a")); f.Append(detail("b")) })
			if f.Dropped() != 2 || f.warned() != 1 || !strings.Contains(f.warnings.String(), f.path) {
				t.Errorf("%d dropped, warned %q", f.Dropped(), f.warnings)
			}
			if after, err := os.Lstat(f.path); err != nil || after.Mode() != before.Mode() {
				t.Errorf("it was changed: %v, %v", after, err)
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(f.path), "elsewhere")); err == nil {
				t.Error("the link was followed")
			}
			// Out of the way again: events are written, and nothing more is said.
			if err := os.Remove(f.path); err != nil {
				t.Fatal(err)
			}
			f.Append(detail("c"))
			wantDetails(t, f.path, 0, "c")
			if f.warned() != 1 {
				t.Errorf("warned %q", f.warnings)
			}
		})
	}
	t.Run("file instead of the folder", func(t *testing.T) {
		f := inFolder(t)
		if err := os.WriteFile(filepath.Dir(f.path), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		f.Append(detail("a"))
		if f.Dropped() != 1 || f.warned() != 1 {
			t.Errorf("%d dropped, warned %q", f.Dropped(), f.warnings)
		}
	})
}

// inTime fails when f does not come back.
func inTime(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(5 * time.Second):
		t.Fatal("still waiting after 5 s")
	}
}

// R2: rotation by renaming loses nothing and needs no signal.
func TestRenamedFileIsLeftBehind(t *testing.T) {
	f := inFolder(t)
	f.Append(detail("a"))
	if err := os.Rename(f.path, f.path+".old"); err != nil {
		t.Fatal(err)
	}
	f.Append(detail("b"))
	// Another process may have made the new file already.
	if err := os.Rename(f.path, f.path+".older"); err != nil {
		t.Fatal(err)
	}
	other := newFixture(t, f.path)
	other.Append(detail("c"))
	f.Append(detail("d"))
	wantDetails(t, f.path+".old", 0, "a")
	wantDetails(t, f.path+".older", 0, "b")
	wantDetails(t, f.path, 0, "c", "d")
	if f.warned() != 0 || f.Dropped() != 0 {
		t.Errorf("%d dropped, warned %q", f.Dropped(), f.warnings)
	}
}

func TestRemovedFolderIsMadeAgainAndWarnedOf(t *testing.T) {
	f := inFolder(t)
	for _, s := range []string{"a", "b"} {
		f.Append(detail(s))
		if err := os.RemoveAll(filepath.Dir(f.path)); err != nil {
			t.Fatal(err)
		}
	}
	f.Append(detail("c"))
	wantDetails(t, f.path, 0, "c")
	if f.warned() != 1 || !strings.Contains(f.warnings.String(), "removed") {
		t.Errorf("warned %q", f.warnings)
	}
}

// R2: a log whose root is moved away goes with it, and makes nothing at the old
// place; nor does it write into what stands there now.
func TestALogGoesWithItsRoot(t *testing.T) {
	for name, comesBack := range map[string]bool{"nothing in its place": false, "another root in its place": true} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			root, moved := filepath.Join(dir, "root"), filepath.Join(dir, "moved")
			path := filepath.Join(root, "logs", "events.jsonl")
			l := Open(Options{Path: path, Root: root, Enabled: true})
			late := Open(Options{Path: path, Root: root, Enabled: true})
			defer late.Close()
			defer l.Close()
			l.Append(detail("before its time")) // nothing is made before the root is
			if err := os.Mkdir(root, 0o700); err != nil {
				t.Fatal(err)
			}
			l.Append(detail("a"))
			if err := os.Rename(root, moved); err != nil {
				t.Fatal(err)
			}
			if comesBack {
				if err := os.Mkdir(root, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			l.Append(detail("b"))
			wantDetails(t, filepath.Join(moved, "logs", "events.jsonl"), 0, "a", "b")
			if _, err := os.Lstat(filepath.Dir(path)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a folder was made at the old place: %v", err)
			}
			if l.Dropped() != 1 {
				t.Errorf("%d dropped, want the one without a root", l.Dropped())
			}
			late.Append(detail("c"))
			if _, err := os.Lstat(path); comesBack == errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a log that has written nothing yet: %v", err)
			}
		})
	}
}

func TestTruncatedFileIsWarnedOf(t *testing.T) {
	f := inFolder(t)
	f.Append(detail("a"))
	f.Append(detail("b"))
	if err := os.Truncate(f.path, 0); err != nil {
		t.Fatal(err)
	}
	f.Append(detail("c"))
	wantDetails(t, f.path, 0, "c")
	if f.warned() != 1 || !strings.Contains(f.warnings.String(), "truncated") {
		t.Errorf("warned %q", f.warnings)
	}
}

func TestEventsAfterCloseAreDropped(t *testing.T) {
	f := inFolder(t)
	f.Append(detail("a"))
	for range 2 {
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	f.Append(detail("b"))
	wantDetails(t, f.path, 0, "a")
	if f.Dropped() != 1 {
		t.Errorf("%d dropped", f.Dropped())
	}
}

func TestConcurrentAppend(t *testing.T) {
	f := inFolder(t)
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 50 {
				f.Append(detail(fmt.Sprint(worker, " ", i)))
			}
		})
	}
	wg.Wait()
	if got, skipped := details(t, f.path); len(got) != 400 || skipped != 0 || f.Dropped() != 0 {
		t.Errorf("%d entries, %d skipped, %d dropped", len(got), skipped, f.Dropped())
	}
}

func BenchmarkAppend(b *testing.B) {
	l := Open(Options{Path: filepath.Join(b.TempDir(), "events.jsonl"), Source: "poll", Version: "1.2.3", Enabled: true})
	defer l.Close()
	e := Event{Name: "poll.comment_forwarded", Fields: map[string]any{
		"work_item": "github:octo/repo#15", "comment_id": "IC_kwDOA1", "actor": "octocat",
		"attempt": 1, "delivery_id": "poll-comment-IC_kwDOA1",
	}}
	b.ReportAllocs()
	for b.Loop() {
		l.Append(e)
	}
	if l.Dropped() != 0 {
		b.Fatalf("%d dropped", l.Dropped())
	}
}

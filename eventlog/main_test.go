package eventlog

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// roleEnv makes this binary play another process of the same program.
const roleEnv = "EVENTLOG_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

// noon is when everything in these tests happens.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 7_000_000, time.UTC)

// fixture is a log with a known clock and pid, and what it warned of.
type fixture struct {
	*Log
	path     string
	warnings *bytes.Buffer
}

func newFixture(t *testing.T, path string) fixture {
	t.Helper()
	f := fixture{path: path, warnings: &bytes.Buffer{}}
	f.Log = Open(Options{
		Path: path, Source: "poll", Version: "1.2.3", PID: 42, Enabled: true,
		Now:    func() time.Time { return noon },
		Logger: slog.New(slog.NewTextHandler(f.warnings, nil)),
	})
	t.Cleanup(func() { f.Close() })
	return f
}

// inFolder is a log in a folder that does not exist yet.
func inFolder(t *testing.T) fixture {
	t.Helper()
	return newFixture(t, filepath.Join(t.TempDir(), "logs", "events.jsonl"))
}

// warned counts the lines that went to the logger.
func (f fixture) warned() int {
	return strings.Count(f.warnings.String(), "\n")
}

// entries reads all of a file.
func entries(t *testing.T, path string, f Filter) (got []Entry, skipped int) {
	t.Helper()
	skipped, err := Read(path, f, func(e Entry) error {
		got = append(got, e)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, skipped
}

// details is the detail field of every entry.
func details(t *testing.T, path string) (got []string, skipped int) {
	t.Helper()
	all, skipped := entries(t, path, Filter{})
	for _, e := range all {
		got = append(got, e.Fields["detail"].(string))
	}
	return got, skipped
}

func detail(s string) Event {
	return Event{Name: "config.reloaded", Fields: map[string]any{"detail": s}}
}

func wantDetails(t *testing.T, path string, skipped int, want ...string) {
	t.Helper()
	got, n := details(t, path)
	if n != skipped || !slices.Equal(got, want) {
		t.Errorf("got %q and %d skipped, want %q and %d", got, n, want, skipped)
	}
}

package eventlog

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// trail is a file with lines of ours, of an older version, and of nobody.
const trail = `{"ts":"2026-03-01T09:00:00.000Z","source":"poll","event":"poller.started","level":"info","pid":1,"v":"1"}
{"ts":"2026-03-01T10:00:00.000Z","source":"poll","event":"dispatch.queued","level":"debug","pid":1,"work_item":"github:octo/repo#15","delivery_id":"d1"}

{"ts":"2026-03-01T10:0{"ts":"2026-03-01T10:00:00.000Z","event":"glued"}
{"ts":"2026-03-01T11:00:00.000+00:00","source":"sessions","event":"dispatch.failed","level":"warning","pid":2,"work_items":["github:octo/repo#15","x"],"delivery_ids":["d1","d2"]}
not JSON
[1,2]
{"ts":"yesterday","event":"x"}
{"ts":"2026-03-01T11:30:00Z"}
{"ts":"2026-03-01T12:00:00.123456+01:00","source":"gh-webhook","event":"session.spawned","level":"loud","pid":"three","v":3,"id":12345678901234567890}
{"ts":"2026-03-01T13:00:00Z","source":"poll","event":"poll.item_error","level":"error","work_item":"github:octo/repo#1","delivery_id":"d2","error":"a\\u202eb"}`

func writeTrail(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// R2
func TestFilter(t *testing.T) {
	path := writeTrail(t, trail)
	all := []string{"poller.started", "dispatch.queued", "dispatch.failed", "session.spawned", "poll.item_error"}
	for name, tt := range map[string]struct {
		filter Filter
		want   []string
	}{
		"all":        {Filter{}, all},
		"source":     {Filter{Source: "sessions"}, all[2:3]},
		"type":       {Filter{Type: "dispatch.*"}, all[1:3]},
		"whole type": {Filter{Type: "poll.item_error"}, all[4:]},
		"no type":    {Filter{Type: "dispatch"}, nil},
		"work item":  {Filter{WorkItem: "github:octo/repo#15"}, all[1:3]},
		"not #15":    {Filter{WorkItem: "github:octo/repo#1"}, all[4:]},
		"delivery":   {Filter{Delivery: "d2"}, []string{all[2], all[4]}},
		"level":      {Filter{MinLevel: Warning}, []string{all[2], all[4]}},
		"info":       {Filter{MinLevel: Info}, []string{all[0], all[2], all[3], all[4]}},
		"since":      {Filter{Since: time.Date(2026, 3, 1, 11, 0, 0, 0, time.UTC)}, all[2:]},
		"last two":   {Filter{Limit: 2}, all[3:]},
		"last of":    {Filter{Limit: 1, Type: "dispatch.*"}, all[2:3]},
		"last many":  {Filter{Limit: 100}, all},
		"several":    {Filter{Source: "poll", MinLevel: Info, WorkItem: "github:octo/repo#1"}, all[4:]},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			entries, skipped := entries(t, path, tt.filter)
			for _, e := range entries {
				got = append(got, e.Name)
			}
			if !slices.Equal(got, tt.want) || skipped != 5 {
				t.Errorf("got %q and %d skipped, want %q and 5", got, skipped, tt.want)
			}
		})
	}
}

func TestEntry(t *testing.T) {
	all, _ := entries(t, writeTrail(t, trail), Filter{})
	e := all[3]
	if !e.Time.Equal(time.Date(2026, 3, 1, 11, 0, 0, 123456000, time.UTC)) || e.Source != "gh-webhook" ||
		e.Level != Info || len(e.Fields) != 1 || fmt.Sprint(e.Fields["id"]) != "12345678901234567890" {
		t.Errorf("got %+v", e)
	}
	if e := all[0]; e.PID != 1 || e.Version != "1" || !strings.HasPrefix(string(e.Raw), `{"ts":`) || e.Raw[len(e.Raw)-1] != '}' {
		t.Errorf("got %+v", e)
	}
	if e := all[4]; e.Fields["error"] != `a\u202eb` {
		t.Errorf("got %+v", e)
	}
}

// R2: an item is found by its name as it was written.
func TestFilterFindsWhatWasMadeSafe(t *testing.T) {
	f := inFolder(t)
	f.Append(Event{Name: "poll.item_error", Fields: map[string]any{"work_item": "inbox:a\u202eb#1"}})
	if got, _ := entries(t, f.path, Filter{WorkItem: "inbox:a\u202eb#1"}); len(got) != 1 {
		t.Errorf("%d entries", len(got))
	}
}

func TestReadStopsWhenToldTo(t *testing.T) {
	path := writeTrail(t, trail)
	enough := errors.New("enough")
	for _, limit := range []int{0, 3} {
		n := 0
		_, err := Read(path, Filter{Limit: limit}, func(Entry) error { n++; return enough })
		if err != enough || n != 1 {
			t.Errorf("limit %d: %d visits, %v", limit, n, err)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := makeFIFO(fifo); err != nil {
		t.Skipf("no FIFOs here: %v", err)
	}
	never := func(Entry) error { t.Error("visited"); return nil }
	inTime(t, func() {
		for path, want := range map[string]string{fifo: "not a regular file", t.TempDir(): "not a regular file"} {
			if _, err := Read(path, Filter{}, never); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: got %v", path, err)
			}
		}
	})
	if _, err := Read(filepath.Join(t.TempDir(), "none"), Filter{}, never); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
	if _, err := Read(fifo, Filter{Type: "a["}, never); err == nil || !strings.Contains(err.Error(), "pattern") {
		t.Errorf("bad glob: got %v", err)
	}
}

// R2: lines that cannot be ours are passed over, however long, also at the end.
func TestLongForeignLines(t *testing.T) {
	huge := strings.Repeat("x", 3*maxForeign)
	line := string(lineOf(detail("a")))
	for text, want := range map[string][2]int{
		huge + "\n" + line + huge + "\n" + line: {2, 2},
		line + huge:                             {1, 1},
		huge:                                    {0, 1},
		"\n\n" + line + "\r\n":                  {1, 0},
		strings.TrimSpace(line):                 {1, 0},
		"\x00\x00" + line + line:                {1, 1},
		"":                                      {0, 0},
	} {
		got, skipped := entries(t, writeTrail(t, text), Filter{})
		if len(got) != want[0] || skipped != want[1] {
			t.Errorf("%.20q…: %d entries and %d skipped, want %v", text, len(got), skipped, want)
		}
	}
}

// R2: a reader comes back to where a line began.
func TestLineReaderKnowsWhereItIs(t *testing.T) {
	text := "one\n\n" + strings.Repeat("x", maxForeign+10) + "\ntwo"
	lines := newLineReader(strings.NewReader(text))
	for _, want := range []int64{4, int64(len(text))} {
		if _, err := lines.next(); err != nil || lines.offset != want {
			t.Errorf("at %d, %v; want %d", lines.offset, err, want)
		}
	}
	if _, err := lines.next(); !errors.Is(err, io.EOF) || lines.skipped != 1 {
		t.Errorf("%v, %d skipped", err, lines.skipped)
	}
}

// R2: memory does not grow with the file.
func TestReadTakesBoundedMemory(t *testing.T) {
	line := string(lineOf(detail(strings.Repeat("x", 3000))))
	path := writeTrail(t, strings.Repeat(line, 1500))
	var most uint64
	n := 0
	_, err := Read(path, Filter{}, func(Entry) error {
		if n++; n%500 == 0 {
			runtime.GC()
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most = max(most, m.HeapAlloc)
		}
		return nil
	})
	if err != nil || n != 1500 || most > 3<<20 {
		t.Errorf("%d entries, %v, up to %d bytes in use for a file of %d", n, err, most, len(line)*1500)
	}
}

package view_test

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"theloop/view"
)

func streamed(t interface{ Fatal(...any) }, table view.Table, style view.Style, width int) string {
	var b strings.Builder
	s := view.NewStream(&b, table.Columns, style, width)
	for _, row := range table.Rows {
		if err := s.Add(row...); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := s.End(); n != len(table.Rows) || err != nil {
		t.Fatal(n, err)
	}
	return b.String()
}

// A8: a table that comes row by row looks like one that was there at once.
func TestAStreamIsATable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		width := rapid.IntRange(0, 160).Draw(t, "width")
		style := view.Style{Colour: rapid.Bool().Draw(t, "colour")}
		if got, want := streamed(t, table, style, width), table.Render(style, width); got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}

// A8: what comes after the layout is decided is never wider than the terminal
// either, but for a cell that people copy, which is whole; and on a pipe nothing is
// cut.
func TestAStreamStaysInItsWidth(t *testing.T) {
	columns := []view.Column{{Title: "ITEM"}, {Title: "N", Right: true}, {Title: "TITLE", Flexible: true}}
	usual := []view.Cell{{Text: "github:octo/repo#1"}, {Text: "7"}, {Text: "a title"}}
	longer := "github:octo/a-repository-with-a-longer-name#1"
	endless := "github:octo/" + strings.Repeat("x", 90) + "#1"
	for _, width := range []int{0, 40, 80} {
		table := view.Table{Columns: columns}
		for range 600 {
			table.Rows = append(table.Rows, usual)
		}
		table.Rows = append(table.Rows,
			[]view.Cell{{Text: longer}, {Text: "8"}, {Text: strings.Repeat("long ", 40)}},
			[]view.Cell{{Text: endless}, {Text: "9"}, {Text: "short"}}, usual)
		out := streamed(t, table, view.Style{}, width)
		for line := range strings.Lines(out) {
			if w := view.Width(strings.TrimSuffix(line, "\n")); width > 0 && w > width && line != endless+"\n" && line != longer+"\n" {
				t.Errorf("%d columns of %d: %q", w, width, line)
			}
		}
		want := []string{}
		switch width {
		case 0:
			want = []string{longer + "  8  " + strings.TrimSpace(strings.Repeat("long ", 40)), endless + "  9  short", "\ngithub:octo/repo#1  7  a title\n"}
		case 80:
			want = []string{longer + "  8  long long", "\nITEM:\n" + endless + "\nN:     9\nTITLE: short\n", "\ngithub:octo/repo#1  7  a title\n"}
		case 40:
			want = []string{"\nITEM:\n" + longer + "\nN:     8\nTITLE: long long long long long long\n       long ", "\nITEM:\n" + endless + "\n", "\n\nITEM:  github:octo/repo#1\nN:     7\nTITLE: a title\n"}
		}
		for _, text := range want {
			if !strings.Contains(out, text) {
				t.Errorf("%d columns: no %q behind\n%s", width, text, out[max(0, len(out)-600):])
			}
		}
	}
}

// Nothing is kept once the layout is known, and what a list holds is written on.
func TestStreamsAreNotKept(t *testing.T) {
	var out counter
	table, list := view.NewStream(&out, []view.Column{{Title: "A"}}, view.Style{}, 80), view.NewList(&out)
	var before, after runtime.MemStats
	for i := range 200_000 {
		if i == 1000 {
			runtime.GC()
			runtime.ReadMemStats(&before)
		}
		text := fmt.Sprintf("row %d", i)
		if err := errors.Join(table.Add(view.Cell{Text: text}), list.Add(text)); err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > 1<<20 || out < 200_000*10 {
		t.Errorf("%d bytes more on the heap, %d were written", grown, out)
	}
	runtime.KeepAlive(table)
	runtime.KeepAlive(list)
}

type counter int

func (c *counter) Write(p []byte) (int, error)       { *c += counter(len(p)); return len(p), nil }
func (c *counter) WriteString(s string) (int, error) { *c += counter(len(s)); return len(s), nil }

// A8
func TestAListIsTheDocument(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type row struct {
			Text string         `json:"text"`
			More map[string]int `json:"more"`
		}
		rows := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) row {
			return row{anyText().Draw(t, "text"), rapid.MapOf(anyText(), rapid.Int()).Draw(t, "more")}
		}), 0, 5).Draw(t, "rows")
		var b strings.Builder
		l := view.NewList(&b)
		for _, r := range rows {
			if err := l.Add(r); err != nil {
				t.Fatal(err)
			}
		}
		if err := l.End(); err != nil {
			t.Fatal(err)
		}
		want, err := view.JSON(append([]row{}, rows...))
		if err != nil || b.String() != string(want) {
			t.Fatalf("got\n%s\nwant\n%s (%v)", b.String(), want, err)
		}
	})
}

// An output that takes nothing more ends it.
func TestStreamsEndWithTheirOutput(t *testing.T) {
	s, l := view.NewStream(broken{}, []view.Column{{Title: "A"}}, view.Style{}, 0), view.NewList(broken{})
	if err := l.Add(1); !errors.Is(err, errGone) {
		t.Errorf("a list: %v", err)
	}
	err := error(nil)
	for n := 0; err == nil && n < 1000; n++ {
		err = s.Add(view.Cell{Text: "x"})
	}
	if !errors.Is(err, errGone) {
		t.Errorf("a table: %v", err)
	}
}

var errGone = errors.New("nobody reads")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errGone }

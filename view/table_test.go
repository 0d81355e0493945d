package view_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"theloop/escape"
	"theloop/view"
)

var colours = regexp.MustCompile(`\x1b\[\d+m`)

// A8
func TestTableNeverExceedsTheWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		width := rapid.IntRange(1, 160).Draw(t, "width")
		style := view.Style{Colour: rapid.Bool().Draw(t, "colour")}
		out := colours.ReplaceAllString(table.Render(style, width), "")
		for line := range strings.Lines(out) {
			line = strings.TrimSuffix(line, "\n")
			if w := view.Width(line); w > width && !whole(table, line) {
				t.Fatalf("%d columns of %d: %q", w, width, line)
			}
			if strings.ContainsFunc(line, escape.Hidden) {
				t.Fatalf("not safe to print: %q", line)
			}
		}
	})
}

// whole reports whether a line is a cell that must not be cut, and nothing else.
func whole(table view.Table, line string) bool {
	for _, row := range table.Rows {
		for i, cell := range row[:min(len(row), len(table.Columns))] {
			if !table.Columns[i].Flexible && escape.Line(cell.Text) == line {
				return true
			}
		}
	}
	return false
}

// What people copy is whole on one line, however narrow the terminal is, and nothing
// else is beside it where that line is longer than the terminal.
func TestWhatPeopleCopyIsNeverCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		out := table.Render(view.Style{}, rapid.IntRange(1, 160).Draw(t, "width"))
		for _, row := range table.Rows {
			for i, cell := range row[:min(len(row), len(table.Columns))] {
				if !table.Columns[i].Flexible && !strings.Contains(out, escape.Line(cell.Text)) {
					t.Fatalf("%q is not in:\n%s", cell.Text, out)
				}
			}
		}
	})
}

// A8: without a width nothing is lost, and a row stays one line.
func TestTableInAPipeIsWhole(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t)
		out := table.Render(view.Style{}, 0)
		if got, want := strings.Count(out, "\n"), len(table.Rows)+1; len(table.Rows) > 0 && got != want {
			t.Fatalf("%d lines for %d rows and the titles:\n%s", got, want-1, out)
		}
		for _, row := range table.Rows {
			for _, cell := range row[:min(len(row), len(table.Columns))] {
				if !strings.Contains(out, escape.Line(cell.Text)) {
					t.Fatalf("%q is not in:\n%s", cell.Text, out)
				}
			}
		}
	})
}

func drawTable(t *rapid.T) view.Table {
	text := rapid.OneOf(anyText(), rapid.StringN(0, 300, -1))
	var table view.Table
	for range rapid.IntRange(1, 6).Draw(t, "columns") {
		table.Columns = append(table.Columns, view.Column{
			Title:    rapid.StringN(0, 12, -1).Draw(t, "title"),
			Right:    rapid.Bool().Draw(t, "right"),
			Flexible: rapid.Bool().Draw(t, "flexible"),
		})
	}
	for range rapid.IntRange(0, 4).Draw(t, "rows") {
		table.Add(rapid.SliceOfN(text, 0, 7).Draw(t, "row")...)
	}
	return table
}

func TestTableSharesTheLossAmongFlexibleColumns(t *testing.T) {
	table := view.Table{Columns: []view.Column{{Title: "REF"}, {Title: "A", Flexible: true}, {Title: "B", Flexible: true}, {Title: "C", Flexible: true}}}
	ref := "github:octo/repo#15"
	table.Add(ref, strings.Repeat("a", 500), strings.Repeat("b", 90), "short")
	row := strings.Split(table.Render(view.Style{}, 80), "\n")[1]
	want := ref + "  " + strings.Repeat("a", 24) + "…  " + strings.Repeat("b", 24) + "…  short"
	if row != want {
		t.Errorf("got  %q\nwant %q", row, want)
	}
}

func TestTableOfUnshrinkableColumnsBecomesBlocks(t *testing.T) {
	table := view.Table{Columns: []view.Column{{Title: "REF"}, {Title: "TITLE", Flexible: true}}}
	table.Add(strings.Repeat("r", 100), "one")
	table.Add("r2", "two")
	want := "REF:\n" + strings.Repeat("r", 100) + "\nTITLE: one\n\nREF:   r2\nTITLE: two\n"
	if got := table.Render(view.Style{}, 80); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

// In a block a value that may be cut has a few lines first.
func TestABlockWrapsWhatMayBeCut(t *testing.T) {
	table := view.Table{Columns: []view.Column{{Title: "REF"}, {Title: "WHY", Flexible: true}}}
	for text, want := range map[string]string{
		"one two three four five":      "REF: r\nWHY: one two\n     three four\n     five\n",
		strings.Repeat("one two ", 9):  "REF: r\nWHY: one two one\n     two one two\n     one two on…\n",
		"abcdefghijklmnopqrstuvwxyz":   "REF: r\nWHY: abcdefghijk\n     lmnopqrstuv\n     wxyz\n",
		"漢字漢字漢字漢字 漢字":                  "REF: r\nWHY: 漢字漢字漢\n     字漢字 漢字\n",
		"elevenchars and twelvechars2": "REF: r\nWHY: elevenchars\n     and\n     twelvechar…\n",
	} {
		table.Rows = [][]view.Cell{{{Text: "r"}, {Text: text}}}
		if got := table.Render(view.Style{}, 16); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

func TestLongCellDoesNotPadOtherRows(t *testing.T) {
	table := view.Table{Columns: []view.Column{{Title: "A"}, {Title: "B"}}}
	table.Add(strings.Repeat("x", 100_000), "1")
	table.Add("y", "2")
	if got := len(table.Render(view.Style{}, 0)); got > 101_000 {
		t.Errorf("%d bytes", got)
	}
}

func TestEmptyTableIsNothing(t *testing.T) {
	if got := (view.Table{Columns: []view.Column{{Title: "REF"}}}).Render(view.Style{}, 80); got != "" {
		t.Errorf("got %q", got)
	}
}

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"":                         0,
		"abc":                      3,
		"漢字":                       4,
		"cafe\u0301":               4,
		"\u1112\u1161\u11ab":       2,
		"한":                        2,
		"🎉":                        2,
		"…":                        1,
		"ｆｕｌｌ":                     8,
		"ｶﾅ":                       2,
		escape.Line("a\u200db"):    8,
		escape.Line("\U000e0049"):  10,
		"\u05e9\u05dc\u05d5\u05dd": 4,
	} {
		if got := view.Width(text); got != want {
			t.Errorf("%q: got %d, want %d", text, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, tt := range []struct {
		text    string
		columns int
		want    string
	}{
		{"abcdef", 6, "abcdef"},
		{"abcdef", 5, "abcd…"},
		{"abcdef", 1, "…"},
		{"abcdef", 0, ""},
		{"漢字漢", 6, "漢字漢"},
		{"漢字漢", 5, "漢字…"},
		{"漢字漢", 4, "漢…"},
		{"cafe\u0301s", 5, "cafe\u0301s"},
		{"cafe\u0301st", 5, "cafe\u0301…"},
		{"one\ntwo", 6, `one\n…`},
		{"into github:octo/repo#15 now", 25, "into github:octo/repo#15…"},
		{"into github:octo/repo#15", 23, "into …"},
		{"into github:octo/repo#15", 24, "into github:octo/repo#15"},
		{"of IC_kwDOQ1aB7s6Zq001, say", 12, "of …"},
		{"github:octo/repo#15", 12, "github:octo…"},
		{"words: many more", 14, "words: many m…"},
		{"it says words: many", 12, "it says wor…"},
	} {
		if got := view.Cut(tt.text, tt.columns); got != tt.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", tt.text, tt.columns, got, tt.want)
		}
	}
}

// A8
func TestFacts(t *testing.T) {
	facts := view.Facts{
		{Key: "ref", Value: "octo/repo#15"},
		{Key: "left out"},
		{Key: "題名", Value: "two\nlines"},
		{Key: "state\x1b", Value: strings.Repeat("x", 100_000), Tone: view.Bad},
	}
	want := "ref:         octo/repo#15\n" +
		"題名:        two\\nlines\n" +
		"state\\u001b: " + strings.Repeat("x", 1999) + "…\n"
	if got := facts.Render(view.Style{}); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestColoursOnlyWhenTold(t *testing.T) {
	tests := []struct {
		isTTY         bool
		noColor, term string
		want          bool
	}{
		{true, "", "xterm-256color", true},
		{true, "", "", true},
		{false, "", "xterm-256color", false},
		{true, "1", "xterm-256color", false},
		{true, "", "dumb", false},
	}
	for _, tt := range tests {
		style := view.StyleFor(tt.isTTY, tt.noColor, tt.term)
		if style.Colour != tt.want {
			t.Errorf("%+v: got %v", tt, style.Colour)
		}
		if coloured := style.Paint(view.Bad, "x") != "x"; coloured != tt.want {
			t.Errorf("%+v: painted %v", tt, coloured)
		}
	}
	// A8
	if got := (view.Style{Colour: true}).Paint(view.Bad, "a\x1b[0mb"); got != "\x1b[31ma\\u001b[0mb\x1b[0m" {
		t.Errorf("got %q", got)
	}
	if got := (view.Style{Colour: true}).Paint(view.Plain, "a"); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestTerminalOfAFileIsNone(t *testing.T) {
	f, err := os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if width, isTTY := view.Terminal(f); width != 0 || isTTY {
		t.Errorf("got %d, %v", width, isTTY)
	}
}

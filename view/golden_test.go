package view_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"theloop/escape"
	"theloop/view"
)

var update = flag.Bool("update", false, "write the golden files anew")

// hostile is what people, trackers and other programs have put into titles.
func hostile() []struct{ name, text string } {
	return []struct{ name, text string }{
		{"plain", "Crash when saving a draft"},
		{"clear screen and title", "\x1b[2J\x1b]0;owned\x07done"},
		{"hyperlink", "\x1b]8;;https://evil.example\x1b\\click\x1b]8;;\x1b\\"},
		{"c1 control sequence", "a\u009b31mred"},
		{"raw c1 byte", "a\x9b31mred"},
		{"right-to-left override", "invoice\u202efdp.exe"},
		{"isolates", "if (\u2066admin\u2069)"},
		{"zero width", "pay\u200bpal \u200c\u200d\ufeff"},
		{"joined emoji", "team 👨‍👩‍👧 ❤️ 🎉"},
		{"tag characters", "ok\U000e0049\U000e0047"},
		{"variation selectors", "x\ufe00y\U000e0100"},
		{"fillers", "a\u3164b\u115fc\uffa0d\u034fe\u2800f"},
		{"private and unassigned", "\ue000 \U0010fffd \u0378"},
		{"line separators", "one\u2028two\u2029three\u0085four"},
		{"line breaks and tabs", "one\r\ntwo\tthree\nfour\rfive"},
		{"backspace over", "safe\b\b\b\bevil\x7f"},
		{"NUL", "a\x00b"},
		{"broken UTF-8", "a\xff\xed\xa0\x80b\xc3"},
		{"replacement character", "a\ufffdb"},
		{"CJK", "日本語の題名、全角"},
		{"combining marks", "cafe\u0301 नमस्ते"},
		{"decomposed Hangul", "\u1112\u1161\u11ab\u1100\u1173\u11af"},
		{"right-to-left letters", "שלום עולם"},
		{"spelled out", `C:\u202e\new`},
		{"no-break space", "a\u00a0b\u3000c"},
	}
}

// A8
func TestLineGolden(t *testing.T) {
	facts := view.Facts{}
	for _, h := range hostile() {
		facts = append(facts, view.Fact{Key: h.name, Value: escape.Line(h.text)})
	}
	golden(t, "lines.golden", facts.Render(view.Style{}))
}

// A8
func TestJSONGolden(t *testing.T) {
	doc := map[string]string{}
	for _, h := range hostile() {
		doc[h.name] = h.text
	}
	out, err := view.JSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "document.golden", string(out))
}

// A8
func TestTableGolden(t *testing.T) {
	table := hostileTable()
	for name, width := range map[string]int{"pipe": 0, "wide": 132, "usual": 80, "smallest": 60, "narrow": 40} {
		t.Run(name, func(t *testing.T) {
			out := table.Render(view.Style{}, width)
			golden(t, "table-"+name+".golden", out)
			for line := range strings.Lines(out) {
				if w := view.Width(strings.TrimSuffix(line, "\n")); width > 0 && w > width {
					t.Errorf("%d columns in a terminal of %d: %q", w, width, line)
				}
			}
		})
	}
}

func TestColouredTableGolden(t *testing.T) {
	table := view.Table{Columns: []view.Column{{Title: "ITEM"}, {Title: "STATE"}, {Title: "N", Right: true}}}
	table.Rows = [][]view.Cell{
		{{Text: "octo/repo#1"}, {Text: "delivered", Tone: view.Good}, {Text: "1"}},
		{{Text: "octo/repo#22"}, {Text: "gave-up", Tone: view.Bad}, {Text: "12", Tone: view.Warn}},
		{{Text: "octo/repo#3"}, {}, {}},
	}
	golden(t, "table-colour.golden", table.Render(view.Style{Colour: true}, 80))
}

func hostileTable() view.Table {
	table := view.Table{Columns: []view.Column{
		{Title: "REF"},
		{Title: "TITLE", Flexible: true},
		{Title: "TRIES", Right: true},
		{Title: "ERROR", Flexible: true},
	}}
	table.Add("octo/repo#7", "short", "1")
	for _, h := range hostile() {
		table.Add("octo/repo#15", h.text, "3", h.name)
	}
	table.Add("octo/repo#16", strings.Repeat("漢字", 300), "10", "wide")
	table.Add("octo/repo#17", "long", "0", strings.Repeat("exit status 1; ", 200))
	return table
}

// golden compares got with a file of testdata; -update writes it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got); run with -update when it is meant:\n%s", path, diff)
	}
}

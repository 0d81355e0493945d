package eventlog

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"theloop/escape"
)

func lineOf(e Event) []byte {
	l := Open(Options{Source: "poll", Version: "1.2.3", PID: 42, Now: func() time.Time { return noon }})
	return l.line(e)
}

func fieldsIn(t require, line []byte) map[string]any {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	return fields
}

// require is what *testing.T and *rapid.T share.
type require interface {
	Helper()
	Fatalf(format string, args ...any)
}

func TestCutting(t *testing.T) {
	long := func(s string, n int) string { return strings.Repeat(s, n) }
	checked := []any{"by the check"}
	manyFields := map[string]any{}
	for i := range 1000 {
		manyFields[fmt.Sprintf("field%04d", i)] = i + 1
	}
	wideFields := map[string]any{"work_item": "github:octo/repo#15"}
	for i := range 60 {
		wideFields[fmt.Sprintf("%02d", i)+long("k", keyLimit-2)] = long("v", 90)
	}
	tests := map[string]struct {
		fields map[string]any
		cut    []any
		check  func(fields map[string]any) bool
	}{
		"error of 500 characters stays": {
			fields: map[string]any{"error": long("é", 500)},
			check:  func(f map[string]any) bool { return f["error"] == long("é", 500) },
		},
		"error of 501 characters": {
			fields: map[string]any{"error": long("é", 501)},
			cut:    []any{"error"},
			check:  func(f map[string]any) bool { return f["error"] == long("é", 499)+"…" },
		},
		"error is measured when it is safe": {
			fields: map[string]any{"error": errors.New(long("\u202e", 200))},
			cut:    []any{"error"},
			check:  func(f map[string]any) bool { return utf8.RuneCountInString(f["error"].(string)) == 500 },
		},
		"longest text": {
			fields: map[string]any{"work_item": "github:octo/repo#15", "detail": long("x", 5000), "reason": long("y", 1000)},
			cut:    []any{"detail"},
			check: func(f map[string]any) bool {
				return f["work_item"] == "github:octo/repo#15" && f["reason"] == long("y", 1000) &&
					strings.HasSuffix(f["detail"].(string), "x…") && len(f["detail"].(string)) > 2500
			},
		},
		"quotes count twice": {
			fields: map[string]any{"detail": long(`"\`, 2000)},
			cut:    []any{"detail"},
			check:  func(f map[string]any) bool { return len(f["detail"].(string)) > 1800 },
		},
		"ten megabytes": {
			fields: map[string]any{"detail": long("漢", 10<<20/3)},
			cut:    []any{"detail"},
			check:  func(f map[string]any) bool { return strings.HasSuffix(f["detail"].(string), "漢…") },
		},
		"list": {
			fields: map[string]any{"errors": slices.Repeat([]string{long("e", 300)}, 100)},
			cut:    []any{"errors"},
			check: func(f map[string]any) bool {
				list := f["errors"].([]any)
				return len(list) > 10 && list[0] == long("e", 300) && list[len(list)-1] == "…"
			},
		},
		"element of a list": {
			fields: map[string]any{"errors": []error{errors.New(long("e", 501)), nil, errors.New("b")}},
			cut:    []any{"errors"},
			check: func(f map[string]any) bool {
				return slices.Equal(f["errors"].([]any), []any{long("e", 499) + "…", "b", "…"})
			},
		},
		"too many fields": {
			fields: manyFields,
			cut:    []any{"…"},
			check: func(f map[string]any) bool {
				return f["field0000"] == 1.0 && f["field0063"] == 64.0 && f["field0064"] == nil
			},
		},
		"fields that are too wide together": {
			fields: wideFields,
			cut:    checked,
			check: func(f map[string]any) bool {
				cut := f["cut"].([]any)
				return f["work_item"] == "github:octo/repo#15" && len(f) > 20 && cut[len(cut)-1] == "…"
			},
		},
		"too many counters": {
			fields: map[string]any{"counts": manyFields},
			cut:    []any{"counts"},
			check:  func(f map[string]any) bool { return len(f["counts"].(map[string]any)) == maxCounters },
		},
		"long key": {
			fields: map[string]any{long("k", 5000): 1},
			check:  func(f map[string]any) bool { return f[long("k", keyLimit-1)+"…"] == 1.0 },
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			line := lineOf(Event{Name: "config.reloaded", Fields: tt.fields})
			if len(line) >= maxLine {
				t.Errorf("%d bytes leave no room for a newline before it", len(line))
			}
			fields := fieldsIn(t, line)
			if cut, _ := fields["cut"].([]any); !slices.Equal(cut, tt.cut) && !slices.Equal(tt.cut, checked) {
				t.Errorf("cut is %v, want %v", fields["cut"], tt.cut)
			}
			if !tt.check(fields) {
				t.Errorf("got %.300s", line)
			}
		})
	}
}

func TestValues(t *testing.T) {
	type state string
	n := 3
	for _, tt := range []struct {
		given any
		want  any
	}{
		{"text", "text"}, {state("paused"), "paused"}, {[]byte("b"), "b"},
		{3, 3.0}, {uint8(3), 3.0}, {int64(-3), -3.0}, {1.5, 1.5}, {&n, 3.0}, {json.Number("12"), 12.0},
		{math.NaN(), "NaN"}, {json.Number("x\n"), `x\n`},
		{true, true}, {false, false},
		{noon, "2026-03-01T12:00:00.007Z"}, {noon.In(time.FixedZone("", 3600)), "2026-03-01T12:00:00.007Z"},
		{time.Second, "1s"}, {Warning, "warning"}, {errors.New("e"), "e"},
		{[]state{"a", "b"}, []any{"a", "b"}}, {[]int{0, 1}, []any{0.0, 1.0}}, {[2]bool{}, []any{false, false}},
		{map[string]int{"b": 2, "a": 1, "zero": 0}, map[string]any{"a": 1.0, "b": 2.0}},
		// Empty ones are left out.
		{nil, nil}, {"", nil}, {state(""), nil}, {0, nil}, {0.0, nil}, {json.Number("0"), nil},
		{time.Time{}, nil}, {(*int)(nil), nil}, {(*time.Time)(nil), nil}, {error(nil), nil},
		{[]string{}, nil}, {[]string(nil), nil}, {map[string]int{"a": 0}, nil},
	} {
		got := fieldsIn(t, lineOf(Event{Name: "x", Fields: map[string]any{"f": tt.given}}))["f"]
		if fmt.Sprint(got) != fmt.Sprint(tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%T %v: got %v, want %v", tt.given, tt.given, got, tt.want)
		}
	}
}

func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		event Event
		want  string
	}{
		{Event{Name: "poll.item_error"}, "error"},
		{Event{Name: "poll.item_error", Level: Debug}, "debug"},
		{Event{Name: "poll.item_error", Level: 99}, "error"},
		{Event{Name: "unheard.of"}, "info"},
	} {
		if got := fieldsIn(t, lineOf(tt.event))["level"]; got != tt.want {
			t.Errorf("%+v: got %v, want %v", tt.event, got, tt.want)
		}
	}
	for l := Debug; l <= Error; l++ {
		if got, err := ParseLevel(strings.ToUpper(l.String())); got != l || err != nil {
			t.Errorf("%v came back as %v, %v", l, got, err)
		}
	}
	if got, err := ParseLevel("warn"); got != Warning || err != nil {
		t.Errorf("warn: %v, %v", got, err)
	}
	if _, err := ParseLevel("loud"); err == nil {
		t.Error("a level was made of nothing")
	}
}

// R2, A8: whatever the event holds, its line is one line, parses, is safe to
// look at, and fits.
func TestAnyEventFitsIntoOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringN(0, 3000, -1),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
		value := rapid.OneOf(rapid.Map(text, toAny), rapid.Map(rapid.SliceOf(text), toAny),
			rapid.Map(rapid.Float64(), toAny), rapid.Map(rapid.Bool(), toAny),
			rapid.Map(rapid.MapOf(text, rapid.Int()), toAny))
		key := rapid.OneOf(text, rapid.SampledFrom([]string{"error", "detail", "ts", "cut"}))
		line := lineOf(Event{
			Name:   text.Draw(t, "name"),
			Source: text.Draw(t, "source"),
			Fields: rapid.MapOf(key, value).Draw(t, "fields"),
		})
		if len(line) >= maxLine || line[len(line)-1] != '\n' {
			t.Fatalf("%d bytes: %q", len(line), line)
		}
		fieldsIn(t, line)
		if s := strings.TrimSuffix(string(line), "\n"); escape.Line(s) != s {
			t.Fatalf("not safe to look at: %q", s)
		}
	})
}

// R2: strings come back as they were, but for what had to be made visible.
func TestStringsRoundTrip(t *testing.T) {
	f := inFolder(t)
	rapid.Check(t, func(t *rapid.T) {
		detail := rapid.StringN(0, 800, 3000).Draw(t, "detail")
		actor := rapid.StringN(1, 20, 100).Draw(t, "actor")
		f.Append(Event{Name: "config.reloaded", Fields: map[string]any{"detail": detail, "actor": actor}})
		var last Entry
		skipped, err := Read(f.path, Filter{Limit: 1}, func(e Entry) error { last = e; return nil })
		if err != nil || skipped != 0 {
			t.Fatalf("%d skipped, %v", skipped, err)
		}
		got, _ := last.Fields["detail"].(string)
		if want := escape.Line(detail); last.Cut == nil && got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		if got := last.Fields["actor"]; got != escape.Line(actor) {
			t.Fatalf("got %q, want %q", got, escape.Line(actor))
		}
		if printable(detail) && len(detail) < 1500 && got != detail {
			t.Fatalf("%q was changed to %q", detail, got)
		}
	})
}

// printable reports text in which there is nothing to make visible.
func printable(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' && r != 'é' })
}

func toAny[T any](v T) any { return v }

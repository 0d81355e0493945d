package escape_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"theloop/escape"
)

// unsafeRune is the rule of A8 stated a second time, by category.
func unsafeRune(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp,
		unicode.Bidi_Control, unicode.Join_Control, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point) ||
		// Cn: in no category at all.
		!unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Z, unicode.C)
}

// anyText draws strings rich in what must not be printed.
func anyText() *rapid.Generator[string] {
	hidden := rapid.RuneFrom(nil, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp,
		unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
	return rapid.OneOf(
		rapid.String(),
		rapid.StringOf(rapid.OneOf(hidden, rapid.Rune(), rapid.RuneFrom([]rune("a \\\"\n\r\t漢é🎉\u0301")))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// A8
func TestLineShowsEverythingOnOneLine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := anyText().Draw(t, "text")
		out := escape.Line(in)
		if !utf8.ValidString(out) || strings.ContainsFunc(out, unsafeRune) {
			t.Fatalf("Line(%q) = %q", in, out)
		}
		if again := escape.Line(out); again != out {
			t.Fatalf("a second Line made %q of %q", again, out)
		}
		if in != "" && out == "" {
			t.Fatalf("Line(%q) hides the whole text", in)
		}
	})
}

// A8: a reader can tell any two characters apart.
func TestLineOfEveryRune(t *testing.T) {
	seen := map[string]rune{}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || sparse(r) && r%251 != 0 {
			continue
		}
		out := escape.Line(string(r))
		if other, dup := seen[out]; dup {
			t.Fatalf("%U and %U both show as %q", r, other, out)
		}
		seen[out] = r
		escaped := out != string(r)
		if unsafeRune(r) && !escaped {
			t.Fatalf("%U is shown as it is", r)
		}
		if escaped != escape.Hidden(r) {
			t.Fatalf("%U is escaped and not hidden, or the other way about", r)
		}
		if escaped && unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S) &&
			!unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) && r != 0x2800 && r != 0x1d159 {
			t.Fatalf("%U can be seen, yet is escaped as %q", r, out)
		}
	}
}

// sparse reports the planes that hold no letters, of which samples do.
func sparse(r rune) bool {
	return r >= 0x40000 && r < 0xe0000 || r >= 0xf0000
}

// A8
func TestTextKeepsOnlyLineFeedsAndTabs(t *testing.T) {
	if got, want := escape.Text("a\r\nb\tc\rd\x1b[m\n"), "a\nb\tc\\rd\\u001b[m\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	rapid.Check(t, func(t *rapid.T) {
		in := anyText().Draw(t, "text")
		out := escape.Text(in)
		bad := func(r rune) bool { return r != '\n' && r != '\t' && unsafeRune(r) }
		if !utf8.ValidString(out) || strings.ContainsFunc(out, bad) {
			t.Fatalf("Text(%q) = %q", in, out)
		}
		if again := escape.Text(out); again != out {
			t.Fatalf("a second Text made %q of %q", again, out)
		}
	})
}

// A8: a hundred thousand characters are no reason to be slow.
func TestLineOfLongText(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	if escape.Line(long) != long {
		t.Error("a long harmless text was changed")
	}
	if got := escape.Line(strings.Repeat("\u202e", 100_000)); got != strings.Repeat(`\u202e`, 100_000) {
		t.Error("a long hostile text was not escaped throughout")
	}
}

// A5: what is in no string as it is comes back out of JSON as it was.
func TestAppendJSONIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.Rune().Draw(t, "character")
		text := append(escape.AppendJSON([]byte{'"'}, r), '"')
		var back string
		if err := json.Unmarshal(text, &back); err != nil || back != string(r) || strings.ContainsFunc(string(text), escape.Hidden) {
			t.Fatalf("%U is written %s, which is %q: %v", r, text, back, err)
		}
	})
}

// A5, A8: what no property of Unicode tells is drawn as nothing all the same.
func TestBlanksAreHidden(t *testing.T) {
	for in, want := range map[string]string{"a\u2800b": `a\u2800b`, "\U00016fe4": `\U00016fe4`, "\U0001d159": `\U0001d159`} {
		if got := escape.Line(in); got != want {
			t.Errorf("%+q is shown as %+q", in, got)
		}
	}
}

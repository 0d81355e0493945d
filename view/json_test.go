package view_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"theloop/escape"
	"theloop/view"
)

// anyText draws strings rich in what must not be printed.
func anyText() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.RuneFrom([]rune("a \\\"\n\r\t漢é🎉\u0301\u202e\u200d\u2028\U000e0001")))),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
	)
}

// A8: the same characters are escaped in JSON, and nothing is lost by it.
func TestJSONIsSafeAndExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := rapid.MapOf(anyText(), anyText()).Draw(t, "document")
		out, err := view.JSON(in)
		if err != nil {
			t.Fatal(err)
		}
		bad := func(r rune) bool { return r != '\n' && escape.Hidden(r) }
		if !utf8.Valid(out) || strings.ContainsFunc(string(out), bad) {
			t.Fatalf("JSON(%q) = %q", in, out)
		}
		var back map[string]string
		if err := json.Unmarshal(out, &back); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		if len(back) != len(in) {
			return // keys that are not UTF-8 became one
		}
		for key, value := range in {
			if utf8.ValidString(key) && utf8.ValidString(value) && back[key] != value {
				t.Fatalf("%q came back as %q", value, back[key])
			}
		}
	})
}

// A document looks as encoding/json makes one, whatever is in it.
func TestJSONIsIndentedAsUsual(t *testing.T) {
	texts := rapid.StringOf(rapid.RuneFrom([]rune("a{}[],:\"\\ <é漢")))
	leaf := rapid.OneOf(rapid.Map(texts, func(s string) any { return s }), rapid.Map(rapid.Float64(), func(f float64) any { return f }),
		rapid.SampledFrom([]any{nil, true, 0, []any{}, map[string]any{}, json.RawMessage(`[ {"a" : [ ] , "b":{ } } ]`)}))
	value := leaf
	for range 3 {
		value = rapid.OneOf(leaf, rapid.Map(rapid.SliceOfN(value, 0, 3), func(v []any) any { return v }),
			rapid.Map(rapid.MapOfN(texts, value, 0, 3), func(v map[string]any) any { return v }))
	}
	rapid.Check(t, func(t *rapid.T) {
		v := value.Draw(t, "value")
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(v); err != nil {
			t.Fatal(err)
		}
		if got, err := view.JSON(v); err != nil || string(got) != want.String() {
			t.Fatalf("got %s, %v\nwant %s", got, err, want.String())
		}
	})
}

func TestJSONIsOneDocument(t *testing.T) {
	out, err := view.JSON(struct {
		Zulu  string          `json:"zulu"`
		Alpha json.RawMessage `json:"alpha"`
	}{"<&>", json.RawMessage("\"\xff\u202e\"")})
	want := "{\n  \"zulu\": \"<&>\",\n  \"alpha\": \"\\ufffd\\u202e\"\n}\n"
	if err != nil || string(out) != want {
		t.Errorf("got %q, %v; want %q", out, err, want)
	}
	if _, err := view.JSON(math.NaN()); err == nil {
		t.Error("NaN was encoded")
	}
}

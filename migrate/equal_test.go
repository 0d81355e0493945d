package migrate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// What is written without an encoder is what an encoder would write.
func TestEncode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringMatching(`[ -~]*`), rapid.SampledFrom([]string{"\xff", "\u2028"}), rapid.StringMatching("[a-c\x00-\x1f\"\\\\\x7f-\u00ff]*"))
		texts := rapid.SliceOfN(text, 0, 3).Draw(t, "texts")
		counts := rapid.MapOfN(text, rapid.IntRange(0, 3), 0, 2).Draw(t, "counts")
		parts := rapid.MapOfN(text, rapid.Just(json.RawMessage("1")), 0, 2).Draw(t, "parts")
		for _, value := range []any{text.Draw(t, "text"), texts, texts[:0], []string(nil), counts, map[string]int(nil), parts, object(nil), true, nil} {
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			if err := enc.Encode(value); err != nil {
				t.Fatal(err)
			}
			if got := encode(value); string(got)+"\n" != want.String() {
				t.Fatalf("%q is written %s, not %s", value, got, &want)
			}
		}
	})
}

// Values are the same when they say the same, and then have the same digest, however
// they are written.
func TestEqualJSON(t *testing.T) {
	values := []string{
		``, `""`, `" "`, `"a b"`, `"ab"`, ` "ab" `, `"\u0061b"`, `"\""`, `"\\"`, "\"\\\\\"\n", `"x\" "`, `"x\""`, `1`, `1.0`, ` 1`, `12`, `null`, `true`,
		`{}`, `{ }`, `[]`, "[\n]", `[1,2]`, `[ 1 , 2 ]`, `[12]`, `[1]`, `[1,[2]]`, `["a","b"]`, "[\"a\",\t\"b\"]", `["a, b"]`, `["a", "b "]`,
		`{"a":1,"b":2}`, `{"b":2,"a":1}`, `{"a": 1, "b": 2}`, `{"a":{"b":2}}`,
		`{"attempts":0,"deliveryId":"","gaveUp":false}`, `{"gaveUp": false, "attempts": 0, "deliveryId": ""}`,
	}
	say := func(text string) (v any) {
		dec := json.NewDecoder(bytes.NewReader([]byte(text)))
		dec.UseNumber()
		if text == "" {
			return "nothing at all"
		}
		if err := dec.Decode(&v); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		return v
	}
	for _, a := range values {
		for _, b := range values {
			x, y := json.RawMessage(a), json.RawMessage(b)
			same := reflect.DeepEqual(say(a), say(b))
			if equalJSON(x, y) != same || (digest(x) == digest(y)) != same {
				t.Errorf("%q and %q: %v, %s and %s", a, b, equalJSON(x, y), digest(x), digest(y))
			}
		}
	}
}

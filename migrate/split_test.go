package migrate

import (
	"encoding/json"
	"reflect"
	"testing"
)

// What is found in a document is what encoding/json finds in it, level by level;
// what is no JSON makes nothing fall over.
func FuzzSplit(f *testing.F) {
	for _, text := range []string{
		`{}`, `[]`, `""`, `null`, `0`, ` { } `, "\t[\r\n]", `{"a":1,"b":[1,{"c":null},true,-1.5e+3]}`,
		`{ "a" : "x" , "a" : {"}":"]"} }`, `{"\u0061":1,"a":2}`, `{"k\"":"\\","":"\\\""}`, `["\ud800", "\ud83d\ude00", "é", "<&>"]`,
		`[[],[[]],{"a":[{}]}]`, `{"a":[],"b":{},"c":"","d":0 }`, "{\"\xff\":\"\xff\"}", "[\"\x7f\"]",
		``, `{`, `[`, `"`, `"\`, `{"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1]`, `[1}`, `{1:2}`, `{{}:1}`, `[1 2]`, `{]`, `[}`, `{"a":}`, `,`, `:`, `{"a" "b"}`, `{}{}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = members(data)
		_, _ = elements(data)
		_, _ = plain(data)
		var doc object
		err := json.Unmarshal(data, &doc)
		got, _, bad := parse(data)
		if (bad == nil) != (err == nil && doc != nil) || bad == nil && !reflect.DeepEqual(got, doc) {
			t.Fatalf("of %q:\n%q, %v, not\n%q, %v", data, got, bad, doc, err)
		}
		if json.Valid(data) {
			sameParts(t, data)
		}
	})
}

// sameParts goes down into a value that is JSON.
func sameParts(t *testing.T, raw json.RawMessage) {
	var o object
	var list []json.RawMessage
	var text string
	same := func(got any, bad *fault, want any, kind string) {
		is := isNone(raw) || kindOf(raw) == kind
		if is && (json.Unmarshal(raw, want) != nil || bad != nil || !reflect.DeepEqual(got, reflect.ValueOf(want).Elem().Interface())) {
			t.Fatalf("of %q: %q, %v", raw, got, bad)
		}
		if !is && bad == nil {
			t.Fatalf("%q is %s", raw, kind)
		}
	}
	_, isMembers := members(raw)
	_, isElements := elements(raw)
	if isMembers != isObject(raw) || isElements != (kindOf(raw) == "a list") {
		t.Fatalf("%q: members %v, elements %v", raw, isMembers, isElements)
	}
	gotObject, bad := asObject(raw)
	same(gotObject, bad, &o, "an object")
	gotList, bad := asList(raw)
	same(gotList, bad, &list, "a list")
	gotText, bad := asText(raw)
	same(gotText, bad, &text, "a text")
	for _, value := range o {
		sameParts(t, value)
	}
	for _, value := range list {
		sameParts(t, value)
	}
}

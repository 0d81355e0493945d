package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// json FILE WANT holds one JSON document against a pattern: the same keys, the
// same values. In the pattern "<any>" stands for anything, "<text>" for a text
// that is not empty, "<number>" for a number, "<time>" for a time in RFC 3339,
// UTC.
func jsonCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: json FILE WANT")
	}
	got, want := decode(ts, args[0]), decode(ts, args[1])
	if faults := differ("", got, want); len(faults) > 0 {
		ts.Fatalf("%s is not like %s:\n%s", args[0], args[1], strings.Join(faults, "\n"))
	}
}

func decode(ts *testscript.TestScript, name string) (v any) {
	d := json.NewDecoder(strings.NewReader(ts.ReadFile(name)))
	if err := d.Decode(&v); err != nil {
		ts.Fatalf("%s: %v", name, err)
	}
	if d.More() {
		ts.Fatalf("%s has more than one JSON document", name)
	}
	return v
}

func differ(at string, got, want any) []string {
	switch want := want.(type) {
	case string:
		return differText(at, got, want)
	case map[string]any:
		return differObject(at, got, want)
	case []any:
		return differList(at, got, want)
	}
	if got != want {
		return []string{fmt.Sprintf("%s: is %v, want %v", at, got, want)}
	}
	return nil
}

func differText(at string, got any, want string) []string {
	text, isText := got.(string)
	_, isNumber := got.(float64)
	ok := got == want
	switch want {
	case "<any>":
		ok = true
	case "<text>":
		ok = isText && text != ""
	case "<number>":
		ok = isNumber
	case "<time>":
		_, err := time.Parse(time.RFC3339, text)
		ok = err == nil && strings.HasSuffix(text, "Z")
	}
	if ok {
		return nil
	}
	return []string{fmt.Sprintf("%s: is %#v, want %s", at, got, want)}
}

func differObject(at string, got any, want map[string]any) (faults []string) {
	object, ok := got.(map[string]any)
	if !ok {
		return []string{fmt.Sprintf("%s: is %v, want an object", at, got)}
	}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		if value, ok := object[key]; ok {
			faults = append(faults, differ(at+"."+key, value, want[key])...)
		} else {
			faults = append(faults, at+"."+key+": is missing")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		if _, ok := want[key]; !ok {
			faults = append(faults, at+"."+key+": is not in the pattern")
		}
	}
	return faults
}

func differList(at string, got any, want []any) (faults []string) {
	list, ok := got.([]any)
	if !ok || len(list) != len(want) {
		return []string{fmt.Sprintf("%s: is %v, want a list of %d", at, got, len(want))}
	}
	for i := range want {
		faults = append(faults, differ(fmt.Sprintf("%s[%d]", at, i), list[i], want[i])...)
	}
	return faults
}

package eventlog

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"theloop/escape"
)

const (
	// errorLimit is how many safe characters of an error, or of one element of
	// a list, are kept: enough for a message, too few for a body.
	errorLimit = 500
	// keyLimit bounds, in characters, names that the catalogue does not know.
	keyLimit = 64
	// maxCounters bounds a set of counters, which cannot be shortened later on.
	maxCounters = 16
	// stamp is RFC 3339 with milliseconds; times are in UTC.
	stamp = "2006-01-02T15:04:05.000Z07:00"
)

// value is what a field holds, ready to be written and to be shortened.
type value struct {
	key   string
	kind  kind
	empty bool     // left out of the line
	text  string   // of a text: safe, not yet quoted
	raw   string   // of a number, a flag, counters: JSON
	items []string // of a list: JSON of each element
	cut   bool     // something is missing
}

// classify turns what a caller gave into a value.
func classify(v any) value {
	rv := reflect.ValueOf(v)
	if absent(rv) {
		return value{kind: text, empty: true}
	}
	switch v := v.(type) {
	case time.Time:
		if v.IsZero() {
			return value{kind: text, empty: true}
		}
		return textValue(v.UTC().Format(stamp))
	case json.Number:
		return numberValue(v, v == "0")
	case error, fmt.Stringer:
		return textValue(fmt.Sprint(v))
	case []byte:
		return textValue(string(v))
	}
	return classifyKind(rv)
}

// absent reports nil in any of its shapes.
func absent(rv reflect.Value) bool {
	switch rv.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Func, reflect.Chan:
		return rv.IsNil()
	}
	return false
}

// classifyKind goes by the kind of a value whose type means nothing to us, so
// that named strings and numbers of other packages need no conversion.
func classifyKind(rv reflect.Value) value {
	switch rv.Kind() {
	case reflect.String:
		return textValue(rv.String())
	case reflect.Bool:
		return value{kind: flag, raw: strconv.FormatBool(rv.Bool())}
	case reflect.Slice, reflect.Array:
		return listValue(rv)
	case reflect.Map:
		return countersValue(rv)
	case reflect.Pointer:
		return classify(rv.Elem().Interface())
	}
	if rv.CanInt() || rv.CanUint() || rv.CanFloat() {
		return numberValue(rv.Interface(), rv.IsZero())
	}
	return textValue(fmt.Sprint(rv.Interface()))
}

// numberValue writes v as JSON does; what JSON has no number for is a text.
func numberValue(v any, zero bool) value {
	raw, err := json.Marshal(v)
	if err != nil {
		return textValue(fmt.Sprint(v))
	}
	return value{kind: number, raw: string(raw), empty: zero}
}

// textValue makes s safe. More of it than a line can hold is not even looked at.
func textValue(s string) value {
	v := value{kind: text, empty: s == ""}
	if len(s) > maxLine {
		s, v.cut = wholeRunes(s[:maxLine]), true
	}
	v.text = escape.Line(s)
	return v
}

// wholeRunes drops a character at the end of s that was cut in two.
func wholeRunes(s string) string {
	for i := len(s) - 1; i >= 0 && i >= len(s)-utf8.UTFMax; i-- {
		if utf8.RuneStart(s[i]) {
			if !utf8.FullRuneInString(s[i:]) {
				return s[:i]
			}
			break
		}
	}
	return s
}

// listValue encodes the elements of a slice until a line would be full.
func listValue(rv reflect.Value) value {
	v := value{kind: list, empty: rv.Len() == 0}
	size := 0
	for i := range rv.Len() {
		if size > maxLine {
			v.cut = true
			break
		}
		item := classify(rv.Index(i).Interface())
		if item.kind == text && item.empty {
			continue
		}
		item.limit(errorLimit)
		v.cut = v.cut || item.cut
		v.items = append(v.items, item.json())
		size += len(item.json())
	}
	return v
}

// countersValue encodes a map by sorted keys, zero counters left out.
func countersValue(rv reflect.Value) value {
	entries := map[string]string{}
	for it := rv.MapRange(); it.Next(); {
		item := classify(it.Value().Interface())
		if !item.empty {
			item.limit(keyLimit)
			entries[safeKey(fmt.Sprint(it.Key().Interface()))] = item.json()
		}
	}
	v := value{kind: counters, empty: len(entries) == 0}
	var pairs []string
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if len(pairs) == maxCounters {
			v.cut = true
			break
		}
		pairs = append(pairs, quote(key)+":"+entries[key])
	}
	v.raw = "{" + strings.Join(pairs, ",") + "}"
	return v
}

// limit cuts a text to n characters.
func (v *value) limit(n int) {
	if s, cut := truncate(v.text, n); cut {
		v.text, v.cut = s, true
	}
}

// json is the value as it stands in the line.
func (v *value) json() string {
	switch v.kind {
	case text:
		return quote(v.text)
	case list:
		items := v.items
		if v.cut {
			items = append(slices.Clip(items), quote(ellipsis))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return v.raw
}

// quote makes a JSON string of safe text, in which only these two characters
// mean anything to JSON.
func quote(s string) string {
	if strings.ContainsAny(s, `\"`) {
		s = strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), `"`, `\"`)
	}
	return `"` + s + `"`
}

// safeKey is the name of a field as it may stand in a line.
func safeKey(s string) string {
	key, _ := truncate(escape.Line(s), keyLimit)
	return key
}

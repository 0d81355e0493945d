package migrate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// object is a JSON object as it stands in a file: keys are compared as they are
// written, values are kept.
type object = map[string]json.RawMessage

// fault says what is wrong in a document, and where: the keys and indexes that
// lead there from the top. It becomes a line when it is listed.
type fault struct {
	at     []any
	reason string
}

// in is the fault seen from one level up.
func (f *fault) in(at ...any) *fault {
	if f == nil {
		return nil
	}
	return &fault{append(at, f.at...), f.reason}
}

func faultf(format string, args ...any) *fault { return &fault{reason: fmt.Sprintf(format, args...)} }

// maxEcho bounds how much of a text a reason repeats, in bytes.
const maxEcho = 120

func echo(s string) string {
	if len(s) > maxEcho {
		s = s[:maxEcho] + "..."
	}
	return strconv.QuoteToASCII(s)
}

// kindOf names what a value is, for messages.
func kindOf(raw json.RawMessage) string {
	raw = bytes.TrimLeft(raw, " \t\r\n")
	if len(raw) == 0 {
		return "missing"
	}
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a text"
	case 't', 'f':
		return "true or false"
	case 'n':
		return "null"
	}
	return "a number"
}

func isObject(raw json.RawMessage) bool { return kindOf(raw) == "an object" }

// isNone reports a value that is absent or null.
func isNone(raw json.RawMessage) bool { return len(raw) == 0 || kindOf(raw) == "null" }

// decode reads a value of one kind; absent and null are the zero value.
func decode[T any](raw json.RawMessage, want string) (value T, bad *fault) {
	if isNone(raw) {
		return value, nil
	}
	if kindOf(raw) != want {
		return value, faultf("it is %s, not %s", kindOf(raw), want)
	}
	read := new(T) // not the result, which would be on the heap also of what is absent
	if err := json.Unmarshal(raw, read); err != nil {
		return *read, faultf("it is not %s that makes sense: %v", want, err)
	}
	return *read, nil
}

func asObject(raw json.RawMessage) (object, *fault) {
	if isNone(raw) {
		return nil, nil
	}
	if o, ok := members(raw); ok {
		return o, nil
	}
	return decode[object](raw, "an object")
}

func asText(raw json.RawMessage) (string, *fault) {
	if text, ok := plain(raw); ok {
		return text, nil
	}
	return decode[string](raw, "a text")
}

func asFlag(raw json.RawMessage) (bool, *fault) { return decode[bool](raw, "true or false") }

// asCount reads how often something was tried.
func asCount(raw json.RawMessage) (int, *fault) {
	n, bad := decode[json.Number](raw, "a number")
	if bad != nil || n == "" {
		return 0, bad
	}
	count, err := n.Int64()
	if err != nil || count < 0 || count > math.MaxInt32 {
		return 0, faultf("it is %s, not a count from 0", strings.Trim(echo(n.String()), `"`))
	}
	return int(count), nil
}

func asList(raw json.RawMessage) ([]json.RawMessage, *fault) {
	if list, ok := elements(raw); ok {
		return list, nil
	}
	return decode[[]json.RawMessage](raw, "a list")
}

func asTexts(raw json.RawMessage) ([]string, *fault) {
	list, bad := asList(raw)
	texts := make([]string, len(list))
	for i, e := range list {
		var wrong *fault
		if texts[i], wrong = asText(e); wrong != nil {
			return nil, wrong.in(i)
		}
		if isNone(e) {
			return nil, faultf("it is null, not a text").in(i)
		}
	}
	return texts, bad
}

// asTime reads a time as earlier releases wrote it: RFC 3339, with or without
// an offset (then it is UTC); empty is the zero time.
func asTime(raw json.RawMessage) (time.Time, *fault) {
	text, bad := asText(raw)
	if bad != nil || text == "" {
		return time.Time{}, bad
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05"} {
		t, err := time.Parse(layout, text)
		if t = t.UTC(); err == nil && t.Year() > 0 && t.Year() < 10000 {
			return t, nil
		}
	}
	return time.Time{}, faultf("it is %s, not a time like 2026-07-31T09:11:58Z", echo(text))
}

// timeText is a time as it is written; the zero time is empty.
func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}

// without returns the keys of an object that are not among the known ones, nil
// when there are none.
func without(o object, known ...string) object {
	var rest object
	for key, value := range o {
		if !slices.Contains(known, key) {
			if rest == nil {
				rest = object{}
			}
			rest[key] = value
		}
	}
	return rest
}

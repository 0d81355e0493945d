package eventlog

import (
	"fmt"
	"strings"
)

// Event is one decision.
type Event struct {
	// Name is one of [Names].
	Name string
	// Source is the part of the program that decided ("poll", "sessions");
	// empty means the source of the log.
	Source string
	// Level is how much attention the event needs; zero means what the
	// catalogue says for the name.
	Level Level
	// Fields are the event's own. Strings, booleans, numbers, times, errors,
	// fmt.Stringers, slices of these, and maps of counters are understood. One
	// that is named like a key of every line is written with "field_" before it.
	Fields map[string]any
}

// Level orders events by how much attention they need.
type Level int8

// The levels, rising. The zero Level means "what the catalogue says".
const (
	Debug Level = iota + 1
	Info
	Warning
	Error
)

// String is the word that stands in the file.
func (l Level) String() string {
	switch l {
	case Debug:
		return "debug"
	case Info:
		return "info"
	case Warning:
		return "warning"
	case Error:
		return "error"
	}
	return ""
}

// ParseLevel is the inverse of String. It ignores case and takes "warn" too.
func ParseLevel(s string) (Level, error) {
	word := strings.ToLower(s)
	if word == "warn" {
		return Warning, nil
	}
	for l := Debug; l <= Error; l++ {
		if l.String() == word {
			return l, nil
		}
	}
	return 0, fmt.Errorf("unknown level %q; use debug, info, warning or error", s)
}

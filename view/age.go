package view

import (
	"fmt"
	"strconv"
	"time"
)

// justNow is the distance below which a moment is not counted in seconds: two
// processes that look at the same clock are rarely closer than that.
const justNow = 2 * time.Second

const day = 24 * time.Hour

// Age says how far t is from now in one unit: "just now", "2m ago", "in 3s";
// "never" for the zero time.
func Age(now, t time.Time) string {
	if t.IsZero() {
		return "never"
	}
	switch d := now.Sub(t); {
	case d > -justNow && d < justNow:
		return "just now"
	case d < 0:
		return "in " + coarse(distance(d))
	default:
		return coarse(d) + " ago"
	}
}

// coarse is d in its largest unit, rounded down; d is not negative.
func coarse(d time.Duration) string {
	unit := unitOf(d)
	return strconv.FormatInt(int64(d/unit.size), 10) + unit.name
}

// Duration says how long d is in its two largest units: "250ms", "3s",
// "1m 30s", "2h", "3d 4h". What is below the second unit is dropped.
func Duration(d time.Duration) string {
	if d < 0 {
		return "-" + Duration(distance(d))
	}
	unit := unitOf(d)
	text := coarse(d)
	rest := d % unit.size
	if unit.next.size == 0 || rest < unit.next.size {
		return text
	}
	return fmt.Sprintf("%s %d%s", text, rest/unit.next.size, unit.next.name)
}

// distance is d without its sign. The most negative duration, which is what
// subtracting far apart times gives, has no exact counterpart.
func distance(d time.Duration) time.Duration {
	return max(d, -d, -(d + 1))
}

type unit struct {
	size time.Duration
	name string
}

// pair is a unit with the one below it, if that is worth showing.
type pair struct {
	unit
	next unit
}

// unitOf is the largest unit that fits into d.
func unitOf(d time.Duration) pair {
	switch {
	case d >= day:
		return pair{unit{day, "d"}, unit{time.Hour, "h"}}
	case d >= time.Hour:
		return pair{unit{time.Hour, "h"}, unit{time.Minute, "m"}}
	case d >= time.Minute:
		return pair{unit{time.Minute, "m"}, unit{time.Second, "s"}}
	case d >= time.Second || d < time.Millisecond:
		return pair{unit: unit{time.Second, "s"}}
	default:
		return pair{unit: unit{time.Millisecond, "ms"}}
	}
}

// Count is n with the word that fits it: "1 comment", "3 comments".
func Count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}

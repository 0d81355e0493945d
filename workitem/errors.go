package workitem

import (
	"errors"
	"fmt"
	"time"
)

// ErrGone is returned when a tracker proves that an item no longer exists: it
// says so itself, or does not know the item while the place that would hold it
// is in sight (P8). An item that merely cannot be read is never gone.
var ErrGone = errors.New("the work item no longer exists")

// LimitKind is what a tracker limits.
type LimitKind string

// The kinds of limits (P7).
const (
	// LimitPrimary is a budget of requests that is used up.
	LimitPrimary LimitKind = "primary"
	// LimitSecondary is about how they are made: too fast, too many at once.
	LimitSecondary LimitKind = "secondary"
)

// RateLimitError is returned when a tracker asks to be left alone. Nothing may
// be asked of it before Until (P7).
type RateLimitError struct {
	// Host is the tracker that asked, as it stands in its base URL.
	Host string
	Kind LimitKind
	// Until is when it may be asked again, on our own clock.
	Until time.Time
}

// MovedError is returned when a place that items come from answers under another
// name: it was renamed or transferred. Its items are not read there, since every
// ref would be another.
type MovedError struct {
	// From is the name that is configured, To the one that it answers as: the
	// tracker's text, shortened.
	From, To string
}

// Error says what to write where.
func (e *MovedError) Error() string {
	return fmt.Sprintf("%s answers as %q: it was renamed or transferred; write the new name into the configuration", e.From, e.To)
}

// Error says who limits and until when.
func (e *RateLimitError) Error() string {
	return fmt.Sprintf("%s limits requests until %s; nothing is asked before",
		e.Host, e.Until.UTC().Format(time.RFC3339))
}

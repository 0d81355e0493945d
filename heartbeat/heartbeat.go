// Package heartbeat is poll-status.json: how the poller is doing, for `poll status` and for whoever watches from outside.
//
// # Nouns
//
// A beat is what stands in the file: when the poller started, what its last cycle did, and its health. The poller writes one
// before its first cycle and one after each (U3); the last one stays when it stops.
//
// # Guarantees
//
//   - A reader sees a whole beat, the old one or the new one, never a part (U3): it is written aside and renamed.
//   - A beat that cannot be written never ends a cycle (U4), leaves the one before as it was, and no other file behind.
//   - It names no pid (U2): who runs is for the lock alone to say, since this file outlives its writer.
//
// # What it does not guarantee
//
//   - That a poller runs, or ran after the last beat. Ask the lock, then judge the beat's age with Seen.
//   - Two writers: the poller that holds the run lock is the only one.
package heartbeat

import (
	"encoding/json"
	"fmt"
	"time"
)

// File is the name of the heartbeat below the state root.
const File = "poll-status.json"

// Beat is one heartbeat, in the file and, with the same keys, in the answer of `poll status` (U1).
type Beat struct {
	StartedAt       Time    `json:"startedAt"`
	LastCycleAt     Time    `json:"lastCycleAt"` // none before the first cycle has ended
	IntervalSeconds float64 `json:"intervalSeconds"`
	LastCycle       *Cycle  `json:"lastCycle"` // nil before the first cycle has ended
	Health          Health  `json:"health"`
	HealthDetail    string  `json:"healthDetail"` // which error, or until when
	Until           Time    `json:"until"`        // the end of a throttling
	Version         string  `json:"version"`
	EventLogDropped int64   `json:"eventLogDropped"` // lines that could not be written since the start
}

// Cycle is what one cycle did.
type Cycle struct {
	ItemsSeen         int  `json:"itemsSeen"`
	Spawns            int  `json:"spawns"`
	CommentsForwarded int  `json:"commentsForwarded"`
	Closures          int  `json:"closures"`
	Failures          int  `json:"failures"` // deliveries and spawns given up
	Errors            int  `json:"errors"`
	Interrupted       bool `json:"interrupted"` // cut short by a stop request
}

// Interval is the time between the starts of two cycles.
func (b Beat) Interval() time.Duration {
	return time.Duration(b.IntervalSeconds * float64(time.Second))
}

// Time is a time that may be none. In JSON it is RFC 3339 in UTC with milliseconds at most, and "" for none, so that every
// key is always there.
type Time struct{ time.Time }

// At is t as a Time.
func At(t time.Time) Time { return Time{t} }

// MarshalJSON implements json.Marshaler.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte(`""`), nil
	}
	return json.Marshal(t.UTC().Truncate(time.Millisecond))
}

// UnmarshalJSON implements json.Unmarshaler. null is none too.
func (t *Time) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("read a time: %w", err)
	}
	if s == "" {
		*t = Time{}
		return nil
	}
	parsed, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return fmt.Errorf("read a time: %w", err)
	}
	*t = Time{parsed.UTC()}
	return nil
}

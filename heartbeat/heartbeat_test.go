package heartbeat

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func sample() Beat {
	return Beat{
		StartedAt: At(noon), LastCycleAt: At(noon.Add(time.Minute)), IntervalSeconds: 60,
		LastCycle: &Cycle{ItemsSeen: 3, Spawns: 1, CommentsForwarded: 2},
		Health:    Working, Version: "1.2.3", EventLogDropped: 4,
	}
}

// U1, U2: the keys, all of them always, and no pid.
func TestTheKeysAreStable(t *testing.T) {
	for name, tt := range map[string]struct {
		beat Beat
		want string
	}{
		"none yet": {
			Beat{StartedAt: At(noon.In(time.FixedZone("", 7200))), IntervalSeconds: 0.5, Health: Working, Version: "dev"},
			`{"startedAt":"2026-05-01T12:00:00Z","lastCycleAt":"","intervalSeconds":0.5,"lastCycle":null,"health":"working","healthDetail":"","until":"","version":"dev","eventLogDropped":0}`,
		},
		"full": {
			Beat{StartedAt: At(noon.Add(1234567)), LastCycleAt: At(noon), IntervalSeconds: 60, LastCycle: &Cycle{1, 2, 3, 4, 5, 6, true},
				Health: Throttled, HealthDetail: "octo/repo", Until: At(noon), Version: "1", EventLogDropped: 9},
			`{"startedAt":"2026-05-01T12:00:00.001Z","lastCycleAt":"2026-05-01T12:00:00Z","intervalSeconds":60,` +
				`"lastCycle":{"itemsSeen":1,"spawns":2,"commentsForwarded":3,"closures":4,"failures":5,"errors":6,"interrupted":true},` +
				`"health":"throttled","healthDetail":"octo/repo","until":"2026-05-01T12:00:00Z","version":"1","eventLogDropped":9}`,
		},
	} {
		got, err := json.Marshal(tt.beat)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// U6: which health wins.
func TestGrade(t *testing.T) {
	later := noon.Add(time.Minute)
	for name, tt := range map[string]struct {
		last  *Cycle
		until time.Time
		want  Health
	}{
		"nothing to do":             {&Cycle{ItemsSeen: 500}, time.Time{}, Quiet},
		"spawned":                   {&Cycle{Spawns: 1}, time.Time{}, Working},
		"forwarded":                 {&Cycle{CommentsForwarded: 1}, time.Time{}, Working},
		"closed":                    {&Cycle{Closures: 1}, time.Time{}, Working},
		"gave up":                   {&Cycle{Failures: 1}, time.Time{}, Working},
		"first cycle":               {nil, time.Time{}, Working},
		"throttled while working":   {&Cycle{Spawns: 1}, later, Throttled},
		"throttled at first":        {nil, later, Throttled},
		"throttling is over":        {&Cycle{}, noon, Quiet},
		"errors":                    {&Cycle{Errors: 1}, time.Time{}, Failing},
		"errors while it throttles": {&Cycle{Errors: 1, Spawns: 1}, later, Failing},
	} {
		if got := Grade(tt.last, tt.until, noon); got != tt.want {
			t.Errorf("%s: got %s, want %s", name, got, tt.want)
		}
	}
}

// U6: what only the reader can tell.
func TestSeen(t *testing.T) {
	cycled := Beat{StartedAt: At(noon.Add(-time.Hour)), LastCycleAt: At(noon), IntervalSeconds: 60, Health: Quiet, HealthDetail: "as written"}
	starting := Beat{StartedAt: At(noon), IntervalSeconds: 60, Health: Working, HealthDetail: "as written"}
	unsure := cycled
	unsure.IntervalSeconds = 0
	for name, tt := range map[string]struct {
		beat     Beat
		age      time.Duration
		held     bool
		interval time.Duration
		want     Health
		detail   string
	}{
		"fresh":                    {cycled, time.Minute, true, 0, Quiet, "as written"},
		"three intervals":          {cycled, 3 * time.Minute, true, 0, Quiet, "as written"},
		"more":                     {cycled, 3*time.Minute + time.Second, true, 0, Stalled, "the last cycle ended 3m1s ago, and the interval is 1m0s"},
		"more, nobody runs":        {cycled, time.Hour, false, 0, Quiet, "as written"},
		"its interval goes first":  {cycled, time.Hour, true, 24 * time.Hour, Stalled, "the last cycle ended 1h0m0s ago, and the interval is 1m0s"},
		"the configured interval":  {unsure, time.Hour, true, time.Minute, Stalled, "the last cycle ended 1h0m0s ago, and the interval is 1m0s"},
		"no interval":              {unsure, time.Hour, true, 0, Quiet, "as written"},
		"first cycle":              {starting, time.Minute, true, 0, Working, "as written"},
		"first cycle hangs":        {starting, time.Hour, true, 0, Stalled, "the first cycle has not ended; the poller started 1h0m0s ago, and the interval is 1m0s"},
		"no beat":                  {Beat{}, time.Hour, true, time.Minute, "", ""},
		"a clock a little behind":  {cycled, -time.Second, true, 0, Quiet, "as written"},
		"a clock that was moved":   {cycled, -time.Hour, true, 0, Quiet, "the clock was moved: by it the last cycle ended 1h0m0s from now"},
		"moved, and nobody runs":   {cycled, -time.Hour, false, 0, Quiet, "as written"},
		"moved before a cycle did": {starting, -time.Hour, true, 0, Working, "the clock was moved: by it the first cycle has not ended; the poller started 1h0m0s from now"},
	} {
		if got, detail := tt.beat.Seen(noon.Add(tt.age), tt.held, tt.interval); got != tt.want || detail != tt.detail {
			t.Errorf("%s: got %s, %q, want %s, %q", name, got, detail, tt.want, tt.detail)
		}
	}
}

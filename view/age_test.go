package view_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"theloop/view"
)

func TestAge(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	tests := []struct {
		ago  time.Duration
		want string
	}{
		{0, "just now"},
		{1999 * time.Millisecond, "just now"},
		{-1999 * time.Millisecond, "just now"},
		{2 * time.Second, "2s ago"},
		{-3 * time.Second, "in 3s"},
		{59 * time.Second, "59s ago"},
		{2*time.Minute + 59*time.Second, "2m ago"},
		{119 * time.Minute, "1h ago"},
		{-25 * time.Hour, "in 1d"},
		{400 * 24 * time.Hour, "400d ago"},
	}
	for _, tt := range tests {
		if got := view.Age(now, now.Add(-tt.ago)); got != tt.want {
			t.Errorf("%v ago: got %q, want %q", tt.ago, got, tt.want)
		}
	}
	if got := view.Age(now, time.Time{}); got != "never" {
		t.Errorf("zero time: %q", got)
	}
	if got := view.Age(now.AddDate(-2000, 0, 0), now); !strings.HasPrefix(got, "in 1") {
		t.Errorf("beyond the range of a duration: %q", got)
	}
}

func TestDuration(t *testing.T) {
	tests := map[time.Duration]string{
		0:                               "0s",
		900 * time.Microsecond:          "0s",
		250 * time.Millisecond:          "250ms",
		3*time.Second + 999999:          "3s",
		90 * time.Second:                "1m 30s",
		time.Hour:                       "1h",
		time.Hour + 30*time.Second:      "1h",
		26*time.Hour + 59*time.Minute:   "1d 2h",
		-2 * time.Minute:                "-2m",
		time.Duration(math.MinInt64):    "-106751d 23h",
		time.Duration(math.MaxInt64):    "106751d 23h",
		2*time.Hour + 5*time.Minute + 1: "2h 5m",
	}
	for d, want := range tests {
		if got := view.Duration(d); got != want {
			t.Errorf("%d ns: got %q, want %q", int64(d), got, want)
		}
	}
}

func TestAgeReadsAsOneWord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "now"), 0)
		at := time.Unix(rapid.Int64Range(-1<<40, 1<<40).Draw(t, "at"), 0)
		got := view.Age(now, at)
		if strings.Contains(got, "-") || got == "" {
			t.Fatalf("Age(%v, %v) = %q", now, at, got)
		}
	})
}

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 retries", 1: "1 retry", 3: "3 retries"} {
		if got := view.Count(n, "retry", "retries"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

package daemon

import (
	"fmt"
	"strings"

	"theloop/heartbeat"
	"theloop/poller"
	"theloop/view"
)

// tell writes the heartbeat, before the first cycle without one and after each
// (U3), and the line about a cycle that was not quiet.
func (s *service) tell(r *poller.Report) {
	beat := heartbeat.Beat{
		StartedAt: heartbeat.At(s.started), IntervalSeconds: s.interval().Seconds(), Version: s.o.Version,
		EventLogDropped: s.events.Dropped(),
	}
	if r != nil {
		beat.LastCycleAt = heartbeat.At(r.At.Add(r.Duration))
		beat.LastCycle = &heartbeat.Cycle{
			ItemsSeen: r.ItemsSeen, Spawns: r.Spawns, CommentsForwarded: r.CommentsForwarded, Closures: r.Closures,
			Failures: r.Failures, Errors: len(r.Errors), Interrupted: r.Interrupted,
		}
		beat.Until = heartbeat.At(r.Until)
		beat.HealthDetail = strings.Join(r.Errors, "; ")
		s.line(*r)
	}
	beat.Health = heartbeat.Grade(beat.LastCycle, beat.Until.Time, s.o.Now())
	s.beat.Write(beat)
}

// line prints what a cycle did; a quiet one says nothing unless it was asked
// for.
func (s *service) line(r poller.Report) {
	quiet := r.Spawns+r.CommentsForwarded+r.Closures+r.Failures+len(r.Errors) == 0 && !r.Interrupted
	if !quiet || s.o.Once {
		fmt.Fprintln(s.o.Out, summary(r))
	}
	if !s.o.Once {
		for _, e := range r.Errors {
			s.o.Log.Error(view.Line(e))
		}
	}
}

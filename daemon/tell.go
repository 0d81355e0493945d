package daemon

import (
	"fmt"
	"slices"
	"strings"

	"theloop/escape"
	"theloop/heartbeat"
	"theloop/poller"
)

// tellStart and tellEnd are the first and the last event of a poller that runs.
func (s *service) tellStart() {
	fields := map[string]any{
		"interval_seconds": int(s.interval().Seconds()), "sources": s.trackers.Load().ids(), "once": s.o.Once,
	}
	if s.o.Detached {
		fields["daemon"], fields["logfile"] = true, s.logfile()
	}
	s.emit("poll")("poller.started", fields)
}

func (s *service) tellEnd() error {
	if s.ended != "" {
		s.emit("poll")("poller.stopped", map[string]any{"reason": s.ended})
	}
	if s.ended == stopRequest && !s.o.Once {
		s.o.Log.Info(fmt.Sprintf("poller stopped (pid %d); agents keep running", s.pid))
	}
	return nil
}

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
		beat.HealthDetail = strings.Join(problems(*r), "; ")
		s.line(*r)
	}
	beat.Health = heartbeat.Grade(beat.LastCycle, beat.Until.Time, s.o.Now())
	s.beat.Write(beat)
}

// problems are the errors of a cycle, and behind them what it left alone.
func problems(r poller.Report) []string { return slices.Concat(r.Errors, r.Waiting) }

// line prints what a cycle did; a quiet one says nothing unless it was asked
// for.
func (s *service) line(r poller.Report) {
	quiet := r.Spawns+r.CommentsForwarded+r.Closures+r.Failures+len(r.Errors) == 0 && !r.Interrupted
	switch {
	case quiet && !s.o.Once:
	case s.o.Detached: // into the logfile, among lines with a time
		s.o.Log.Info(summary(r))
	default:
		fmt.Fprintln(s.o.Out, summary(r))
	}
	if !s.o.Once {
		for _, e := range r.Errors {
			s.o.Log.Error(escape.Line(e))
		}
	}
}

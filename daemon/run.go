package daemon

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"theloop/config"
	"theloop/poller"
	"theloop/view"
)

// Run starts a poller and runs it until ctx ends, or for one cycle with Once.
// clean is false when a --once had errors or a dispatch of it failed (C7). The
// error says why it was not started, or what ended it.
func Run(ctx context.Context, o Options) (clean bool, err error) {
	restore := harden()
	cfg, warnings, err := config.Load(o.Config)
	if err != nil {
		return false, err
	}
	if err := cfg.RequireSources(); err != nil {
		return false, err
	}
	s, err := start(ctx, o, cfg)
	restore()
	if err != nil {
		return false, err
	}
	s.warn(warnings)
	s.emit("poll")("poller.started", map[string]any{
		"interval_seconds": int(s.interval().Seconds()), "sources": s.trackers.ids(), "once": o.Once,
	})
	s.tell(nil)
	s.ready()
	clean, err = s.loop(ctx)
	s.emit("poll")("poller.stopped", map[string]any{"reason": reason(ctx, o, err)})
	return clean && err == nil, errors.Join(err, s.close())
}

func reason(ctx context.Context, o Options, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case ctx.Err() != nil:
		return "a stop request"
	case o.Once:
		return "once"
	}
	return ""
}

// warn tells what is odd about the configuration, once.
func (s *service) warn(warnings []config.Problem) {
	for _, w := range warnings {
		s.o.Log.Warn(w.String())
	}
	if s.current().poller.Policy.Empty() {
		s.o.Log.Warn("routing.authorizedUsers is empty: nobody's words are obeyed; add the logins that may give input")
	}
}

func (s *service) ready() {
	if !s.o.Once {
		s.o.Log.Info(fmt.Sprintf("poller started (pid %d): watching %s every %s; stop it with Ctrl-C or 'the-loop poll stop'",
			os.Getpid(), view.Count(len(s.trackers.sources), "source", "sources"), view.Duration(s.interval())))
	}
}

func (s *service) interval() time.Duration {
	if s.o.Interval > 0 {
		return s.o.Interval
	}
	return s.cfg.Polling.Interval
}

// loop runs cycles from start to start, with a little jitter so that pollers
// that were started together do not stay so.
func (s *service) loop(ctx context.Context) (clean bool, err error) {
	for {
		begin := s.o.Now()
		if err := s.stillOurs(); err != nil {
			return false, err
		}
		s.reload(ctx)
		report := s.poller.Cycle(ctx)
		if s.o.Once {
			return s.finish(ctx, report), nil
		}
		s.tell(&report)
		next := begin.Add(jitter(s.interval()))
		if report.Until.After(next) {
			next = report.Until
		}
		if !sleep(ctx, next.Sub(s.o.Now())) {
			return true, nil
		}
	}
}

// finish works the queues of a --once empty, so that a cron job leaves nothing
// lying (C7). A stop request cuts it.
func (s *service) finish(ctx context.Context, report poller.Report) bool {
	_ = s.queue.Wait(ctx)
	s.tell(&report)
	for _, e := range report.Errors {
		s.o.Log.Error(e)
	}
	return len(report.Errors) == 0 && s.queue.Failed() == 0 && ctx.Err() == nil
}

// stillOurs ends the process when the pidfile or the ledger was removed or
// replaced: two pollers, or two histories, are worse than none.
func (s *service) stillOurs() error {
	if err := s.lock.Check(); err != nil {
		return err
	}
	replaced, err := s.ledger.Replaced()
	if err != nil {
		return err
	}
	if replaced {
		return fmt.Errorf("the ledger %s was removed or replaced while the poller ran: stopped, since two histories are worse than none; "+
			"put the file back, or start again on what is there", s.ledger.Path())
	}
	return nil
}

func jitter(d time.Duration) time.Duration {
	const share = 10 // ±10 %
	return d + time.Duration((rand.Float64()*2-1)*float64(d)/share)
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(0, d))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// summary is the line about a cycle; only what is not zero is named.
func summary(r poller.Report) string {
	var parts []string
	add := func(n int, one, many string) {
		if n > 0 {
			parts = append(parts, view.Count(n, one, many))
		}
	}
	parts = append(parts, view.Count(r.ItemsSeen, "item seen", "items seen"))
	add(r.Spawns, "session spawned", "sessions spawned")
	add(r.CommentsForwarded, "comment forwarded", "comments forwarded")
	add(r.Closures, "item ended", "items ended")
	add(r.Failures, "given up", "given up")
	add(len(r.Errors), "error", "errors")
	line := "cycle: " + strings.Join(parts, ", ")
	if r.Interrupted {
		line += " (interrupted by a stop request)"
	}
	return line
}

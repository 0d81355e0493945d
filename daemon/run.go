package daemon

import (
	"context"
	"errors"
	"fmt"
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
	o = o.withDefaults()
	restore := harden()
	defer restore()
	cfg, warnings, err := load(o.Config)
	if err != nil {
		return false, err
	}
	s, err := start(ctx, o, cfg)
	restore()
	if err != nil && ctx.Err() != nil {
		return false, fmt.Errorf("told to stop while it was starting: %w", err)
	}
	if err != nil {
		return false, err
	}
	s.warn(warnings)
	s.tellStart()
	s.tell(nil)
	s.announceOwed(ctx)
	s.ready()
	clean, err = s.loop(ctx)
	s.supervisor.stopping()
	s.ended = reason(ctx, o, err)
	return clean && err == nil, errors.Join(err, s.close())
}

// stopRequest is the reason of an end that somebody asked for.
const stopRequest = "a stop request"

// load reads a configuration that a poller can run on.
func load(path string) (config.Config, []config.Problem, error) {
	cfg, warnings, err := config.Load(path)
	if err == nil {
		err = cfg.RequireSources()
	}
	return cfg, warnings, err
}

func reason(ctx context.Context, o Options, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case ctx.Err() != nil:
		return stopRequest
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
	for _, odd := range oddities(s.cfg, s.o) {
		s.o.Log.Warn(odd)
	}
}

// ready tells whoever waits for it that the poller runs.
func (s *service) ready() {
	if s.o.Ready != nil {
		s.o.Ready()
	}
	s.supervisor.ready()
	if s.o.Once {
		return
	}
	how := "stop it with Ctrl-C or 'the-loop poll stop'"
	if s.o.Detached {
		how = "stop it with 'the-loop poll stop'"
	}
	s.o.Log.Info(fmt.Sprintf("poller started (pid %d): watching %s every %s; %s",
		os.Getpid(), view.Count(len(s.trackers.Load().sources), "source", "sources"), view.Duration(s.interval()), how))
}

func (s *service) interval() time.Duration {
	if s.o.Interval > 0 {
		return s.o.Interval
	}
	return s.cfg.Polling.Interval
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
	add(len(r.Waiting), "source left alone", "sources left alone")
	line := "cycle: " + strings.Join(parts, ", ")
	if r.Interrupted {
		line += " (interrupted by a stop request)"
	}
	return line
}

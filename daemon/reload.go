package daemon

import (
	"context"
	"strings"

	"theloop/config"
)

// reload takes an edited configuration into use before a cycle (R1). A broken
// edit keeps all of the last good one and is said once. One that is broken only
// because of what it needs (a token, a folder) is tried again before each cycle.
func (s *service) reload(ctx context.Context) {
	before := *s.reloader
	update, err := s.reloader.Reload()
	if err != nil { // once per content
		s.reject(err)
		return
	}
	if !update.Changed {
		s.rejected = ""
		return
	}
	next, err := s.prepare(ctx, update.Config)
	if err != nil {
		*s.reloader = before // it is not in force
		if s.rejected != err.Error() {
			s.reject(err)
		}
		return
	}
	s.adopt(next, update)
}

func (s *service) reject(err error) {
	s.rejected = err.Error()
	s.o.Log.Error("the edited configuration is not used: " + err.Error())
	s.emit("poll")("config.rejected", map[string]any{"error": err.Error()})
}

// edition is a configuration with what is made from it.
type edition struct {
	settings *settings
	trackers *trackers
}

// prepare makes everything that a configuration needs, or nothing.
func (s *service) prepare(ctx context.Context, cfg config.Config) (edition, error) {
	now, err := settingsOf(s.o, cfg)
	if err != nil {
		return edition{}, err
	}
	t, err := openTrackers(ctx, s.o, cfg)
	return edition{now, t}, err
}

func (s *service) adopt(next edition, update config.Update) {
	s.trackers.Load().close()
	s.cfg, s.rejected = update.Config, ""
	s.poller.Sources = next.trackers.sources
	s.watch(next.trackers)
	s.settings.Store(next.settings)
	s.warn(update.Warnings)
	detail := "in use"
	if len(update.NeedsRestart) > 0 {
		detail += "; after a restart: " + strings.Join(update.NeedsRestart, ", ")
	}
	s.o.Log.Info("the edited configuration is " + detail)
	s.emit("poll")("config.reloaded", map[string]any{"detail": detail})
}

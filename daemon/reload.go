package daemon

import (
	"context"
	"strings"
)

// reload takes an edited configuration into use before a cycle (R1). A broken
// edit keeps all of the last good one and is said once.
func (s *service) reload(ctx context.Context) {
	update, err := s.reloader.Reload()
	if err != nil {
		s.o.Log.Error("the edited configuration is not used: " + err.Error())
		s.emit("poll")("config.rejected", map[string]any{"error": err.Error()})
		return
	}
	if !update.Changed {
		return
	}
	now, err := settingsOf(s.o, update.Config)
	if err == nil {
		err = update.Config.RequireSources()
	}
	var t *trackers
	if err == nil {
		t, err = openTrackers(ctx, s.o, update.Config)
	}
	if err != nil {
		s.o.Log.Error("the edited configuration is not used: " + err.Error())
		s.emit("poll")("config.rejected", map[string]any{"error": err.Error()})
		return
	}
	s.trackers.close()
	s.trackers, s.cfg = t, update.Config
	s.poller.Sources = t.sources
	s.settings.Store(now)
	s.warn(update.Warnings)
	detail := "in use"
	if len(update.NeedsRestart) > 0 {
		detail += "; after a restart: " + strings.Join(update.NeedsRestart, ", ")
	}
	s.o.Log.Info("the edited configuration is " + detail)
	s.emit("poll")("config.reloaded", map[string]any{"detail": detail})
}

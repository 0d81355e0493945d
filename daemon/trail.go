package daemon

import (
	"path/filepath"

	"theloop/config"
	"theloop/eventlog"
)

// openEvents opens the decision trail; nothing is written yet.
func (s *service) openEvents() {
	path, root := s.cfg.EventLog.Path, ""
	if resolved, err := config.Resolve(path, s.o.Env, s.o.Cwd, s.o.Home); err == nil {
		path = resolved
	}
	if below, err := filepath.Rel(s.root, path); err == nil && filepath.IsLocal(below) {
		root = s.root
	}
	s.events = eventlog.Open(eventlog.Options{
		Path: path, Root: root, Source: "poll", Version: s.o.Version, Now: s.o.Now, Enabled: s.cfg.EventLog.Enabled, Logger: s.o.Log,
		Rotation: s.rotation,
	})
	s.onClose(s.events.Close)
}

// rotation is what the event log may be rotated by: only who has the run lock may
// do that.
func (s *service) rotation() (maxBytes int64, keep int) {
	if !s.locked.Load() {
		return 0, 0
	}
	now := s.current()
	return now.logBytes, now.logKeep
}

package config

import (
	"fmt"
	"os"
	"slices"
)

// Changed names the keys that differ between two configurations and take
// effect with the next start only.
func Changed(old, new Config) []string {
	var names []string
	for _, row := range configRows() {
		if row.NeedsRestart && !row.same(&old, &new) && !followsRoot(row.Path, old, new) {
			names = append(names, row.Path)
		}
	}
	return names
}

// followsRoot is true of an event log that differs because the root does,
// which is named itself.
func followsRoot(path string, old, new Config) bool {
	return path == eventLogPath &&
		old.EventLog.Path == defaultEventLog(old.State.Root) && new.EventLog.Path == defaultEventLog(new.State.Root)
}

// Reloader holds the last good configuration beside a file that people edit
// (R1). It starts no goroutine; one goroutine at a time may call it.
type Reloader struct {
	running Config // what is in force
	file    Config // the last good content
	seen    string // digest of the last content, good or not; or the last error
	read    func(path string) ([]byte, error)
}

// Update is what Reload found.
type Update struct {
	Config       Config    // what is in force now: always usable
	Changed      bool      // it is another one than before
	NeedsRestart []string  // keys whose new value waits for the next start
	Warnings     []Problem // of the new content
}

// NewReloader watches the file that start was loaded from.
func NewReloader(start Config) *Reloader {
	return &Reloader{running: start, file: start, seen: start.Digest, read: read}
}

// Reload reads the file and says what changed, by content. A file that cannot
// be read or used leaves everything as it was; the error says why, once per
// content. Keys that need a restart keep the value of the start, and are named
// once per edit of theirs. A file that is being written while it is read
// waits for the next call.
func (r *Reloader) Reload() (Update, error) {
	same := Update{Config: r.running}
	data, err := r.readSettled(r.running.File)
	if err != nil {
		return same, r.once(err.Error(), err)
	}
	if data == nil || r.seen == digest(data) {
		return same, nil
	}
	next, warnings, err := Parse(r.running.File, data)
	if err == nil {
		err = next.RequireSources()
	}
	if err != nil {
		return same, r.once(digest(data), err)
	}
	r.seen = next.Digest
	return r.take(next, warnings), nil
}

// once returns err unless it was returned for the same content last time.
func (r *Reloader) once(content string, err error) error {
	if r.seen == content {
		return nil
	}
	r.seen = content
	return err
}

func (r *Reloader) take(next Config, warnings []Problem) Update {
	edited := Changed(r.file, next)
	// A broken edit that was taken back is no change.
	changed := next.Digest != r.file.Digest
	r.file = next
	u := Update{Changed: changed}
	if changed {
		u.Warnings = warnings
	}
	for _, name := range Changed(r.running, next) {
		if slices.Contains(edited, name) {
			u.NeedsRestart = append(u.NeedsRestart, name)
		}
	}
	for _, row := range configRows() {
		if row.NeedsRestart {
			row.keep(&next, &r.running)
		}
	}
	r.running, u.Config = next, next
	return u
}

// readSettled is read, but nil when the file changed meanwhile: half of an
// edit can be a valid file that obeys nobody.
func (r *Reloader) readSettled(path string) ([]byte, error) {
	before, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	data, err := r.read(path)
	if err != nil {
		return nil, err
	}
	after, err := os.Stat(path)
	settled := err == nil && after.ModTime().Equal(before.ModTime()) && after.Size() == before.Size() &&
		int64(len(data)) == min(after.Size(), maxBytes+1)
	if !settled {
		return nil, nil
	}
	return data, nil
}

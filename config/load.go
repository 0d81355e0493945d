package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/goccy/go-yaml/ast"
)

// Load reads the file at path. The warnings are for the log; the error is an
// *InvalidError when the content cannot be used, else what kept the file from
// being read.
func Load(path string) (Config, []Problem, error) {
	data, err := read(path)
	if err != nil {
		return Config{}, nil, err
	}
	return Parse(path, data)
}

// Parse is Load of content that is already at hand; name stands in messages.
func Parse(name string, data []byte) (Config, []Problem, error) {
	c, r := parse(name, data)
	problems, warnings := r.split()
	warnings = capped(foldUnused(warnings))
	if len(problems) > 0 {
		return Config{}, warnings, &InvalidError{Problems: capped(problems)}
	}
	return c, warnings, nil
}

// Check reads the file at path as `config check` does: every problem in the
// order of the file, keys that nobody knows and what the poller does not start
// without as errors. The error says why the file could not be read at all.
func Check(path string) ([]Problem, error) {
	data, err := read(path)
	if err != nil {
		return nil, err
	}
	_, r := parse(path, data)
	for i := range r.problems {
		if kind := r.problems[i].Kind; kind == Unknown || kind == Missing {
			r.problems[i].Level = LevelError
		}
	}
	sortProblems(r.problems)
	return capped(r.problems), nil
}

func parse(name string, data []byte) (Config, *reader) {
	r, s := newReader(name), configSchema()
	c := s.defaults()
	root := r.parse(data)
	unread := root == nil && len(r.problems) > 0
	switch root := root.(type) {
	case nil, *ast.NullNode:
	case *ast.MappingNode:
		r.structure(root, "", 1)
		c = walk(r, s, "", root)
	default:
		r.invalid("", root, "a mapping of keys such as polling: and routing:")
		unread = true
	}
	c.File, c.Digest = name, digest(data)
	c.Polling.SourcesLine = r.at[sourcesPath].line
	finish(r, &c)
	if !unread { // what is missing from a file that nobody could read is not known
		advise(r, c)
	}
	return c, r
}

// finish is what follows from several keys together.
func finish(r *reader, c *Config) {
	if c.EventLog.Path == "" {
		c.EventLog.Path = defaultEventLog(c.State.Root)
	}
	if !c.Routing.Control.Enabled {
		c.Routing.Control.RequireStartCommand = false
	}
	finishSources(r, c)
	finishHarnesses(r, c)
	finishKeywords(r, c.Routing.Control)
}

func defaultEventLog(root string) string {
	return filepath.Join(root, "logs", "events.jsonl")
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// read returns at most one byte more than a file may have: enough to refuse it.
// Anything but a regular file is refused before it is opened, since opening a
// pipe waits for somebody to write.
func read(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("read the configuration %s: %w", path, errNotFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the configuration: %w", err)
	}
	return data, nil
}

var errNotFile = errors.New("it is not a file; name a regular file")

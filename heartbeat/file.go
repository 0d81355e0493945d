package heartbeat

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
)

const (
	// readLimit is far more than a beat needs, and keeps a wrong file from being read into memory.
	readLimit = 1 << 20
	// asidePattern names the file that is written before it is renamed; * is random.
	asidePattern = "." + File + ".*.tmp"
)

// Write puts the beat into the file at path, in one step for every reader: a file beside it, private (0600), synced, renamed
// (U3). When it fails, path is as it was and nothing is left beside it.
func Write(path string, b Beat) error {
	text, err := json.Marshal(b)
	if err != nil {
		return fmt.Errorf("write the heartbeat %s: %w", path, err)
	}
	aside, err := writeAside(filepath.Dir(path), append(text, '\n'))
	if err != nil {
		return fmt.Errorf("write the heartbeat %s: %w", path, err)
	}
	if err := os.Rename(aside, path); err != nil {
		return fmt.Errorf("write the heartbeat %s: %w", path, errors.Join(err, os.Remove(aside)))
	}
	return nil
}

func writeAside(dir string, text []byte) (path string, err error) {
	f, err := os.CreateTemp(dir, asidePattern) // 0600, and never an existing file
	if err != nil {
		return "", err
	}
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync() // else a power cut can leave an empty file under the name
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name()))
	}
	return f.Name(), nil
}

// Read returns the beat at path. ok is false when there is none, or none that can be read, which is the same (U4). Keys that
// are none of a beat's, such as the pid in older files, are dropped unread (U2).
func Read(path string) (b Beat, ok bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return Beat{}, false // a pipe would make the open wait
	}
	f, err := os.Open(path)
	if err != nil {
		return Beat{}, false
	}
	defer f.Close() // read only
	text, err := io.ReadAll(io.LimitReader(f, readLimit))
	if err != nil || json.Unmarshal(text, &b) != nil {
		return Beat{}, false
	}
	if b.StartedAt.IsZero() && b.LastCycleAt.IsZero() {
		return Beat{}, false // JSON, and nothing of a beat in it
	}
	return b, true
}

// Writer writes the beats of one poller, which never has to care whether that works.
type Writer struct {
	path string
	log  *slog.Logger

	mu     sync.Mutex
	swept  bool
	warned bool
}

// NewWriter writes to path and warns through log.
func NewWriter(path string, log *slog.Logger) *Writer {
	return &Writer{path: path, log: log}
}

// Write puts b into the file. The first failure is a warning, the others are said at debug level (U4). The first call also
// removes what a killed writer left beside the file; the caller therefore has to hold the run lock.
func (w *Writer) Write(b Beat) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.swept {
		w.swept = true
		w.sweep()
	}
	err := Write(w.path, b)
	switch {
	case err == nil:
	case w.warned:
		w.log.Debug("the heartbeat was not written", "path", w.path, "error", err)
	default:
		w.warned = true
		w.log.Warn("the heartbeat cannot be written; polling goes on, and 'poll status' shows the last one that was", "path", w.path, "error", err)
	}
}

func (w *Writer) sweep() {
	dir := filepath.Dir(w.path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // the write that follows says why
	}
	for _, e := range entries {
		if ours, err := filepath.Match(asidePattern, e.Name()); err != nil || !ours {
			continue
		}
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil {
			w.log.Debug("a heartbeat that was never finished is left over", "path", filepath.Join(dir, e.Name()), "error", err)
		}
	}
}

package eventlog

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

var errClosed = errors.New("the event log is closed")

// Options say where a [Log] writes and as whom.
type Options struct {
	// Path of the file. It and its folder are made by the first event.
	Path string
	// Root is a folder above Path that the log belongs to. When it is moved away
	// the file goes with it and is written to where it is; nothing is made, or
	// written, at a Root that is gone or is another one by then. Empty is none.
	Root string
	// Source names the part of the program that writes, for events that do not
	// name their own.
	Source string
	// Version of the program; left out of the lines when empty.
	Version string
	// PID that is written; 0 means this process.
	PID int
	// Now is the clock; nil means the system's.
	Now func() time.Time
	// Rotation says before each event how large the file may become, in bytes, and
	// how many older ones are kept. One process at a time may rotate a file: who
	// may not, now or ever, answers 0. Nil is never.
	Rotation func() (maxBytes int64, keep int)
	// Enabled is false for a log that writes, makes and counts nothing.
	Enabled bool
	// Logger gets the few warnings; nil means the default one.
	Logger *slog.Logger
}

// Log appends events to one file. It may be used by several goroutines, and
// the file by several processes. A nil Log is one that is not enabled.
type Log struct {
	path, root      string
	source, version string
	pid             int
	now             func() time.Time
	enabled         bool
	logger          *slog.Logger
	write           func(*os.File, []byte) (int, error)
	rotation        func() (int64, int)
	dropped         atomic.Int64

	mu     sync.Mutex
	file   *os.File
	id     os.FileInfo // of file, to see whether path still leads to it
	home   os.FileInfo // of root, once the first event was written
	size   int64       // of file, when it was last looked at
	torn   bool        // the last write did not end as it should
	closed bool
	warned map[string]bool
}

// Open prepares a log. It touches nothing: what is wrong with the path shows,
// and is warned of once, when the first event is written (R2).
func Open(o Options) *Log {
	l := &Log{
		path: o.Path, root: o.Root, source: o.Source, version: o.Version, pid: o.PID,
		now: o.Now, enabled: o.Enabled, logger: o.Logger, rotation: o.Rotation,
		write: writeOnce, warned: map[string]bool{},
	}
	if l.pid == 0 {
		l.pid = os.Getpid()
	}
	if l.now == nil {
		l.now = time.Now
	}
	if l.logger == nil {
		l.logger = slog.Default()
	}
	return l
}

// Append writes one event (R2). It reports nothing: an event that cannot be
// written is counted in [Log.Dropped], and the first one is warned of.
func (l *Log) Append(e Event) {
	if l == nil || !l.enabled {
		return
	}
	line := l.line(e)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.put(line); err != nil {
		l.dropped.Add(1)
		l.warn("write", "an event was not written; further ones are only counted", "error", err)
	}
}

// Dropped is the number of events that could not be written, for the
// heartbeat. It never falls.
func (l *Log) Dropped() int64 {
	if l == nil {
		return 0
	}
	return l.dropped.Load()
}

// Close brings what was written to the disk. Later events are dropped.
func (l *Log) Close() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	if l.file == nil {
		return nil
	}
	err := errors.Join(l.file.Sync(), l.file.Close())
	l.file = nil
	if err != nil {
		return fmt.Errorf("close the event log: %w", err)
	}
	return nil
}

// put writes line as one write(2), behind a newline when the file needs one.
func (l *Log) put(line []byte) error {
	if l.closed {
		return errClosed
	}
	if err := l.ensure(); err != nil {
		return err
	}
	if err := l.rotate(len(line)); err != nil {
		return err
	}
	if l.torn || !l.endsInNewline() {
		line = append([]byte{'\n'}, line...)
	}
	n, err := l.write(l.file, line)
	if err == nil && n < len(line) {
		err = fmt.Errorf("only %d of %d bytes were written", n, len(line))
	}
	l.torn = err != nil
	if err != nil {
		return fmt.Errorf("append to %s: %w", l.path, err)
	}
	l.size += int64(n)
	return nil
}

// warn says something once in the life of the log.
func (l *Log) warn(what, msg string, args ...any) {
	if !l.warned[what] {
		l.warned[what] = true
		l.logger.Warn(msg, append(args, "path", l.path)...)
	}
}

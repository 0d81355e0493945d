package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"
)

// maxFile bounds a file that is read, in bytes: a hundred thousand comments are
// a few megabytes.
const maxFile = 64 << 20

var (
	errNoFile = errors.New("it is not a file")
	errLarge  = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
	// errLate says that a file is larger than what may be held ahead of its turn.
	errLate = errors.New("it is read at its turn")
)

// readFile reads a regular file of a bounded size, and says when it was written.
// Opening a pipe would wait for somebody to write, and a device can be anything:
// neither is opened, and what took the file's place meanwhile is not waited for. Of
// a file no more is read than it says that it holds: some of the kernel's, which
// hold nothing, never come to an end.
func readFile(path string, most int64) (data []byte, modified time.Time, err error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case !info.Mode().IsRegular():
		return nil, time.Time{}, errNoFile
	case info.Size() > maxFile:
		return nil, time.Time{}, errLarge
	case info.Size() > most:
		return nil, time.Time{}, errLate
	}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, time.Time{}, err
	}
	if !info.Mode().IsRegular() {
		return nil, time.Time{}, errNoFile
	}
	data = make([]byte, min(info.Size(), maxFile))
	n, err := io.ReadFull(f, data)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // it has shrunk since
	}
	return data[:n:n], info.ModTime(), err
}

// plainError is an error without the path that stands beside it.
func plainError(err error) string {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err.Error()
	}
	return err.Error()
}

// parse reads a document; line says where it stops making sense.
func parse(data []byte) (doc object, line int, err error) {
	if json.Valid(data) {
		if doc, ok := members(data); ok {
			return doc, 0, nil
		}
	}
	err = json.Unmarshal(data, &doc)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, newLines(data).at(max(0, syntax.Offset-1)), fmt.Errorf("it is not JSON: %w", err)
	case err != nil || doc == nil:
		return nil, 1, fmt.Errorf("it is %s, not an object", kindOf(data))
	}
	return doc, 0, nil
}

package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
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

// readFile reads a regular file of a bounded size, and says when it was written. What
// is no file is never opened, unless it was one when it was found: a pipe would wait
// for somebody to write, and a device might do anything.
func readFile(path string, wasFile bool, most int64) (data []byte, modified time.Time, err error) {
	if !wasFile {
		if info, err := os.Stat(path); err != nil {
			return nil, time.Time{}, err
		} else if !info.Mode().IsRegular() {
			return nil, time.Time{}, errNoFile
		}
	}
	f, err := os.OpenFile(path, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, time.Time{}, err
	case !info.Mode().IsRegular():
		return nil, time.Time{}, errNoFile
	case info.Size() > maxFile:
		return nil, time.Time{}, errLarge
	case info.Size() > most:
		return nil, time.Time{}, errLate
	case info.Size() == 0: // some of the kernel's, which say that they hold nothing, never come to an end
		return nil, info.ModTime(), nil
	}
	data, err = readAll(f, int(info.Size()))
	return data, info.ModTime(), err
}

// readAll reads a file of so many bytes, or of more when it has grown since. Only at
// the end of a file a read of it gives less than was asked for: asking for one byte
// too many saves asking again.
func readAll(r io.Reader, size int) ([]byte, error) {
	data, n := make([]byte, size+1), 0
	for n < max(size, 1) {
		read, err := r.Read(data[n:])
		n += read
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if n <= size {
		return data[:n:n], nil
	}
	rest, err := io.ReadAll(io.LimitReader(r, maxFile))
	if data = append(data, rest...); err == nil && len(data) > maxFile {
		err = errLarge
	}
	return data, err
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

package migrate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// maxFile bounds a file that is read, in bytes: a hundred thousand comments are
// a few megabytes.
const maxFile = 64 << 20

var errNoFile = errors.New("it is not a file")

// readFile reads a regular file of a bounded size: opening a pipe would wait for
// somebody to write.
func readFile(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errNoFile
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(data) > maxFile {
		err = fmt.Errorf("it is larger than %d MiB", maxFile>>20)
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

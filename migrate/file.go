package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
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
	err = json.Unmarshal(data, &doc)
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return nil, lineAt(data, max(0, syntax.Offset-1)), fmt.Errorf("it is not JSON: %w", err)
	case err != nil || doc == nil:
		return nil, 1, fmt.Errorf("it is %s, not an object", kindOf(data))
	}
	return doc, 0, nil
}

// lineOf returns the line, from 1, of the value that keys and indexes lead to
// from the top of a document; the last one that is there when they lead nowhere.
func lineOf(data []byte, at []any) int {
	dec := json.NewDecoder(bytes.NewReader(data))
	offset := int64(0)
	for _, step := range at {
		if !enter(dec, step) {
			break
		}
		offset = dec.InputOffset()
	}
	for offset < int64(len(data)) && strings.IndexByte(" \t\r\n,:", data[offset]) >= 0 {
		offset++ // to where the value begins
	}
	return lineAt(data, offset)
}

// lineAt is the line of an offset.
func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// enter goes to the value of a key or an index, right before it.
func enter(dec *json.Decoder, step any) bool {
	open, err := dec.Token()
	if err != nil {
		return false
	}
	index, isIndex := step.(int)
	for i := 0; dec.More(); i++ {
		if isIndex && open == json.Delim('[') && i == index {
			return true
		}
		if open == json.Delim('{') {
			if key, err := dec.Token(); err != nil || key == step {
				return err == nil
			}
		}
		var skipped json.RawMessage
		if dec.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}

package migrate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// sectionsOf names the sections of a record, the known ones first.
func sectionsOf(doc object) []string {
	sections := []string{}
	for _, key := range topKeys(doc) {
		if key != "ref" && key != "url" {
			sections = append(sections, key)
		}
	}
	return sections
}

// topKeys is the order in which a document is written.
func topKeys(doc object) []string {
	keys := []string{}
	for _, key := range [...]string{"ref", "url", "workItem", controlKey, pollKey, graphKey, sealedKey} {
		if _, has := doc[key]; has {
			keys = append(keys, key)
		}
	}
	for _, key := range sortedKeys(doc) {
		if !slices.Contains(keys, key) {
			keys = append(keys, key)
		}
	}
	return keys
}

// writeDoc writes a document under another name and only then gives it its own,
// so that a file is whole or not there.
func writeDoc(path string, doc object) error {
	var flat, text bytes.Buffer
	for i, key := range topKeys(doc) {
		flat.WriteByte("{,"[min(i, 1)])
		flat.Write(encode(key))
		flat.WriteByte(':')
		flat.Write(doc[key])
	}
	flat.WriteByte('}')
	if err := json.Indent(&text, flat.Bytes(), "", "  "); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	text.WriteByte('\n')
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp") // 0600
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(text.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

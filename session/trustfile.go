package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// maxTrustFile bounds what is read of Claude's file, which keeps a history.
const maxTrustFile = 64 << 20

// trustDoc is Claude's file: what is not ours stays as it was written.
type trustDoc struct {
	keys map[string]json.RawMessage
	mode fs.FileMode
}

func readTrust(path string) (trustDoc, error) {
	doc := trustDoc{keys: map[string]json.RawMessage{}, mode: 0o600}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return doc, nil
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err == nil && info.Size() > maxTrustFile {
		err = fmt.Errorf("it has more than %d bytes", maxTrustFile)
	}
	if err != nil {
		return doc, err
	}
	text, err := os.ReadFile(path)
	if err == nil && len(bytes.TrimSpace(text)) > 0 {
		err = json.Unmarshal(text, &doc.keys)
	}
	if err == nil && doc.keys == nil {
		err = errors.New("it holds null")
	}
	doc.mode = info.Mode().Perm()
	return doc, err
}

const (
	trustProjects = "projects"
	trustAccepted = "hasTrustDialogAccepted"
	trustBypass   = "bypassPermissionsModeAccepted"
)

// accept says in the document what is to be said; changed is false when it says
// so already.
func (d trustDoc) accept(folder string, bypass bool) (changed bool, err error) {
	projects, err := object(d.keys[trustProjects])
	if err != nil {
		return false, fmt.Errorf("%s: %w", trustProjects, err)
	}
	project, err := object(projects[folder])
	if err != nil {
		return false, fmt.Errorf("%s of %s: %w", trustProjects, folder, err)
	}
	yes := json.RawMessage("true")
	if string(project[trustAccepted]) != "true" {
		project[trustAccepted], changed = yes, true
		if projects[folder], err = compact(project); err != nil {
			return false, err
		}
		if d.keys[trustProjects], err = compact(projects); err != nil {
			return false, err
		}
	}
	if bypass && string(d.keys[trustBypass]) != "true" {
		d.keys[trustBypass], changed = yes, true
	}
	return changed, nil
}

func object(raw json.RawMessage) (map[string]json.RawMessage, error) {
	m := map[string]json.RawMessage{}
	if len(raw) == 0 || string(raw) == "null" {
		return m, nil
	}
	return m, json.Unmarshal(raw, &m)
}

// compact writes JSON without changing the characters of what is in it.
func compact(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// write replaces the file in one step.
func (d trustDoc) write(path string) error {
	body, err := compact(d.keys)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := json.Indent(&b, body, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	f, err := os.CreateTemp(filepath.Dir(path), ".claude.json.*.tmp")
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Chmod(d.mode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}
	return err
}

const (
	// trustLockAge is when a lock that nobody renews is left over, as Claude has it.
	trustLockAge = 10 * time.Second
	// trustWait is how long somebody else's lock is waited for: it is held for
	// milliseconds.
	trustWait = 2 * time.Second
	trustLook = 25 * time.Millisecond
)

// lockTrust takes the lock that Claude takes: a folder beside the file.
func lockTrust(path string) (unlock func(), err error) {
	lock := path + ".lock"
	for give := time.Now().Add(trustWait); ; <-time.After(trustLook) {
		err := os.Mkdir(lock, 0o700)
		if err == nil {
			return func() { _ = os.Remove(lock) }, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
		if info, err := os.Stat(lock); err == nil && time.Since(info.ModTime()) > trustLockAge {
			_ = os.Remove(lock)
			continue
		}
		if time.Now().After(give) {
			return nil, fmt.Errorf("somebody holds %s; remove it when no claude runs", lock)
		}
	}
}

package inbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"theloop/workitem"
)

// maxNames is how many seconds ahead a free name is looked for.
const maxNames = 60

// Post leaves a comment on an item and returns its id, the file's name. It is
// whole or not there. A second one in the same second gets the next second's
// name.
func (s *Source) Post(ctx context.Context, ref workitem.Ref, body string) (string, error) {
	if strings.TrimSpace(body) == "" {
		return "", fmt.Errorf("post a comment on %s: it has no words", ref)
	}
	root, err := s.enter(ctx, ref)
	if err != nil {
		return "", fmt.Errorf("post a comment: %w", err)
	}
	defer root.Close()
	name, err := s.write(root, strconv.Itoa(ref.Number), body)
	if err != nil {
		return "", fmt.Errorf("post a comment on %s: %w", ref, err)
	}
	return name, nil
}

// React does nothing: an inbox has no reactions.
func (s *Source) React(ctx context.Context, _ workitem.Ref, _ workitem.Comment, _ string) error {
	return ctx.Err()
}

// write puts the text under a hidden name, takes a name that is free by making
// an empty file of it, and moves the text there. An empty file that a crash
// leaves has no words and is no comment.
func (s *Source) write(root *os.Root, item, body string) (name string, err error) {
	folder := filepath.Join(item, commentFolder)
	if err := s.checkFolder(root, item); err != nil {
		return "", err
	}
	if err := root.Mkdir(folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	if err := s.checkFolder(root, folder); err != nil {
		return "", err
	}
	hidden := filepath.Join(folder, "."+rand.Text()+".tmp")
	defer func() { _ = root.Remove(hidden) }()
	if err := writeFile(root, hidden, strings.TrimSuffix(body, "\n")+"\n"); err != nil {
		return "", err
	}
	name, err = s.takeName(root, folder)
	if err != nil {
		return "", err
	}
	if err := root.Rename(hidden, filepath.Join(folder, name)); err != nil {
		return "", errors.Join(err, root.Remove(filepath.Join(folder, name)))
	}
	return name, nil
}

func (s *Source) takeName(root *os.Root, folder string) (string, error) {
	at := s.now().UTC()
	for range maxNames {
		name := at.Format(nameTime) + "-" + selfLogin + ".md"
		err := writeFile(root, filepath.Join(folder, name), "")
		if err == nil {
			return name, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return "", err
		}
		at = at.Add(time.Second)
	}
	return "", fmt.Errorf("the names of the next %d seconds are taken in %s", maxNames, s.full(folder))
}

// writeFile makes a file that is not there yet.
func writeFile(root *os.Root, name, text string) (err error) {
	f, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Sync()
}

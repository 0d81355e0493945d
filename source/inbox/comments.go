package inbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"theloop/workitem"
)

const (
	nameTime = "20060102T150405Z"
	// maxComments bounds a thread like the pages of other trackers do (P10).
	maxComments = 10_000
)

// commentName is `<time>-<author>.md`; the time may have a fraction.
var commentName = regexp.MustCompile(`^(\d{8}T\d{6}(?:\.\d{1,9})?Z)-([A-Za-z0-9_][A-Za-z0-9_.-]{0,99})\.md$`)

// isComment reports whether a file in a comments folder means to be one.
func isComment(name string) bool {
	return strings.HasSuffix(name, ".md") && !strings.HasPrefix(name, ".")
}

// Comments returns what people left on an item, in thread order (P2). A file
// that cannot be read, or has a name that says neither when nor who, is logged
// once and left out; one that is still being written waits; one without words
// is none.
func (s *Source) Comments(ctx context.Context, it workitem.Item) ([]workitem.Comment, error) {
	root, err := s.enter(ctx, it.Ref)
	if err != nil {
		return nil, fmt.Errorf("read comments: %w", err)
	}
	defer root.Close()
	thread, err := s.thread(ctx, root, filepath.Join(strconv.Itoa(it.Ref.Number), commentFolder))
	if err != nil {
		return nil, fmt.Errorf("read comments of %s: %w", it.Ref, err)
	}
	workitem.SortThread(thread)
	return thread, nil
}

func (s *Source) thread(ctx context.Context, root *os.Root, folder string) ([]workitem.Comment, error) {
	names, err := s.commentNames(root, folder)
	if err != nil {
		return nil, err
	}
	var thread []workitem.Comment
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := s.comment(root, folder, name)
		switch {
		case errors.Is(err, errUnfinished), errors.Is(err, fs.ErrNotExist):
		case err != nil:
			s.said.warn(s.full(folder, name), err)
		case strings.TrimSpace(c.Body) != "":
			thread = append(thread, c)
		}
	}
	return thread, nil
}

func (s *Source) commentNames(root *os.Root, folder string) ([]string, error) {
	if err := s.checkFolder(root, folder); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	entries, err := fs.ReadDir(root.FS(), filepath.ToSlash(folder))
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if isComment(e.Name()) {
			names = append(names, e.Name())
		}
	}
	if len(names) > maxComments {
		return nil, fmt.Errorf("%s has more than %d comments", s.full(folder), maxComments)
	}
	return names, nil
}

func (s *Source) comment(root *os.Root, folder, name string) (workitem.Comment, error) {
	at, login, err := parseName(name)
	if err != nil {
		return workitem.Comment{}, err
	}
	path := filepath.Join(folder, name)
	text, err := s.read(root, path)
	if err != nil {
		return workitem.Comment{}, err
	}
	if !utf8.Valid(text) {
		return workitem.Comment{}, errors.New("it is not UTF-8 text")
	}
	info, err := root.Lstat(path)
	if err != nil {
		return workitem.Comment{}, err
	}
	return workitem.Comment{
		ID: name, Surface: workitem.Conversation, Author: workitem.Author{Login: login},
		Body: strings.TrimSuffix(string(text), "\n"), URL: fileURL(s.full(path)),
		CreatedAt: at, UpdatedAt: info.ModTime(),
	}, nil
}

// parseName reads when a comment was written and by whom.
func parseName(name string) (time.Time, string, error) {
	const shape = "the name is not like 20260731T091158Z-octocat.md"
	parts := commentName.FindStringSubmatch(name)
	if parts == nil || !workitem.ValidCommentID(name) {
		return time.Time{}, "", errors.New(shape)
	}
	at, err := time.Parse(nameTime, parts[1])
	if err != nil {
		return time.Time{}, "", fmt.Errorf("%s: %w", shape, err)
	}
	return at, parts[2], nil
}

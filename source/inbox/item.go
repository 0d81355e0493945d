package inbox

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goccy/go-yaml"

	"theloop/workitem"
)

const (
	itemFile      = "item.md"
	commentFolder = "comments"
	fence         = "---"
)

// item reads one item's folder.
func (s *Source) item(root *os.Root, number int) (workitem.Item, error) {
	folder := strconv.Itoa(number)
	if err := s.checkFolder(root, folder); err != nil {
		return workitem.Item{}, err
	}
	text, err := s.read(root, filepath.Join(folder, itemFile))
	if errors.Is(err, fs.ErrNotExist) {
		return workitem.Item{}, s.noItemFile(root, folder)
	}
	if err != nil {
		return workitem.Item{}, err
	}
	it, err := parseItem(text)
	if err != nil {
		return workitem.Item{}, fmt.Errorf("%s: %w", s.full(folder, itemFile), err)
	}
	it.UpdatedAt, it.CommentCount, err = s.newest(root, folder)
	if err != nil {
		return workitem.Item{}, err
	}
	it.Ref, it.Kind, it.Source = s.ref(number), workitem.Issue, s.ID()
	it.URL = fileURL(s.full(folder))
	it.Labelled = slices.ContainsFunc(it.Labels, func(l string) bool { return strings.EqualFold(l, s.label) })
	return it, nil
}

// noItemFile tells a folder that was just made from one without its file.
func (s *Source) noItemFile(root *os.Root, folder string) error {
	info, err := root.Lstat(folder)
	if err != nil {
		return err
	}
	if s.young(info) {
		return errUnfinished
	}
	return fmt.Errorf("%s has no %s; write one, or remove the folder to end the item", s.full(folder), itemFile)
}

// newest returns the newest time below an item's folder, and how many comments
// there are. The folders' own times show what was removed, or moved in with an
// old time.
func (s *Source) newest(root *os.Root, folder string) (at time.Time, comments int, err error) {
	below := filepath.Join(folder, commentFolder)
	found, err := s.commentNames(root, below)
	if err != nil {
		return time.Time{}, 0, err
	}
	names := []string{folder, filepath.Join(folder, itemFile), below}
	for _, name := range found {
		names = append(names, filepath.Join(below, name))
	}
	for _, name := range names {
		info, err := root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return time.Time{}, 0, err
		}
		if info.ModTime().After(at) {
			at = info.ModTime()
		}
	}
	return at, len(found), nil
}

// frontMatter is what stands between the fences of an item.md. Other keys are
// somebody else's and left alone.
type frontMatter struct {
	Title  string `yaml:"title"`
	Author string `yaml:"author"`
	Labels []any  `yaml:"labels"`
	State  string `yaml:"state"`
}

// parseItem reads front matter and body.
func parseItem(text []byte) (workitem.Item, error) {
	if !utf8.Valid(text) {
		return workitem.Item{}, errors.New("it is not UTF-8 text")
	}
	matter, body, err := splitMatter(text)
	if err != nil {
		return workitem.Item{}, err
	}
	var m frontMatter
	if err := yaml.Unmarshal(matter, &m); err != nil {
		return workitem.Item{}, fmt.Errorf("front matter: %s", yaml.FormatError(err, false, false))
	}
	labels, err := labelNames(m.Labels)
	if err != nil {
		return workitem.Item{}, err
	}
	state, err := parseState(m.State)
	if err != nil {
		return workitem.Item{}, err
	}
	return workitem.Item{
		Title: m.Title, Body: body, Author: workitem.Author{Login: m.Author},
		Labels: labels, State: state,
	}, nil
}

func splitMatter(text []byte) (matter []byte, body string, err error) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\r\n"), []byte("\n"))
	rest, ok := bytes.CutPrefix(text, []byte(fence+"\n"))
	if !ok {
		return nil, "", errors.New("it does not begin with a line of three hyphens; put title, author, labels and state between two such lines")
	}
	if after, ok := bytes.CutPrefix(rest, []byte(fence+"\n")); ok {
		return nil, string(after), nil
	}
	matter, after, ok := bytes.Cut(rest, []byte("\n"+fence+"\n"))
	if !ok {
		matter, ok = bytes.CutSuffix(rest, []byte("\n"+fence))
	}
	if !ok {
		return nil, "", errors.New("its front matter does not end; close it with a line of three hyphens")
	}
	return matter, strings.TrimSuffix(string(after), "\n"), nil
}

func parseState(s string) (workitem.State, error) {
	switch s {
	case "", string(workitem.Open):
		return workitem.Open, nil
	case string(workitem.Closed):
		return workitem.Closed, nil
	}
	return "", fmt.Errorf("its state is %q; write open or closed", s)
}

// labelNames accepts a label with a colon that was not quoted, which YAML takes
// for a mapping: the default label is one.
func labelNames(in []any) ([]string, error) {
	var names []string
	for _, l := range in {
		switch l := l.(type) {
		case string:
			names = append(names, l)
		case map[string]any:
			name, ok := onePair(l)
			if !ok {
				return nil, fmt.Errorf("its label %v is not a text; quote it", l)
			}
			names = append(names, name)
		default:
			names = append(names, fmt.Sprint(l))
		}
	}
	return names, nil
}

func onePair(m map[string]any) (string, bool) {
	if len(m) != 1 {
		return "", false
	}
	for key, value := range m {
		if text, ok := value.(string); ok {
			return key + ": " + text, true
		}
	}
	return "", false
}

func fileURL(path string) string {
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
	return u.String()
}

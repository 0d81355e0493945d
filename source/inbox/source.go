package inbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"theloop/workitem"
)

const (
	provider = "inbox"
	// selfLogin is the author of what the daemon posts.
	selfLogin = "the-loop"
	// maxItems bounds a listing like the pages of other trackers do (P10).
	maxItems = 10_000
)

// Options say which folder is watched, and as what.
type Options struct {
	// Path is the folder.
	Path string
	// Name is `owner/repo` in its refs: inbox:owner/repo#1.
	Name string
	// Label is what an open item must carry to be listed.
	Label string
	// Log takes what is wrong with single comments; nil means slog.Default.
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Source is one inbox folder. It is safe for concurrent use.
type Source struct {
	path    string
	label   string
	example workitem.Ref
	now     func() time.Time
	said    *onceLog
}

// New returns a Source. The folder is not looked at: one that is missing fails
// when it is listed.
func New(o Options) (*Source, error) {
	owner, repo, ok := strings.Cut(o.Name, "/")
	if !ok {
		return nil, fmt.Errorf("the inbox's name %q is not like local/demo", o.Name)
	}
	example, err := workitem.NewRef(provider, "", owner, repo, 1)
	if err != nil {
		return nil, fmt.Errorf("inbox to watch: %w", err)
	}
	if strings.TrimSpace(o.Label) == "" {
		return nil, fmt.Errorf("watch inbox %s: a label is required; without one every open item would be worked on", o.Name)
	}
	path, err := filepath.Abs(o.Path)
	if err != nil || o.Path == "" {
		return nil, errors.Join(fmt.Errorf("watch inbox %s: its path %q is none", o.Name, o.Path), err)
	}
	s := &Source{path: path, label: o.Label, example: example, now: o.Now, said: &onceLog{log: o.Log}}
	if s.now == nil {
		s.now = time.Now
	}
	if s.said.log == nil {
		s.said.log = slog.Default()
	}
	return s, nil
}

// ID returns the source's name in key form: "inbox:local/demo".
func (s *Source) ID() string {
	key, _, _ := strings.Cut(s.example.Key(), "#")
	return key
}

// Self returns the account that Post writes as.
func (s *Source) Self(ctx context.Context) (workitem.Author, error) {
	return workitem.Author{Login: selfLogin}, ctx.Err()
}

// List returns every open item that carries the label, by number (P1). An item
// that cannot be read is in Bad (P5); one that is still being written is not
// there yet. A folder with an item.md whose name is no number is in Bad as
// number 0; anything else in the inbox is none of our business.
//
// The listing's date lies two seconds back, so that the time of an item with a
// file that may still grow is not remembered.
func (s *Source) List(ctx context.Context) (workitem.Listing, error) {
	listing := workitem.Listing{Date: s.now().Add(-settleTime)}
	root, err := s.open()
	if err != nil {
		return workitem.Listing{}, err
	}
	defer root.Close()
	numbers, strange, err := s.entries(root)
	if err != nil {
		return workitem.Listing{}, err
	}
	for _, name := range strange {
		err := fmt.Errorf("%s has an item.md, but its name is no number; rename the folder to a number that is free", filepath.Join(s.path, name))
		listing.Bad = append(listing.Bad, workitem.ItemError{Ref: s.ref(0), Err: err})
	}
	for _, number := range numbers {
		if err := ctx.Err(); err != nil {
			return workitem.Listing{}, fmt.Errorf("list the inbox %s: %w", s.path, err)
		}
		s.add(&listing, root, number)
	}
	return listing, ctx.Err()
}

func (s *Source) add(listing *workitem.Listing, root *os.Root, number int) {
	item, err := s.item(root, number)
	switch {
	case errors.Is(err, errUnfinished), errors.Is(err, fs.ErrNotExist):
		// Being written, or removed since its folder was read.
	case err != nil:
		listing.Bad = append(listing.Bad, workitem.ItemError{Ref: s.ref(number), Err: err})
	case item.State == workitem.Open && item.Labelled:
		listing.Items = append(listing.Items, item)
	}
}

// State reads one item by its number. workitem.ErrGone is returned when its
// folder is not there although the inbox can be read (P8).
func (s *Source) State(ctx context.Context, ref workitem.Ref) (workitem.Item, error) {
	root, err := s.enter(ctx, ref)
	if err != nil {
		return workitem.Item{}, fmt.Errorf("read an item: %w", err)
	}
	defer root.Close()
	item, err := s.item(root, ref.Number)
	if err != nil {
		return workitem.Item{}, fmt.Errorf("read %s: %w", ref, err)
	}
	return item, nil
}

// enter opens the inbox for work on one item, whose folder is there.
func (s *Source) enter(ctx context.Context, ref workitem.Ref) (*os.Root, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := s.owns(ref); err != nil {
		return nil, err
	}
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	name := strconv.Itoa(ref.Number)
	if _, err := root.Lstat(name); err != nil {
		root.Close()
		if errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%w: there is no folder %s", workitem.ErrGone, filepath.Join(s.path, name))
		}
		return nil, err
	}
	return root, nil
}

// owns refuses a ref of another source: its number would name something else
// here.
func (s *Source) owns(ref workitem.Ref) error {
	if ref.Number < 1 || ref.Key() != s.ref(ref.Number).Key() {
		return fmt.Errorf("%s is not of %s", ref, s.ID())
	}
	return nil
}

// open opens the inbox itself. Its path may be a link: it is the operator's.
func (s *Source) open() (*os.Root, error) {
	root, err := os.OpenRoot(s.path)
	if err != nil {
		return nil, fmt.Errorf("open the inbox: %w; make that folder, or mend the path in polling.sources", err)
	}
	info, err := root.Stat(".")
	if err == nil {
		err = trusted(info)
	}
	if err != nil {
		root.Close()
		return nil, fmt.Errorf("inbox %s: %w", s.path, err)
	}
	return root, nil
}

// entries returns the numbers that are items, in order, and the names of
// folders that look like items.
func (s *Source) entries(root *os.Root) (numbers []int, strange []string, err error) {
	found, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, nil, fmt.Errorf("read the inbox: %w", err)
	}
	for _, e := range found {
		number, err := strconv.Atoi(e.Name())
		switch {
		case err == nil && number > 0 && strconv.Itoa(number) == e.Name():
			numbers = append(numbers, number)
		case strings.HasPrefix(e.Name(), "."):
		default:
			if _, err := root.Lstat(filepath.Join(e.Name(), itemFile)); err == nil {
				strange = append(strange, e.Name())
			}
		}
	}
	if len(numbers) > maxItems {
		return nil, nil, fmt.Errorf("the inbox %s has more than %d items; move closed ones away", s.path, maxItems)
	}
	slices.Sort(numbers)
	return numbers, strange, nil
}

func (s *Source) ref(number int) workitem.Ref {
	ref := s.example
	ref.Number = number
	return ref
}

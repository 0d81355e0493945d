package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Places says where records of earlier releases may stand.
type Places struct {
	// Root is the state root: its portable, local and sessions folders, and its
	// poll-state.json.
	Root string
	// From replaces all the others when it is a folder: a state root, or one with
	// records in it. A file is a poll-state.json that is read beside them.
	From string
	// Registry is where an earlier configuration had its control and session
	// records (routing.registryDir); empty for none.
	Registry string
	// Cwd is the working directory; earlier releases had a fixed
	// .the-loop/poll-state.json in it. Empty for none.
	Cwd string
}

// kind is what the files of a place hold.
type kind int

const (
	// portables hold one record each.
	portables kind = iota
	// handles hold one session each.
	handles
	// controls hold one control section each.
	controls
	// polls holds the poll sections of many items.
	polls
)

const pollStateName = "poll-state.json"

// heartbeatName is the heartbeat that stands in a state root.
const heartbeatName = "poll-status.json"

// place is one folder, or for polls one file, that is read.
type place struct {
	kind kind
	path string
	// odd are the names that were no files when they were found, but links or what
	// cannot be read.
	odd map[string]bool
}

// source is one file that is read. There may be a hundred thousand of them.
type source struct {
	place *place
	// name is empty when the place is the file.
	name string
}

func (s source) path() string { return filepath.Join(s.place.path, s.name) }

// wasFile reports that it was known for a file when it was found.
func (s source) wasFile() bool { return s.name != "" && !s.place.odd[s.name] }

// Files returns the files that an import of these places reads, and nothing
// when there is nothing to import. A place that is not there is none; a From
// that is missing is an error. What cannot be looked at is listed by Import; it
// is an error here when there is nothing else.
func Files(p Places) ([]string, error) {
	found, unreadable, err := scan(p)
	if err == nil && len(found) == 0 && len(unreadable) > 0 {
		err = fmt.Errorf("read the records in %s: %s", unreadable[0].File, unreadable[0].Reason)
	}
	paths := make([]string, len(found))
	for i, s := range found {
		paths[i] = s.path()
	}
	return paths, err
}

// Newer returns the files of these places that were written after a time: an
// earlier release ran again after the import at that time.
func Newer(p Places, since time.Time) ([]string, error) {
	found, _, err := scan(p)
	var newer []string
	for _, s := range found {
		path := s.path()
		if info, err := os.Stat(path); err == nil && info.ModTime().After(since) {
			newer = append(newer, path)
		}
	}
	return newer, err
}

// scan lists the files, those whose sections win first.
func scan(p Places) (found []source, invalid []Invalid, err error) {
	places, err := p.list()
	if err != nil {
		return nil, nil, err
	}
	seen := seen{}
	for i := range places {
		at := &places[i]
		sources, err := at.files(seen)
		if err != nil {
			invalid = append(invalid, Invalid{File: at.path, Reason: plainError(err)})
		}
		found = append(found, sources...)
	}
	// Each kind in the order of its places: newer ones first.
	slices.SortStableFunc(found, func(a, b source) int { return cmp.Compare(a.place.kind, b.place.kind) })
	return found, invalid, nil
}

// seen knows the files that were found, by folder and name, of which one may be there
// by two ways.
type seen map[string]map[string]bool

// first reports that the file of this name in a folder was not found before. Folder
// and name lead over no links.
func (s seen) first(dir, name string) bool {
	if s[dir] == nil {
		s[dir] = map[string]bool{}
	}
	if s[dir][name] {
		return false
	}
	s[dir][name] = true
	return true
}

// linkless is where a path leads to, or itself when that is nowhere.
func linkless(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// list is the table of places, those that win first.
func (p Places) list() ([]place, error) {
	root, file := p.Root, ""
	if p.From != "" {
		info, err := os.Stat(p.From)
		if err != nil {
			return nil, fmt.Errorf("look for the records to import in %s: %s; name a state root, a folder of records or a poll-state.json", p.From, plainError(err))
		}
		if info.IsDir() && !isRoot(p.From) {
			return []place{{kind: portables, path: p.From}}, nil
		}
		if info.IsDir() {
			root, p.Registry, p.Cwd = p.From, "", ""
		} else {
			file = p.From
		}
	}
	places := []place{
		{kind: portables, path: filepath.Join(root, "portable")},
		{kind: handles, path: filepath.Join(root, "local")},
		{kind: handles, path: filepath.Join(root, "sessions")},
		{kind: controls, path: filepath.Join(root, "sessions", "control")},
	}
	if p.Registry != "" {
		places = append(places, place{kind: handles, path: p.Registry}, place{kind: controls, path: filepath.Join(p.Registry, "control")})
	}
	if file != "" {
		places = append(places, place{kind: polls, path: file})
	}
	places = append(places,
		place{kind: polls, path: filepath.Join(root, "sessions", pollStateName)},
		place{kind: polls, path: filepath.Join(root, pollStateName)})
	if p.Cwd != "" {
		places = append(places, place{kind: polls, path: filepath.Join(p.Cwd, ".the-loop", pollStateName)})
	}
	return places, nil
}

// isRoot tells a state root from a folder of records.
func isRoot(dir string) bool {
	for _, name := range []string{"portable", "local", "sessions", pollStateName} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

// files lists what stands at a place, by name, and was not found before. None when
// the place is not there.
func (p *place) files(seen seen) ([]source, error) {
	if p.kind == polls {
		if s := (source{place: p}); isFile(p.path) && s.first(seen) {
			return []source{s}, nil
		}
		return nil, nil
	}
	entries, err := os.ReadDir(p.path)
	if isMissing(err) {
		return nil, p.inTheWay()
	}
	dir := linkless(p.path)
	var found []source
	for _, e := range entries {
		if !isRecordName(e.Name()) {
			continue
		}
		s, first := source{p, e.Name()}, false
		switch {
		case e.IsDir():
		case e.Type().IsRegular(): // nearly all: it takes no look at each
			first = seen.first(dir, e.Name())
		default:
			if p.odd == nil {
				p.odd = map[string]bool{}
			}
			p.odd[s.name] = true
			first = isFile(s.path()) && s.first(seen)
		}
		if first {
			found = append(found, s)
		}
	}
	return found, err
}

// first reports that the file, wherever a link leads to, was not found before.
func (s source) first(seen seen) bool {
	path := linkless(s.path())
	return seen.first(filepath.Dir(path), filepath.Base(path))
}

var errNoFolder = errors.New("it is not a folder")

// inTheWay is an error when something else than a folder stands at a place.
func (p place) inTheWay() error {
	if _, err := os.Lstat(p.path); err == nil {
		return errNoFolder
	}
	return nil
}

// isFile reports that something is at a path that is no folder. What is there and
// cannot be read is something too: reading it says why.
func isFile(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		_, err := os.Lstat(path) // a link to nothing is there
		return !isMissing(err)
	}
	return !info.IsDir()
}

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// isRecordName leaves out what is written beside records: the index, files that
// are being written, hidden ones, the heartbeat, and the poll state that has a place of
// its own.
func isRecordName(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") &&
		name != indexName && name != pollStateName && name != heartbeatName
}

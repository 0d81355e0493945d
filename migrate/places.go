package migrate

import (
	"cmp"
	"errors"
	"fmt"
	"hash/maphash"
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

// place is one folder, or for polls one file, that is read.
type place struct {
	kind kind
	path string
}

// source is one file that is read.
type source struct {
	kind     kind
	path     string
	modified time.Time
	size     int64
}

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
		paths[i] = s.path
	}
	return paths, err
}

// Newer returns the files of these places that were written after a time: an
// earlier release ran again after the import at that time.
func Newer(p Places, since time.Time) ([]string, error) {
	found, _, err := scan(p)
	var newer []string
	for _, s := range found {
		if s.modified.After(since) {
			newer = append(newer, s.path)
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
	seed, seen := maphash.MakeSeed(), map[uint64]bool{} // of paths that are a hundred thousand maybe
	for _, at := range places {
		sources, err := at.files()
		if err != nil {
			invalid = append(invalid, Invalid{File: at.path, Reason: plainError(err)})
		}
		for _, s := range sources {
			if id := maphash.String(seed, identity(s.path)); !seen[id] {
				seen[id] = true
				found = append(found, s)
			}
		}
	}
	// Each kind in the order of its places: newer ones first.
	slices.SortStableFunc(found, func(a, b source) int { return cmp.Compare(a.kind, b.kind) })
	return found, invalid, nil
}

// identity is the same for one file by two ways.
func identity(path string) string {
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
			return nil, fmt.Errorf("look for the records to import: %w", err)
		}
		if info.IsDir() && !isRoot(p.From) {
			return []place{{portables, p.From}}, nil
		}
		if info.IsDir() {
			root, p.Registry, p.Cwd = p.From, "", ""
		} else {
			file = p.From
		}
	}
	places := []place{
		{portables, filepath.Join(root, "portable")},
		{handles, filepath.Join(root, "local")},
		{handles, filepath.Join(root, "sessions")},
		{controls, filepath.Join(root, "sessions", "control")},
	}
	if p.Registry != "" {
		places = append(places, place{handles, p.Registry}, place{controls, filepath.Join(p.Registry, "control")})
	}
	if file != "" {
		places = append(places, place{polls, file})
	}
	places = append(places,
		place{polls, filepath.Join(root, "sessions", pollStateName)},
		place{polls, filepath.Join(root, pollStateName)})
	if p.Cwd != "" {
		places = append(places, place{polls, filepath.Join(p.Cwd, ".the-loop", pollStateName)})
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

// files lists what stands at a place, by name. None when it is not there.
func (p place) files() ([]source, error) {
	if p.kind == polls {
		if s, ok := lookAt(p.kind, p.path); ok {
			return []source{s}, nil
		}
		return nil, nil
	}
	entries, err := os.ReadDir(p.path)
	if isMissing(err) {
		return nil, p.inTheWay()
	}
	var found []source
	for _, e := range entries {
		if !isRecordName(e.Name()) {
			continue
		}
		if s, ok := lookAt(p.kind, filepath.Join(p.path, e.Name())); ok {
			found = append(found, s)
		}
	}
	return found, err
}

var errNoFolder = errors.New("it is not a folder")

// inTheWay is an error when something else than a folder stands at a place.
func (p place) inTheWay() error {
	if _, err := os.Lstat(p.path); err == nil {
		return errNoFolder
	}
	return nil
}

// lookAt returns what stands at a path, if it is there and no folder. What is
// there and cannot be read is one too: reading it says why.
func lookAt(k kind, path string) (source, bool) {
	info, err := os.Stat(path)
	if err != nil {
		_, err := os.Lstat(path) // a link to nothing is there
		return source{kind: k, path: path}, !isMissing(err)
	}
	return source{k, path, info.ModTime(), info.Size()}, !info.IsDir()
}

func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// isRecordName leaves out what is written beside records: the index, files that
// are being written, hidden ones, and the poll state that has a place of its own.
func isRecordName(name string) bool {
	return strings.HasSuffix(name, ".json") && !strings.HasPrefix(name, ".") && name != indexName && name != pollStateName
}

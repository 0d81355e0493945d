package lock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

const (
	rootPerm       = 0o700 // of a state root that we make (L9)
	othersMayWrite = 0o022
)

// EnsureRoot makes the state root, private (0700) and with its missing parents, unless it exists. An existing one keeps its
// mode; when others may write to it, who could then replace what is in it, it is refused (L9). made lists the folders that
// were made, outermost first; a start that is refused later gives it to RemoveRoot.
func EnsureRoot(path string) (made []string, err error) {
	missing, err := missingFolders(path)
	if err != nil {
		return nil, err
	}
	for _, dir := range missing {
		err := os.Mkdir(dir, rootPerm)
		if errors.Is(err, fs.ErrExist) {
			continue // somebody else made it meanwhile
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("make the state root: %w", err), RemoveRoot(made))
		}
		made = append(made, dir)
	}
	if err := checkRoot(path); err != nil {
		return nil, errors.Join(err, RemoveRoot(made))
	}
	return made, nil
}

// RemoveRoot removes folders that EnsureRoot made, innermost first. The first one that is in use, and what is around it,
// stays.
func RemoveRoot(made []string) error {
	for i := len(made) - 1; i >= 0; i-- {
		err := os.Remove(made[i])
		if errors.Is(err, fs.ErrExist) { // which is also what "not empty" is
			return nil
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the state root that was made: %w", err)
		}
	}
	return nil
}

// missingFolders lists what has to be made for path to exist, outermost first.
func missingFolders(path string) ([]string, error) {
	var missing []string
	for dir := filepath.Clean(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		switch {
		case err == nil && info.IsDir():
			return missing, nil
		case err == nil:
			return nil, notAFolder(path, dir, "a file")
		case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR):
			return nil, fmt.Errorf("look at the state root: %w", err)
		}
		if _, err := os.Lstat(dir); err == nil {
			return nil, notAFolder(path, dir, "a symlink to nothing")
		}
		if dir == filepath.Dir(dir) {
			return nil, fmt.Errorf("look at the state root: %w", err)
		}
		missing = append([]string{dir}, missing...)
	}
}

func notAFolder(root, inTheWay, what string) error {
	return fmt.Errorf("state root %s cannot be made: %s is %s, not a folder; move it away, or set state.root to another folder", root, inTheWay, what)
}

func checkRoot(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at the state root: %w", err)
	}
	if !info.IsDir() {
		return notAFolder(path, path, "a file")
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&othersMayWrite != 0 {
		return fmt.Errorf("state root %s may be written to by others (mode %04o): take that away with 'chmod go-w %s'", path, info.Mode().Perm(), shellQuote(path))
	}
	return nil
}

package session

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
)

// Trust says how the folder of a session is made known to Claude before it is
// started there; without it the first paste would answer a dialog (D11).
type Trust struct {
	// File is Claude's own; empty leaves it alone.
	File string
	// Root, when the folder is below it, is trusted instead of the folder.
	Root string
	// Bypass is BypassAuto, BypassAlways or anything else for never: whether the
	// notice of the mode that asks for no permissions is accepted as well.
	Bypass string
}

// When the notice of Claude's bypass mode is accepted: when the arguments ask for
// that mode, or always.
const (
	BypassAuto   = "auto"
	BypassAlways = "always"
)

// trust marks the folder as trusted in Claude's own file. A failure is an event
// and never a failed spawn.
func (j *job) trust(l launch) {
	t := j.settings.Trust
	if !l.harness.asksForTrust || t.File == "" {
		return
	}
	j.trusting.Lock()
	defer j.trusting.Unlock()
	bypass := t.Bypass == BypassAlways || t.Bypass == BypassAuto && asksBypass(l.order.Argv)
	if err := t.mark(l.order.Dir, bypass); err != nil {
		j.emit("workspace.trust_failed", map[string]any{"harness": l.harness.Name, "error": safeError(err)})
	}
}

// asksBypass reports whether a command line of Claude asks for the mode that
// asks for no permissions.
func asksBypass(argv []string) bool {
	for i, arg := range argv {
		switch {
		case arg == "--dangerously-skip-permissions", arg == "--permission-mode=bypassPermissions":
			return true
		case arg == "--permission-mode" && i+1 < len(argv) && argv[i+1] == "bypassPermissions":
			return true
		}
	}
	return false
}

// mark writes the file when it does not say so yet. Claude, which other sessions
// run, writes it as well: its lock is respected, the file is replaced in one
// step, and all other keys keep their values.
func (t Trust) mark(dir string, bypass bool) error {
	path, folder, err := t.places(dir)
	if err != nil {
		return err
	}
	accept := func(write bool) (bool, error) {
		doc, err := readTrust(path)
		if err != nil {
			return false, err
		}
		changed, err := doc.accept(folder, bypass)
		if err != nil || !changed || !write {
			return changed, err
		}
		return true, doc.write(path)
	}
	if missing, err := accept(false); err != nil || !missing {
		return wrapTrust(path, err)
	}
	unlock, err := lockTrust(path)
	if err != nil {
		return wrapTrust(path, err)
	}
	defer unlock()
	_, err = accept(true) // on what it holds now that nobody else writes
	return wrapTrust(path, err)
}

func wrapTrust(path string, err error) error {
	if err != nil {
		return fmt.Errorf("mark the folder as trusted in %s: %w", path, err)
	}
	return nil
}

// places are the file, behind links, and the folder that is trusted, as Claude
// names it: without links. What it trusts holds for the folders below, too.
func (t Trust) places(dir string) (path, folder string, err error) {
	if path, err = filepath.EvalSymlinks(t.File); errors.Is(err, fs.ErrNotExist) {
		path, err = t.File, nil
	}
	if err != nil {
		return "", "", wrapTrust(t.File, err)
	}
	if folder, err = filepath.EvalSymlinks(dir); err != nil {
		return "", "", wrapTrust(path, err)
	}
	if root, err := filepath.EvalSymlinks(t.Root); err == nil && t.Root != "" && strings.HasPrefix(folder+"/", root+"/") {
		folder = root
	}
	return path, folder, nil
}

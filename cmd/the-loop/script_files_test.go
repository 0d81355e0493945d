package main

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// snapshot is what is in a folder: mode and content of everything by path.
type snapshot struct {
	dir     string
	besides []string
	files   map[string]string
}

// snapshot DIR [BESIDES…] remembers what is in a folder, but for the files whose
// paths below it match a glob.
func snapshotCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: snapshot DIR [BESIDES...]")
	}
	s := snapshot{dir: ts.MkAbs(args[0]), besides: args[1:]}
	s.files = look(ts, s)
	worldOf(ts).snapshots[s.dir] = s
}

// unchanged DIR demands that a folder is as its snapshot says: not a byte, not a
// mode, no file more or less.
func unchangedCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unchanged DIR")
	}
	s, ok := worldOf(ts).snapshots[ts.MkAbs(args[0])]
	if !ok {
		ts.Fatalf("there is no snapshot of %s", args[0])
	}
	now := look(ts, s)
	paths := slices.Sorted(maps.Keys(now))
	for path := range s.files {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if s.files[path] != now[path] {
			ts.Fatalf("%s changed: was [%s], is [%s]", path, s.files[path], now[path])
		}
	}
}

func look(ts *testscript.TestScript, s snapshot) map[string]string {
	files := map[string]string{}
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(s.dir, path)
		if err != nil || slices.ContainsFunc(s.besides, func(glob string) bool { return matches(glob, name) }) {
			return err
		}
		files[name], err = describe(path, d)
		return err
	})
	ts.Check(err)
	return files
}

func matches(glob, name string) bool {
	ok, _ := filepath.Match(glob, name)
	return ok
}

func describe(path string, d fs.DirEntry) (string, error) {
	info, err := d.Info()
	if err != nil {
		return "", err
	}
	switch {
	case info.Mode().IsRegular():
		data, err := os.ReadFile(path)
		return fmt.Sprintf("%v %x", info.Mode(), sha256.Sum256(data)), err
	case info.Mode()&fs.ModeSymlink != 0:
		to, err := os.Readlink(path)
		return fmt.Sprintf("%v -> %s", info.Mode(), to), err
	}
	return info.Mode().String(), nil
}

// expand FILE… replaces environment variables in files.
func expandCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg {
		ts.Fatalf("usage: expand FILE...")
	}
	for _, name := range args {
		text := os.Expand(ts.ReadFile(name), ts.Getenv)
		ts.Check(os.WriteFile(ts.MkAbs(name), []byte(text), 0o600))
	}
}

// mode OCTAL FILE… demands the permissions of files.
func modeCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode OCTAL FILE...")
	}
	for _, name := range args[1:] {
		info, err := os.Lstat(ts.MkAbs(name))
		ts.Check(err)
		if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", name, got, args[0])
		}
	}
}

// comment AUTHOR TEXT leaves a comment on item 1 of the inbox.
func commentCmd(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: comment AUTHOR TEXT")
	}
	folder := ts.MkAbs("inbox/1/comments")
	ts.Check(os.MkdirAll(folder, 0o700))
	for at := time.Now().UTC(); ; at = at.Add(time.Second) {
		path := filepath.Join(folder, at.Format("20060102T150405Z")+"-"+args[0]+".md")
		if _, err := os.Lstat(path); err == nil {
			continue // the author wrote in this second already
		}
		ts.Check(os.WriteFile(path, []byte(spelled(ts, args[1])+"\n"), 0o600))
		return
	}
}

package main

import (
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"theloop/lock"
)

const scriptDir = "testdata/script"

// The scripts are a user's terminal: each has a home, a state root and a tmux
// server of its own. One that is on disk and did not run is a failure.
func TestScripts(t *testing.T) {
	var ran atomic.Int32
	t.Run("all", func(t *testing.T) {
		testscript.Run(t, testscript.Params{
			Dir:                 scriptDir,
			RequireExplicitExec: false,
			RequireUniqueNames:  true,
			Cmds:                scriptCommands(),
			Condition:           condition,
			Setup: func(e *testscript.Env) error {
				ran.Add(1)
				return prepare(e)
			},
		})
	})
	onDisk := scriptsOnDisk(t)
	if someScripts() {
		return
	}
	if int(ran.Load()) != onDisk {
		t.Errorf("%d scripts ran, %d are on disk", ran.Load(), onDisk)
	}
}

// someScripts reports whether somebody asked for some of them.
func someScripts() bool { return strings.Contains(flag.Lookup("test.run").Value.String(), "/") }

// scriptsOnDisk counts what is there without the library's own search.
func scriptsOnDisk(t *testing.T) int {
	t.Helper()
	n := 0
	err := filepath.WalkDir(scriptDir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
			if filepath.Ext(path) != ".txtar" || filepath.Dir(path) != filepath.FromSlash(scriptDir) {
				t.Errorf("%s is in a place, or has a name, that no test runs", path)
			}
		}
		return err
	})
	if err != nil || n == 0 {
		t.Fatalf("look for scripts: %d found: %v", n, err)
	}
	return n
}

// prepare gives a script its surroundings. Nothing of the developer's own gets
// in: no token, no tmux, no configuration.
func prepare(e *testscript.Env) error {
	home := filepath.Join(e.WorkDir, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return err
	}
	// A socket's path is at most 108 bytes, so this is not below the script's
	// own folder.
	sockets, err := os.MkdirTemp("", "tl")
	if err != nil {
		return err
	}
	e.Setenv("HOME", home)
	e.Setenv("TMUX_TMPDIR", sockets)
	e.Setenv("TERM", "xterm-256color")
	e.Setenv("GORACE", "atexit_sleep_ms=0")
	program, err := exec.LookPath("the-loop")
	if err != nil {
		return err
	}
	module, err := filepath.Abs(moduleRoot)
	if err != nil {
		return err
	}
	e.Setenv("BIN", filepath.Dir(program))
	e.Setenv("MODULE", module)
	e.Defer(func() { endPollers(e.WorkDir) })
	t := e.T().(testing.TB)
	e.Values[worldKey{}] = &world{t: t, snapshots: map[string]snapshot{}}
	t.Cleanup(func() { // when background commands have ended, which is after every Defer
		servers, _ := filepath.Glob(filepath.Join(sockets, "*", "*"))
		for _, socket := range servers {
			_ = exec.Command("tmux", "-S", socket, "kill-server").Run() // it may have ended
		}
		os.RemoveAll(sockets)
	})
	return private(e.WorkDir)
}

// endPollers ends what a script that failed half way has left running: nobody
// else would, of one that went into the background by itself.
func endPollers(dir string) {
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != lock.File {
			return nil // what cannot be looked at holds no lock that can be found
		}
		status, err := lock.Probe(path)
		if open, _ := lock.HasOpen(path, status.PID); err == nil && open && status.Holder() == lock.Poller {
			_ = syscall.Kill(status.PID, syscall.SIGKILL)
		}
		return nil
	})
}

// private takes away what the developer's umask may have given to others: the
// program refuses such folders.
func private(dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		return os.Chmod(path, info.Mode().Perm()&^0o022)
	})
}

func condition(name string) (bool, error) {
	if name == "root" {
		return os.Geteuid() == 0, nil
	}
	return false, fs.ErrInvalid
}

// world is what the commands of one script share.
type world struct {
	t         testing.TB
	snapshots map[string]snapshot
	github    *tracker
}

type worldKey struct{}

func worldOf(ts *testscript.TestScript) *world { return ts.Value(worldKey{}).(*world) }

func scriptCommands() map[string]func(*testscript.TestScript, bool, []string) {
	return map[string]func(*testscript.TestScript, bool, []string){
		"agent":     agentCmd,
		"comment":   commentCmd,
		"exits":     exitsCmd,
		"expand":    expandCmd,
		"github":    githubCmd,
		"json":      jsonCmd,
		"mode":      modeCmd,
		"printable": printableCmd,
		"refused":   refusedCmd,
		"signal":    signalCmd,
		"snapshot":  snapshotCmd,
		"unchanged": unchangedCmd,
		"waitfor":   waitforCmd,
	}
}

//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// L9: what stands in the place of the pidfile is named, and neither followed nor changed.
func TestWhatIsNoPidfileOfOurs(t *testing.T) {
	for name, tt := range map[string]struct {
		put  func(t *testing.T, path, victim string) error
		want string
	}{
		"symlink":          {func(t *testing.T, path, victim string) error { return os.Symlink(victim, path) }, "a symlink to "},
		"dangling symlink": {func(t *testing.T, path, victim string) error { return os.Symlink(victim+".none", path) }, "a symlink to "},
		"folder":           {func(t *testing.T, path, victim string) error { return os.Mkdir(path, 0o700) }, "a folder"},
		"named pipe":       {func(t *testing.T, path, victim string) error { return syscall.Mkfifo(path, 0o600) }, "a named pipe"},
		"hard link":        {func(t *testing.T, path, victim string) error { return os.Link(victim, path) }, "2 names"},
		"socket": {func(t *testing.T, path, victim string) error {
			l, err := net.Listen("unix", path)
			if err == nil {
				t.Cleanup(func() { l.Close() })
			}
			return err
		}, "a socket"},
	} {
		t.Run(name, func(t *testing.T) {
			dir, err := os.MkdirTemp("", "lock") // short: a socket's path is limited
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			path, victim := filepath.Join(dir, File), filepath.Join(dir, "victim")
			mustWrite(t, victim, "precious")
			if err := tt.put(t, path, victim); err != nil {
				t.Fatal(err)
			}
			before := fingerprint(t, dir)
			refusesByName(t, path, tt.want)
			if fingerprint(t, dir) != before {
				t.Error("something was changed")
			}
		})
	}
}

func refusesByName(t *testing.T, path, want string) {
	t.Helper()
	_, acquireErr := Acquire(background, path, "poll start", nil)
	_, probeErr := Probe(path)
	_, removeErr := RemoveStale(background, path)
	for what, err := range map[string]error{"acquire": acquireErr, "probe": probeErr, "remove": removeErr} {
		if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want an error with %q that names %s", what, err, want, path)
		}
	}
}

// L9
func TestThePidfileOfAnotherUser(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	mustWrite(t, path, "1\n")
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkFile(path, info, os.Geteuid()); err != nil {
		t.Error(err)
	}
	err = checkFile(path, info, os.Geteuid()+1)
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%s belongs to user %d", path, os.Geteuid())) {
		t.Errorf("got %v", err)
	}
	if os.Geteuid() == 0 { // only root can give a file away
		if err := os.Chown(path, 65534, -1); err != nil {
			t.Fatal(err)
		}
		before := fingerprint(t, filepath.Dir(path))
		refusesByName(t, path, "belongs to user 65534")
		if fingerprint(t, filepath.Dir(path)) != before {
			t.Error("something was changed")
		}
	}
}

// L9: our files are 0600, also one that the Python version left behind.
func TestThePidfileIsPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	for range 2 {
		l := mustAcquire(t, path, "poll start")
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("mode %04o", got)
		}
		l.Release()
		mustWrite(t, path, "1\n")
		if err := os.Chmod(path, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// L9: between the look at the name and the open it may become a symlink or a pipe; the open is careful by itself.
func TestTheOpenIsCarefulByItself(t *testing.T) {
	dir := t.TempDir()
	link, pipe := filepath.Join(dir, "link"), filepath.Join(dir, "pipe")
	mustWrite(t, filepath.Join(dir, "victim"), "precious")
	if err := errors.Join(os.Symlink("victim", link), syscall.Mkfifo(pipe, 0o600)); err != nil {
		t.Fatal(err)
	}
	if f, err := os.OpenFile(link, os.O_RDWR|careful, 0); err == nil {
		f.Close()
		t.Error("a symlink was followed")
	}
	opened := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(pipe, os.O_RDONLY|careful, 0)
		if err == nil {
			f.Close()
		}
		opened <- err
	}()
	select {
	case <-opened:
	case <-time.After(5 * time.Second):
		t.Error("the open of a pipe waits for its other end")
	}
}

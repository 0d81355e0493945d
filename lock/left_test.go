//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package lock

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Only what nobody holds, and nobody wrote to for a while, is what a process left that
// ended (L5).
func TestWhatIsLeftBehind(t *testing.T) {
	since := time.Now().Add(-time.Hour)
	write := func(t *testing.T, dir, name string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("a part"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, since, since.Add(-time.Second)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cases := map[string]struct {
		gone bool
		made func(t *testing.T, dir string) string
	}{
		"left": {true, func(t *testing.T, dir string) string { return write(t, dir, "a") }},
		"young": {false, func(t *testing.T, dir string) string {
			path := write(t, dir, "a")
			if err := os.Chtimes(path, since, since.Add(time.Second)); err != nil {
				t.Fatal(err)
			}
			return path
		}},
		"held": {false, func(t *testing.T, dir string) string {
			path := write(t, dir, "a")
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { f.Close() })
			if err := HoldWhileOpen(f); err != nil {
				t.Fatal(err)
			}
			return path
		}},
		"a link": {false, func(t *testing.T, dir string) string {
			link := filepath.Join(dir, "link")
			if err := os.Symlink(write(t, dir, "a"), link); err != nil {
				t.Fatal(err)
			}
			return link
		}},
		"a pipe": {false, func(t *testing.T, dir string) string {
			pipe := filepath.Join(dir, "pipe")
			if err := syscall.Mkfifo(pipe, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(pipe, since, since.Add(-time.Second)); err != nil {
				t.Fatal(err)
			}
			return pipe
		}},
	}
	if os.Geteuid() == 0 {
		cases["another user's"] = struct {
			gone bool
			made func(t *testing.T, dir string) string
		}{false, func(t *testing.T, dir string) string {
			path := write(t, dir, "a")
			if err := os.Chown(path, 65534, 65534); err != nil {
				t.Fatal(err)
			}
			return path
		}}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			path := c.made(t, dir)
			removed, _ := RemoveLeft(path, since)
			_, err := os.Lstat(path)
			if removed != c.gone || os.IsNotExist(err) != c.gone {
				t.Errorf("removed: %v, %v", removed, err)
			}
		})
	}
}

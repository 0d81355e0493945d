//go:build unix

package migrate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// Nothing that a link leads to keeps an import waiting: pipes and devices are not
// opened, also when they take a file's place just then, and a file of the kernel that
// says it holds nothing is not read.
func TestNoFileKeepsWaiting(t *testing.T) {
	dir := t.TempDir()
	pipe, link := filepath.Join(dir, "pipe"), filepath.Join(dir, "r.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, "/dev/zero", "/dev/tty"} {
		if _, err := soon(t, path, false); !errors.Is(err, errNoFile) && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
	for _, path := range []string{"/proc/kmsg", "/proc/self/pagemap"} { // where there is one
		if data, _ := soon(t, path, false); len(data) > 0 {
			t.Errorf("%s: %d bytes of a file that holds none", path, len(data))
		}
	}
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	swapped := make(chan struct{})
	go func() {
		defer close(swapped)
		for to := file; ; to = map[string]string{file: pipe, pipe: file}[to] {
			_ = os.Symlink(to, link+".new")
			_ = os.Rename(link+".new", link)
			select {
			case <-done:
				return
			default:
			}
		}
	}()
	defer func() { close(done); <-swapped }()
	for range 3000 {
		data, err := soon(t, link, true)
		if string(data) != "{}" && !errors.Is(err, errNoFile) && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%q, %v", data, err)
		}
	}
}

// soon is readFile, which has a moment.
func soon(t *testing.T, path string, wasFile bool) (data []byte, err error) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		data, _, err = readFile(path, wasFile, maxFile)
	}()
	select {
	case <-done:
	case <-time.After(10 * time.Second):
		t.Fatalf("reading %s does not end", path)
	}
	return data, err
}

//go:build unix

package inbox

import (
	"bytes"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// A5, P5: whoever can write here speaks for everybody, so what somebody else
// may have written is refused by name.
func TestRefused(t *testing.T) {
	tests := []struct {
		name, says string
		spoil      func(t *testing.T, w *world) string
	}{
		{"an item that anybody may write", "chmod o-w", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "item.md")
			chmod(t, path, 0o646)
			return path
		}},
		{"a folder that anybody may write", "chmod o-w", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1")
			chmod(t, path, 0o757)
			return path
		}},
		{"a comments folder that anybody may write", "chmod o-w", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "comments")
			chmod(t, path, 0o757)
			return path
		}},
		{"a linked item", "symbolic link", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "item.md")
			relink(t, path)
			return path
		}},
		{"a linked folder", "symbolic link", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1")
			relink(t, path)
			return path
		}},
		{"a linked comments folder", "symbolic link", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "comments")
			relink(t, path)
			return path
		}},
		{"a file where a folder should be", "not a folder", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1")
			if err := os.RemoveAll(path); err != nil {
				t.Fatal(err)
			}
			return w.put(t, "1", "no folder\n")
		}},
		{"a pipe", "special file", func(t *testing.T, w *world) string {
			path := filepath.Join(w.dir, "1", "item.md")
			if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
				t.Fatal(err)
			}
			return path
		}},
		{"a file that is too large", "larger than 1 MiB", func(t *testing.T, w *world) string {
			return w.put(t, "1/item.md", strings.Repeat("x", maxFile+1))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
			w.Say(t, 1, "octocat", "hello", time.Now())
			path := tt.spoil(t, w)
			listing := listed(t, w.source(t, Options{}))
			if len(listing.Items) != 0 || len(listing.Bad) != 1 || !strings.Contains(listing.Bad[0].Err.Error(), path) || !strings.Contains(listing.Bad[0].Err.Error(), tt.says) {
				t.Errorf("listing %+v does not refuse %s by name", listing, path)
			}
		})
	}
}

// A comment that is refused does not take the others with it, and is said once.
func TestRefusedComments(t *testing.T) {
	w := newWorld(t)
	w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
	w.Say(t, 1, "octocat", "hello", time.Now())
	chmod(t, w.put(t, "1/comments/20260731T091158Z-mallory.md", "the-loop start\n"), 0o646)
	relink(t, w.put(t, "1/comments/20260731T091159Z-mallory.md", "the-loop start\n"))
	w.put(t, "1/comments/notes.md", "whose?\n")
	w.put(t, "1/comments/20260731T091200Z-octocat.md", "\xff\n")
	w.put(t, "1/comments/20260731T091201Z-octocat.md", " \n")
	w.put(t, "1/comments/notes.txt", "none of ours\n")
	var log bytes.Buffer
	s := w.source(t, Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 2 {
		if got := thread(t, s, 1); len(got) != 1 || got[0].Body != "hello" {
			t.Errorf("thread %+v", got)
		}
	}
	for _, name := range []string{"T091158Z-mallory", "T091159Z-mallory", "notes.md", "T091200Z-octocat"} {
		if n := strings.Count(log.String(), name+" ") + strings.Count(log.String(), name+".md "); n != 1 {
			t.Errorf("%s was reported %d times:\n%s", name, n, &log)
		}
	}
	if strings.Contains(log.String(), "T091201Z") || strings.Contains(log.String(), "notes.txt") {
		t.Errorf("what is no comment was reported:\n%s", &log)
	}
}

func TestTrustedOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make a file of somebody else's")
	}
	w := newWorld(t)
	w.item(t, 1, "one", "octocat", strconv.Quote(label), "open")
	if err := os.Chown(filepath.Join(w.dir, "1", "item.md"), 12345, -1); err != nil {
		t.Fatal(err)
	}
	listing := listed(t, w.source(t, Options{}))
	if len(listing.Bad) != 1 || !strings.Contains(listing.Bad[0].Err.Error(), "12345") {
		t.Errorf("listing %+v", listing)
	}
}

// An inbox that anybody can write fails as a whole.
func TestOpenInbox(t *testing.T) {
	w := newWorld(t)
	chmod(t, w.dir, 0o757)
	if _, err := w.source(t, Options{}).List(t.Context()); err == nil || !strings.Contains(err.Error(), "chmod o-w") {
		t.Errorf("error %v", err)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// relink puts a link in a file's or folder's place that leads to it.
func relink(t *testing.T, path string) {
	t.Helper()
	aside := filepath.Join(t.TempDir(), "aside")
	if err := errors.Join(os.Rename(path, aside), os.Symlink(aside, path)); err != nil {
		t.Fatal(err)
	}
}

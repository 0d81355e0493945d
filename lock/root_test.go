package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// L9: a root that we make is private, with its parents, and goes again with a refused start.
func TestEnsureRootMakesAndRemoveRootRemoves(t *testing.T) {
	dir := t.TempDir()
	parent := filepath.Join(dir, "a")
	root := filepath.Join(parent, "b", "root")
	made, err := EnsureRoot(root + "/")
	if err != nil {
		t.Fatal(err)
	}
	if len(made) != 3 || made[0] != parent || made[2] != root {
		t.Errorf("made %v", made)
	}
	for _, d := range made {
		info, err := os.Stat(d)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS != "windows" && info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %04o", d, info.Mode().Perm())
		}
	}
	if again, err := EnsureRoot(root); err != nil || len(again) != 0 {
		t.Errorf("of an existing root: made %v, %v", again, err)
	}
	if err := RemoveRoot(made); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(parent); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder that was made is left: %v", err)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("a folder that was there is gone: %v", err)
	}
}

func TestRemoveRootLeavesWhatIsInUse(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "root")
	made, err := EnsureRoot(root)
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, filepath.Join(root, "ledger.db"), "ledger")
	if err := RemoveRoot(made); err != nil {
		t.Error(err)
	}
	if got := mustRead(t, filepath.Join(root, "ledger.db")); got != "ledger" {
		t.Errorf("the ledger holds %q", got)
	}
}

// L9
func TestEnsureRootRefusesWhatOthersMayWrite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no modes on windows")
	}
	for mode, refused := range map[fs.FileMode]bool{0o700: false, 0o755: false, 0o500: false, 0o770: true, 0o707: true, 0o777: true} {
		root := filepath.Join(t.TempDir(), "the root")
		if err := errors.Join(os.Mkdir(root, 0o700), os.Chmod(root, mode)); err != nil {
			t.Fatal(err)
		}
		_, err := EnsureRoot(root)
		if (err != nil) != refused {
			t.Errorf("mode %04o: %v", mode, err)
		}
		if err != nil && !strings.Contains(err.Error(), "chmod go-w '"+root+"'") {
			t.Errorf("mode %04o: no remedy in %v", mode, err)
		}
		if info, err := os.Stat(root); err != nil || info.Mode().Perm() != mode {
			t.Errorf("mode %04o was changed: %v %v", mode, info, err)
		}
	}
}

// L9
func TestEnsureRootNamesWhatIsInTheWay(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "file"), filepath.Join(dir, "link")
	mustWrite(t, file, "precious")
	if err := os.Symlink(filepath.Join(dir, "none"), link); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	before := fingerprint(t, dir)
	for root, inTheWay := range map[string]string{
		file:                          file + " is a file",
		filepath.Join(file, "a", "b"): file + " is a file",
		link:                          link + " is a symlink to nothing",
		filepath.Join(link, "a"):      link + " is a symlink to nothing",
	} {
		_, err := EnsureRoot(root)
		if err == nil || !strings.Contains(err.Error(), inTheWay) {
			t.Errorf("%s: got %v, want %q", root, err, inTheWay)
		}
	}
	if fingerprint(t, dir) != before {
		t.Error("something was changed")
	}
}

// A root may be a symlink to a folder: people move their state to another disk.
func TestEnsureRootFollowsASymlinkToAFolder(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	if err := os.Symlink(t.TempDir(), link); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	if made, err := EnsureRoot(link); err != nil || len(made) > 0 {
		t.Errorf("made %v, %v", made, err)
	}
}

func TestShellQuote(t *testing.T) {
	for in, want := range map[string]string{
		"/home/me/.the-loop": "/home/me/.the-loop",
		"/a b":               "'/a b'",
		"/it's":              `'/it'\''s'`,
		"/$(x)":              "'/$(x)'",
		"-rf":                "'-rf'",
	} {
		if got := shellQuote(in); got != want {
			t.Errorf("%s: got %s, want %s", in, got, want)
		}
	}
}

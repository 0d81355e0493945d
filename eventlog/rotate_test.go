package eventlog

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// rotated is a log whose files take two of these tests' lines.
func rotated(t *testing.T, keep int) fixture {
	t.Helper()
	f := inFolder(t)
	f.rotation = func() (int64, int) { return 250, keep }
	return f
}

// R2: a file that would become too large is followed by a new one, so many older
// ones stay, and a reader sees them as one log.
func TestRotation(t *testing.T) {
	f := rotated(t, 2)
	for _, s := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		f.Append(detail(s))
	}
	for name, want := range map[string]string{"": "g", ".1": "e f", ".2": "c d"} {
		text, err := os.ReadFile(f.path + name)
		var got []string
		for line := range strings.Lines(string(text)) {
			_, rest, _ := strings.Cut(line, `"detail":"`)
			got = append(got, rest[:1])
		}
		if err != nil || strings.Join(got, " ") != want {
			t.Errorf("%q has %q, want %q (%v)", name, got, want, err)
		}
		if info, err := os.Lstat(f.path + name); err != nil || info.Mode() != fs.FileMode(0o600) {
			t.Errorf("%q: %v, %v", name, info.Mode(), err)
		}
	}
	if _, err := os.Lstat(f.path + ".3"); err == nil {
		t.Error("a third older file was kept")
	}
	wantDetails(t, f.path, 0, "c", "d", "e", "f", "g")
	if got, _ := entries(t, f.path, Filter{Limit: 4}); len(got) != 4 || got[0].Fields["detail"] != "d" {
		t.Errorf("the last four: %v", got)
	}
	if f.warned() != 0 || f.Dropped() != 0 {
		t.Errorf("%d dropped, warned %q", f.Dropped(), f.warnings)
	}
}

// A reader that asks for what is young does not read what is old.
func TestOlderFilesAreNotReadForWhatIsYoung(t *testing.T) {
	f := rotated(t, 9)
	for _, s := range []string{"a", "b", "c", "d", "e"} {
		f.Append(detail(s))
	}
	old := noon.Add(-time.Hour)
	if err := os.Chtimes(f.path+".1", old, old); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(f.path + ".2"); err != nil {
		t.Fatal(err)
	}
	if got, _ := entries(t, f.path, Filter{Since: noon}); len(got) != 1 {
		t.Errorf("%d entries, want the one of the youngest file", len(got))
	}
	if got, _ := entries(t, f.path, Filter{}); len(got) != 3 {
		t.Errorf("%d entries of both files", len(got))
	}
}

// A log that was rotated a moment ago, and not written to since, is there.
func TestALogWithoutItsYoungestFile(t *testing.T) {
	f := rotated(t, 3)
	f.Append(detail("a"))
	if err := os.Rename(f.path, f.path+".1"); err != nil {
		t.Fatal(err)
	}
	wantDetails(t, f.path, 0, "a")
}

// A file that cannot be renamed is written to as it is.
func TestAFileThatCannotBeRotatedGrows(t *testing.T) {
	f := rotated(t, 1)
	if err := os.MkdirAll(f.path+".1/in-the-way", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{"a", "b", "c", "d"} {
		f.Append(detail(s))
	}
	wantDetails(t, f.path, 0, "a", "b", "c", "d")
	if f.warned() != 1 || f.Dropped() != 0 {
		t.Errorf("%d dropped, warned %q", f.Dropped(), f.warnings)
	}
}

// A log that was moved away with its root rotates nothing at the old place.
func TestNothingIsRotatedAtAnOldPlace(t *testing.T) {
	dir := t.TempDir()
	f := newFixture(t, dir+"/root/events.jsonl")
	f.root, f.rotation = dir+"/root", func() (int64, int) { return 250, 3 }
	if err := os.Mkdir(f.root, 0o700); err != nil {
		t.Fatal(err)
	}
	f.Append(detail("a"))
	if err := os.Rename(f.root, dir+"/moved"); err != nil {
		t.Fatal(err)
	}
	other := newFixture(t, f.path)
	other.Append(detail("of somebody else"))
	for range 4 {
		f.Append(detail("b"))
	}
	wantDetails(t, f.path, 0, "of somebody else")
	wantDetails(t, dir+"/moved/events.jsonl", 0, "a", "b", "b", "b", "b")
}

// R2: one rotates while others append and somebody reads: no line is lost, torn or
// read twice, and none that was read is missed later.
func TestRotationBesideWriters(t *testing.T) {
	const writers, each = 4, 400
	f := inFolder(t)
	f.rotation = func() (int64, int) { return 4000, writers * each }
	f.Append(detail("first"))
	all := []fixture{f}
	for range writers - 1 {
		all = append(all, newFixture(t, f.path))
	}
	stop := make(chan struct{})
	var writing, reading sync.WaitGroup
	reading.Go(func() {
		for before := 0; ; {
			select {
			case <-stop:
				return
			default:
			}
			got, skipped := details(t, f.path)
			if len(got) < before || skipped > 0 {
				t.Errorf("read %d entries after %d, %d skipped", len(got), before, skipped)
				return
			}
			before = len(got)
		}
	})
	for n, l := range all {
		writing.Go(func() {
			for i := range each {
				l.Append(detail(fmt.Sprint(n, " ", i)))
			}
		})
	}
	writing.Wait()
	close(stop)
	reading.Wait()
	got, _ := details(t, f.path)
	slices.Sort(got)
	if n := len(got); n != writers*each+1 || len(slices.Compact(got)) != n {
		t.Errorf("%d entries, %d different ones, want %d", n, len(slices.Compact(got)), writers*each+1)
	}
	if older, _ := os.ReadDir(f.path[:strings.LastIndex(f.path, "/")]); len(older) < 5 {
		t.Errorf("%d files: that shows nothing", len(older))
	}
}

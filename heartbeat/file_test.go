package heartbeat

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// records keeps what is logged.
type records struct{ all []slog.Record }

func (r *records) Enabled(context.Context, slog.Level) bool { return true }
func (r *records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r *records) WithGroup(string) slog.Handler            { return r }
func (r *records) Handle(_ context.Context, rec slog.Record) error {
	r.all = append(r.all, rec)
	return nil
}

func (r *records) warnings() (n int) {
	for _, rec := range r.all {
		if rec.Level >= slog.LevelWarn {
			n++
		}
	}
	return n
}

func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

// U3: written and read back, private, alone.
func TestWriteAndRead(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, File)
	for _, want := range []Beat{{StartedAt: At(noon), Health: Working}, sample()} {
		if err := Write(path, want); err != nil {
			t.Fatal(err)
		}
		got, ok := Read(path)
		if !ok {
			t.Fatal("none was read")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got := names(t, dir); len(got) != 1 {
		t.Errorf("the folder holds %v", got)
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// U4: unreadable is none.
func TestReadOfNoBeat(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty": "", "cut": `{"startedAt":"2026-05-01T12:00:00Z","lastCy`, "two": `{"startedAt":"2026-05-01T12:00:00Z"}{}`,
		"nothing of a beat": "{}", "null": "null", "list": "[]", "wrong type": `{"startedAt":5}`, "wrong type later": `{"startedAt":"2026-05-01T12:00:00Z","intervalSeconds":"x"}`, "no time": `{"startedAt":"noon"}`,
		"huge": `{"startedAt":"2026-05-01T12:00:00Z","x":"` + strings.Repeat("x", readLimit) + `"}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if b, ok := Read(path); ok || b != (Beat{}) {
			t.Errorf("%s: read %+v", name, b)
		}
	}
	for _, path := range []string{filepath.Join(dir, "missing"), dir} {
		if _, ok := Read(path); ok {
			t.Errorf("%s: read a beat", path)
		}
	}
}

// U2: a pid in an older file is dropped unread, whatever it is; what is missing there is none.
func TestReadOfAnOlderFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	old := `{"pid":{"not":"a number"},"startedAt":"2026-05-01T14:00:00.000001+02:00","lastCycleAt":null,"intervalSeconds":60.0,"somethingElse":[1]}`
	if err := os.WriteFile(path, []byte(old), 0o644); err != nil {
		t.Fatal(err)
	}
	got, ok := Read(path)
	want := Beat{StartedAt: At(noon.Add(time.Microsecond)), IntervalSeconds: 60}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("read %t (-want +got):\n%s", ok, diff)
	}
	if err := Write(path, got); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "pid") {
		t.Errorf("a pid was written: %s", text)
	}
}

// U3: however often it is read while it is written, it is whole.
func TestNoTornBeat(t *testing.T) {
	path := filepath.Join(t.TempDir(), File)
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	stop, written := make(chan struct{}), make(chan error)
	go func() {
		b := sample()
		for {
			b.HealthDetail = strings.Repeat("x", int(b.EventLogDropped)%9000) // files of all lengths
			b.EventLogDropped++
			err := Write(path, b)
			select {
			case <-stop:
				written <- err
				return
			default:
			}
			if err != nil {
				written <- err
				return
			}
		}
	}()
	seen := map[int64]bool{}
	for until := time.Now().Add(time.Second); time.Now().Before(until) || len(seen) < 10; {
		b, ok := Read(path)
		if !ok {
			t.Error("a reader saw no whole beat")
			break
		}
		if len(b.HealthDetail) != int(b.EventLogDropped-1)%9000 && b.EventLogDropped != sample().EventLogDropped {
			t.Errorf("beat %d has %d bytes of detail", b.EventLogDropped, len(b.HealthDetail))
		}
		seen[b.EventLogDropped] = true
	}
	close(stop)
	if err := <-written; err != nil {
		t.Error(err)
	}
}

// U4: what keeps a beat from being written warns once, ends nothing, and leaves the last one and nothing else.
func TestAWriterThatCannotWarnsOnce(t *testing.T) {
	for name, spoil := range map[string]func(dir, path string) error{
		"no folder": func(dir, _ string) error { return os.RemoveAll(dir) },
		"a file in the folder's place": func(dir, _ string) error {
			return errors.Join(os.RemoveAll(dir), os.WriteFile(dir, nil, 0o600))
		},
		"a folder in its place": func(_, path string) error { return os.MkdirAll(filepath.Join(path, "x"), 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "root")
			path := filepath.Join(dir, File)
			if err := errors.Join(os.Mkdir(dir, 0o700), spoil(dir, path)); err != nil {
				t.Fatal(err)
			}
			log := &records{}
			w := NewWriter(path, slog.New(log))
			for range 3 {
				w.Write(sample())
			}
			if log.warnings() != 1 || len(log.all) != 3 {
				t.Errorf("%d warnings in %d records, want 1 in 3", log.warnings(), len(log.all))
			}
			if info, err := os.Stat(dir); err == nil && info.IsDir() {
				if got := names(t, dir); len(got) != 1 || got[0] != File {
					t.Errorf("left behind: %v", got)
				}
			}
		})
	}
}

// U4: it goes on as soon as it can.
func TestAWriterRecovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "root")
	path := filepath.Join(dir, File)
	w := NewWriter(path, slog.New(slog.DiscardHandler))
	w.Write(sample())
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	w.Write(sample())
	if _, ok := Read(path); !ok {
		t.Error("it was not written")
	}
}

// A writer that was killed between writing and renaming left its file; files of others stay.
func TestTheFirstWriteSweeps(t *testing.T) {
	dir := t.TempDir()
	left, err := writeAside(dir, []byte("{"))
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, ".other.tmp")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	NewWriter(filepath.Join(dir, File), slog.New(slog.DiscardHandler)).Write(sample())
	if diff := cmp.Diff([]string{".other.tmp", File}, names(t, dir)); diff != "" {
		t.Errorf("%s was not swept (-want +got):\n%s", filepath.Base(left), diff)
	}
}

// A symlink in its place is replaced, and what it leads to is not written to.
func TestWriteDoesNotFollowASymlink(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, File), filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(victim, path); err != nil {
		t.Skipf("no symlinks here: %v", err)
	}
	if err := Write(path, sample()); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(victim); err != nil || string(got) != "precious" {
		t.Errorf("the victim holds %q, %v", got, err)
	}
}

func BenchmarkWrite(b *testing.B) {
	path := filepath.Join(b.TempDir(), File)
	for b.Loop() {
		if err := Write(path, sample()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	path := filepath.Join(b.TempDir(), File)
	if err := Write(path, sample()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, ok := Read(path); !ok {
			b.Fatal("none was read")
		}
	}
}

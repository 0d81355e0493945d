package eventlog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"testing"
	"time"
)

// followed is what a follower was given so far.
type followed struct {
	mu   sync.Mutex
	got  []string
	done chan error
}

func follow(t *testing.T, path string, filter Filter) *followed {
	t.Helper()
	w := &followed{done: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, err := Follow(ctx, path, filter, time.Millisecond, func(e Entry) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.got = append(w.got, e.Fields["detail"].(string))
			return nil
		})
		w.done <- err
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-w.done; err != nil {
			t.Error(err)
		}
	})
	return w
}

func (w *followed) seen() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.got)
}

// sees waits until all that is wanted has come, and nothing else.
func (w *followed) sees(t *testing.T, want ...string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !slices.Equal(w.seen(), want); <-time.After(time.Millisecond) {
		if time.Now().After(deadline) {
			got, at := w.seen(), 0
			for at < min(len(got), len(want)) && got[at] == want[at] {
				at++
			}
			t.Fatalf("it was given %d, want %d; from %d on %q", len(got), len(want), at, got[at:min(len(got), at+20)])
		}
	}
}

// What is there comes first, then what is written, each once: also when the file
// is renamed, rotated, cut, or a line comes in two pieces.
func TestFollow(t *testing.T) {
	f := rotated(t, 9)
	for _, s := range []string{"a", "b", "c"} {
		f.Append(detail(s))
	}
	w := follow(t, f.path, Filter{Limit: 2})
	w.sees(t, "b", "c")
	f.Append(detail("d"))
	w.sees(t, "b", "c", "d")
	f.Append(detail("e")) // into a new file
	w.sees(t, "b", "c", "d", "e")

	if err := os.Rename(f.path, f.path+".by-hand"); err != nil {
		t.Fatal(err)
	}
	f.Append(detail("f"))
	w.sees(t, "b", "c", "d", "e", "f")

	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	line := []byte(`{"ts":"2026-03-01T12:00:00.007Z","source":"poll","event":"config.reloaded","level":"info","pid":1,"detail":"g"}` + "\n")
	for _, piece := range [][]byte{line[:40], line[40:]} {
		if _, err := file.Write(piece); err != nil {
			t.Fatal(err)
		}
		<-time.After(20 * time.Millisecond) // it is looked at in between
	}
	w.sees(t, "b", "c", "d", "e", "f", "g")

	if err := os.Truncate(f.path, 0); err != nil {
		t.Fatal(err)
	}
	<-time.After(20 * time.Millisecond)
	f.Append(detail("h"))
	w.sees(t, "b", "c", "d", "e", "f", "g", "h")
}

// When the log is removed, what was rotated before is not shown again.
func TestFollowRemoved(t *testing.T) {
	f := rotated(t, 9)
	want := []string{}
	for n := range 6 { // a file each
		f.Append(detail(fmt.Sprint(n)))
		want = append(want, fmt.Sprint(n))
	}
	if _, err := os.Stat(f.path + ".1"); err != nil {
		t.Fatal(err)
	}
	w := follow(t, f.path, Filter{})
	w.sees(t, want...)
	if err := os.Remove(f.path); err != nil {
		t.Fatal(err)
	}
	<-time.After(20 * time.Millisecond) // it is looked at in between
	f.Append(detail("after"))
	w.sees(t, append(want, "after")...)
}

// A line of another program that is too long is counted once, however often the log
// is looked at while it is the last one.
func TestFollowCountsOnce(t *testing.T) {
	f := inFolder(t)
	f.Append(detail("a"))
	long := bytes.Repeat([]byte("x"), 3*maxForeign)
	put := func(b []byte) {
		file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.Write(b); err != nil {
			t.Fatal(err)
		}
		if err := file.Close(); err != nil {
			t.Fatal(err)
		}
		<-time.After(30 * time.Millisecond) // it is looked at in between
	}
	ctx, cancel := context.WithCancel(t.Context())
	seen, done := make(chan Entry, 2), make(chan int, 1)
	go func() {
		skipped, err := Follow(ctx, f.path, Filter{}, time.Millisecond, func(e Entry) error { seen <- e; return nil })
		if err != nil {
			t.Error(err)
		}
		done <- skipped
	}()
	<-seen
	put(long)
	put([]byte("\n"))
	f.Append(detail("b"))
	if e := <-seen; e.Fields["detail"] != "b" {
		t.Errorf("then came %+v", e)
	}
	cancel()
	if skipped := <-done; skipped != 1 {
		t.Errorf("%d lines were skipped", skipped)
	}
}

// A follower misses nothing and sees nothing twice when several rotations come
// between two looks.
func TestFollowThroughRotations(t *testing.T) {
	f := rotated(t, 8)
	f.Append(detail("0"))
	w := follow(t, f.path, Filter{})
	want := []string{"0"}
	for n := 1; n < 300; n++ {
		f.Append(detail(fmt.Sprint(n)))
		want = append(want, fmt.Sprint(n))
		if n%5 == 0 { // at most five files
			w.sees(t, want...)
		}
	}
	w.sees(t, want...)
}

func TestFollowEnds(t *testing.T) {
	f := inFolder(t)
	if _, err := Follow(t.Context(), f.path, Filter{}, time.Millisecond, nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without a log: %v", err)
	}
	f.Append(detail("a"))
	enough := errors.New("enough")
	if _, err := Follow(t.Context(), f.path, Filter{}, time.Millisecond, func(Entry) error { return enough }); !errors.Is(err, enough) {
		t.Errorf("when its reader has enough: %v", err)
	}
}

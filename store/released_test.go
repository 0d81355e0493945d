package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"theloop/record"
	"theloop/store"
)

// TestReleasedOnce: whatever happened to the deliveries of an item before, and
// however many goroutines give back which of them how often: an attempt that
// waits comes back once, attempts are never below zero, and nothing else changes
// (B4).
func TestReleasedOnce(t *testing.T) {
	dir := t.TempDir()
	files := 0
	rapid.Check(t, func(t *rapid.T) {
		files++
		l, err := store.Open(t.Context(), options(filepath.Join(dir, fmt.Sprint(files))))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = l.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"change":  func(t *rapid.T) { liveOn(t, l) },
			"release": func(t *rapid.T) { releaseAtOnce(t, l) },
		})
		if problems, err := l.Check(t.Context()); err != nil || len(problems) > 0 {
			t.Fatalf("check: %v, %v", problems, err)
		}
	})
}

// liveOn takes some steps that the item allows.
func liveOn(t *rapid.T, l *store.Ledger) {
	rec, err := l.Record(t.Context(), ref(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range drawChanges(t, ref(1), rec) {
		rec, err = l.Record(t.Context(), ref(1))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Commit(t.Context(), ref(1), rec.Item.Rev, []record.Change{c}); err != nil && !errors.Is(err, record.ErrIllegal) {
			t.Fatal(err)
		}
	}
}

// releaseAtOnce gives deliveries back from several sides.
func releaseAtOnce(t *rapid.T, l *store.Ledger) {
	before, err := l.Record(t.Context(), ref(1))
	if err != nil {
		t.Fatal(err)
	}
	var all []record.Held
	for range rapid.IntRange(0, 8).Draw(t, "held") {
		id := rapid.SampledFrom(append(commentIDs(), "")).Draw(t, "comment")
		all = append(all, record.Held{Ref: ref(1).String(), DeliveryID: deliveryID(id, before)})
	}
	var mu sync.Mutex
	var sides sync.WaitGroup
	came := map[string]int{}
	var failed error
	for range 3 {
		sides.Go(func() {
			back, err := l.Release(t.Context(), all)
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
			for _, h := range back {
				came[h.DeliveryID]++
			}
		})
	}
	sides.Wait()
	after, err := l.Record(t.Context(), ref(1))
	if err = errors.Join(err, failed); err != nil {
		t.Fatal(err)
	}
	released(t, came, all, before.Item.Spawn.Delivery, after.Item.Spawn.Delivery)
	if was, is := before.Item.Spawn, after.Item.Spawn; was.N != is.N || was.GaveUp != is.GaveUp {
		t.Fatalf("the spawn was %+v and is %+v", was, is)
	}
	for i, was := range before.Comments.All() {
		is := after.Comments.All()[i]
		if was.State != record.Pending && was != is {
			t.Fatalf("the resolved row %+v became %+v", was, is)
		}
		released(t, came, all, was.Delivery, is.Delivery)
	}
}

// released says what a delivery has to be afterwards: one that waited and was
// given back has an attempt less, once; any other one is as it was.
func released(t *rapid.T, came map[string]int, all []record.Held, was, is record.Delivery) {
	waits := was.InHand() && was.StartedOn == ""
	given := slices.ContainsFunc(all, func(h record.Held) bool { return h.DeliveryID == was.DeliveryID })
	want, times := was, 0
	if waits && given {
		times = 1
		want.Attempts, want.DeliveryID, want.Run = was.Attempts-1, "", ""
	}
	if is != want || is.Attempts < 0 {
		t.Fatalf("%+v became %+v", was, is)
	}
	if was.DeliveryID != "" && came[was.DeliveryID] != times {
		t.Fatalf("%q came back %d times, not %d", was.DeliveryID, came[was.DeliveryID], times)
	}
}

// TestReleasedByTwoProcesses: while one process gives attempts back no other can,
// and when it is killed in the middle of it the next one gives back what is left,
// and nothing twice (B4).
func TestReleasedByTwoProcesses(t *testing.T) {
	dir := t.TempDir()
	for round := range rounds(t, 4) {
		path := filepath.Join(dir, fmt.Sprint(round))
		spendTwice(t, path)
		first := start(t, "release", path)
		acked := map[record.Held]bool{}
		for range 1 + rand.IntN(20) {
			first.released(acked)
		}
		opts := options(path)
		opts.Timeout = 100 * time.Millisecond
		var inUse *store.InUseError
		if _, err := store.Open(t.Context(), opts); !errors.As(err, &inUse) {
			t.Fatalf("a second process: %v", err)
		}
		go first.kill()
		for first.released(acked) {
		}
		l := open(t, path)
		back, err := l.Release(t.Context(), spent())
		must(t, err)
		for _, h := range back {
			if acked[h] {
				t.Errorf("%v came back twice", h)
			}
			acked[h] = true
		}
		if left := len(spent()) - len(acked); left < 0 || left > 1 { // one may have had no time to say so
			t.Errorf("round %d: %d of %d came back", round, len(acked), len(spent()))
		}
		for n := range releasedItems {
			for _, c := range get(t, l, ref(n+1)).Comments.All() {
				if c.Attempts != 1 || c.InHand() {
					t.Errorf("round %d: %s of %d has %+v", round, c.ID, n+1, c.Delivery)
				}
			}
		}
		shut(t, l)
	}
}

const (
	releasedItems = 4
	releasedRows  = 8
)

// spent is the deliveries that wait.
func spent() (all []record.Held) {
	for n := range releasedItems {
		for i := range releasedRows {
			all = append(all, held(n+1, commentID(i)))
		}
	}
	return all
}

// spendTwice makes a ledger with rows whose second attempt waits.
func spendTwice(t *testing.T, path string) {
	t.Helper()
	l := open(t, path)
	for n := range releasedItems {
		var changes []record.Change
		for i := range releasedRows {
			id := commentID(i)
			changes = append(changes, queued(id)...)
			changes = append(changes, record.Fail{Comment: id}, record.Queue{Comment: id, DeliveryID: record.CommentDeliveryID(id), Run: "run-2"})
		}
		commit(t, l, ref(n+1), changes...)
	}
	shut(t, l)
}

// childRelease gives everything back, one by one, says so, and keeps the ledger.
func childRelease(args []string) error {
	ctx := context.Background()
	l, err := store.Open(ctx, options(args[0]))
	if err != nil {
		return err
	}
	for _, h := range spent() {
		back, err := l.Release(ctx, []record.Held{h})
		if err != nil {
			return err
		}
		if len(back) != 1 {
			return fmt.Errorf("%v did not come back", h)
		}
		fmt.Println(h.Ref, h.DeliveryID)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return l.Close()
}

// released notes the next delivery that the child says it gave back.
func (c *child) released(acked map[record.Held]bool) bool {
	ref, id, ok := strings.Cut(c.line(), " ")
	if n := len(releasedID(id)); ok && n > 0 {
		acked[record.Held{Ref: ref, DeliveryID: id}] = true
	}
	return ok
}

// releasedID is the id when it is a whole one.
func releasedID(id string) string {
	comment, _ := record.DeliveryComment(id)
	if _, err := strconv.Atoi(strings.TrimPrefix(comment, "IC_")); err != nil {
		return ""
	}
	return id
}

//go:build unix

package session

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

// onDisk puts a real ledger under the rig's host.
func (r *rig) onDisk(b *testing.B) *store.Ledger {
	b.Helper()
	l, err := store.Open(b.Context(), store.Options{Path: filepath.Join(r.dir, store.File), Writer: "bench"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	r.stored = l
	r.host = r.newHost(testRun)
	r.quiet()
	return l
}

// put commits changes to an item of a real ledger.
func put(b *testing.B, l *store.Ledger, ref workitem.Ref, changes ...record.Change) {
	b.Helper()
	rec, err := l.Record(b.Context(), ref)
	if err == nil {
		_, err = l.Commit(b.Context(), ref, rec.Item.Rev, changes)
	}
	if err != nil {
		b.Error(err)
	}
}

func start(b *testing.B, l *store.Ledger, ref workitem.Ref) {
	b.Helper()
	item := octoItem()
	item.Ref = ref
	put(b, l, ref, record.Observe{Item: item}, record.FirstSeen{At: time.Now().Add(-time.Hour)},
		record.Command{Control: record.Control{Command: "start", Source: "comment", Actor: "octocat"}})
}

// deliverOn commits an attempt and makes it, as a cycle and its queue do.
func (r *rig) deliverOn(b *testing.B, l *store.Ledger, ref workitem.Ref, n int) {
	b.Helper()
	c := octoComment(fmt.Sprintf("IC_%d", n), "octocat", "please do it")
	c.CreatedAt = noon.Add(time.Duration(n) * time.Second)
	id := record.CommentDeliveryID(c.ID)
	put(b, l, ref, record.Hold{Note: record.NoteOf(c)}, record.Queue{Comment: c.ID, DeliveryID: id, Run: testRun})
	item := octoItem()
	item.Ref = ref
	if got := r.host.Deliver(b.Context(), Delivery{Ref: ref, DeliveryID: id, Comment: c, Story: Story{Item: item}}); got != Done {
		b.Errorf("%s: %s", c.ID, got)
	}
}

// grown waits until the harness's log is longer than it was.
func grown(b *testing.B, log string, than int64) int64 {
	for give := time.Now().Add(10 * time.Second); ; <-time.After(100 * time.Microsecond) {
		if info, err := os.Stat(log); err == nil && info.Size() > than {
			return info.Size()
		}
		if time.Now().After(give) {
			b.Fatal("nothing arrived")
		}
	}
}

// From the commit of an attempt to the bytes in the harness's hands, with the
// ledger on disk; the aim is a p50 of at most 15 ms on a quiet machine.
func BenchmarkDelivery(b *testing.B) {
	r := newRig(b)
	l := r.onDisk(b)
	start(b, l, octoRef)
	r.deliverOn(b, l, octoRef, 0)
	r.deliverOn(b, l, octoRef, 1) // waits for the terminal, once
	size := grown(b, r.log, 0)
	var took []time.Duration
	for n := 2; b.Loop(); n++ {
		begin := time.Now()
		r.deliverOn(b, l, octoRef, n)
		size = grown(b, r.log, size)
		took = append(took, time.Since(begin))
	}
	percentiles(b, took)
}

// From a spawn's first commit to the harness's first step; the aim is 100 ms.
func BenchmarkSpawn(b *testing.B) {
	r := newRig(b)
	l := r.onDisk(b)
	var took []time.Duration
	size := int64(0)
	for n := 1; b.Loop(); n++ {
		start(b, l, octo(n))
		begin := time.Now()
		done := make(chan struct{})
		go func() { defer close(done); r.deliverOn(b, l, octo(n), n) }()
		size = grown(b, r.log, size)
		took = append(took, time.Since(begin))
		<-done
		if got := r.host.Close(b.Context(), Close{Ref: octo(n), Reason: "forgotten"}); got != Done {
			b.Fatal(got)
		}
		size = grown(b, r.log, size-1)
	}
	percentiles(b, took)
}

// One comment for each of fifty sessions at once.
func BenchmarkFiftyAtOnce(b *testing.B) {
	const sessions = 50
	r := newRig(b)
	l := r.onDisk(b)
	each := func(n int) {
		var all sync.WaitGroup
		for i := range sessions {
			all.Go(func() { r.deliverOn(b, l, octo(i+1), n) })
		}
		all.Wait()
	}
	for i := range sessions {
		start(b, l, octo(i+1))
	}
	each(0)
	each(1)
	rounds := 2
	for n := 2; b.Loop(); n++ {
		each(n)
		rounds++
	}
	if texts := len(r.texts(sessions * rounds)); texts != sessions*rounds {
		b.Errorf("%d texts of %d", texts, sessions*rounds)
	}
	b.ReportMetric(float64(sessions), "sessions/op")
}

func percentiles(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

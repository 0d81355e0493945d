package daemon

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// BenchmarkInspectDuringCycles asks a poller for one item after the other, as `ledger
// inspect` does, while its cycles commit one transaction for each item of an inbox
// with a new comment on every one. The aim for p99 is 5 ms. Beside each it asks for the
// status, which is answered from memory: "p99-status-ms" is what the machine and the
// socket take of it.
func BenchmarkInspectDuringCycles(b *testing.B) {
	const items = 100
	w := newWorld(b)
	w.configure("octocat", "", "")
	say := func(round int) {
		for n := 1; n <= items; n++ {
			w.write(fmt.Sprintf("inbox/%d/item.md", n), "---\ntitle: item\nauthor: octocat\nlabels: ['the-loop: auto-execute']\n---\nthe-task\n")
			at := time.Date(2026, 1, 2, 0, 0, round, 0, time.UTC).Format("20060102T150405Z")
			w.write(fmt.Sprintf("inbox/%d/comments/%s-octocat.md", n, at), "hello there\n")
		}
	}
	say(0)
	p := w.start(nil)
	defer p.end()
	w.kick()

	stop, stopped := make(chan struct{}), make(chan struct{})
	cycles := 0
	go func() {
		defer close(stopped)
		for round := 1; ; round++ {
			select {
			case <-stop:
				return
			default:
			}
			say(round)
			w.kick()
			cycles++
		}
	}()
	var took, status []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := w.client().Item(b.Context(), ref(1+len(took)%items)); err != nil {
			b.Fatal(err)
		}
		answered := time.Now()
		if _, err := w.client().Status(b.Context()); err != nil {
			b.Fatal(err)
		}
		took, status = append(took, answered.Sub(began)), append(status, time.Since(answered))
	}
	close(stop)
	<-stopped
	b.ReportMetric(percentile(took, 50), "p50-ms")
	b.ReportMetric(percentile(took, 99), "p99-ms")
	b.ReportMetric(percentile(status, 99), "p99-status-ms")
	b.ReportMetric(float64(cycles*items), "commits")
}

// percentile is in milliseconds.
func percentile(took []time.Duration, n int) float64 {
	slices.Sort(took)
	return float64(took[len(took)*n/100].Microseconds()) / 1000
}

package main_test

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What a person waits for: from `poll start --daemon` to its answer that the
// poller is ready; from the signal to the end of a poller that waits (aim:
// 100 ms), of one that is in the middle of its items, and of one with a job that
// hangs, which has ten seconds (C4); the whole of `poll stop`.
func BenchmarkLife(b *testing.B) {
	dir := b.TempDir()
	bin := programs{loop: build(b, "./cmd/the-loop", dir), agent: build(b, "./testdata/harness", dir)}
	b.Run("start to ready", func(b *testing.B) {
		l := newLife(b, bin)
		l.measure(b, func() time.Duration {
			begun := time.Now()
			l.daemon("--interval", "1h")
			took := time.Since(begun)
			l.must("poll", "stop")
			return took
		})
	})
	b.Run("poll stop", func(b *testing.B) {
		l := newLife(b, bin)
		l.measure(b, func() time.Duration {
			l.daemon("--interval", "1h")
			l.must("poll", "kick")
			begun := time.Now()
			l.must("poll", "stop")
			return time.Since(begun)
		})
	})
	b.Run("exit idle", func(b *testing.B) {
		l := newLife(b, bin)
		l.measure(b, func() time.Duration {
			p := l.start("--interval", "1h")
			l.ready(p.Process.Pid)
			return p.exits()
		})
	})
	b.Run("exit among 1000 items", func(b *testing.B) {
		l := newLife(b, bin)
		for n := range 1000 {
			l.item(n+1, false)
		}
		l.measure(b, func() time.Duration {
			l.forgetAll()
			p := l.start("--interval", "1h", "--fresh")
			seen := l.count("poll.first_seen", 0)
			l.until("it is among the items", func() bool { return l.count("poll.first_seen", 0) > seen+50 })
			return p.exits()
		})
	})
	b.Run("exit with a job that hangs", func(b *testing.B) {
		l := newLife(b, bin)
		l.item(1, true)
		l.write("config.yaml", strings.Replace(l.read("config.yaml"), "resumeProbeSeconds: 0", "resumeProbeSeconds: 60", 1))
		b.ReportMetric(float64(l.hangs().Milliseconds()), "ms")
		b.ReportMetric(0, "ns/op")
	})
}

// hangs is how long a poller takes to its end while it watches a session come up.
func (l *life) hangs() time.Duration {
	l.Helper()
	p := l.start("--interval", "1h")
	l.until("a job runs", func() bool { return l.told("the-task") == 1 })
	return p.exits()
}

// exits tells a poller to stop and returns how long that took.
func (p *process) exits() time.Duration {
	p.l.Helper()
	begun := time.Now()
	p.signal(syscall.SIGTERM)
	if code := p.wait(); code != 0 {
		p.l.Errorf("exit code %d: %s", code, &p.stderr)
	}
	return time.Since(begun)
}

// forgetAll leaves nothing of an earlier round.
func (l *life) forgetAll() {
	l.Helper()
	if _, err := l.command("rm", "-rf", l.root()).CombinedOutput(); err != nil {
		l.Fatal(err)
	}
}

// measure reports the median and the worst of what f returns.
func (l *life) measure(b *testing.B, f func() time.Duration) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		took = append(took, f())
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "ms")
	b.ReportMetric(ms(took[len(took)-1]), "ms-worst")
	b.ReportMetric(0, "ns/op") // of everything around it
}

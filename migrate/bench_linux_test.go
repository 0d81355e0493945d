package migrate_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime/metrics"
	"sync"
	"syscall"
	"testing"
	"time"

	"theloop/migrate"
	"theloop/store/storetest"
)

// BenchmarkImport imports 100 000 records with two comments each. It reports
// records a second (20 000 are aimed at), the seconds that all cores worked, which
// say more where others work on them too, and the most memory that the heap held
// meanwhile above what it held before (64 MiB are aimed at).
func BenchmarkImport(b *testing.B) {
	const records = 100_000
	root := inMemory(b)
	many(b, filepath.Join(root, "portable"), records)
	for b.Loop() {
		b.StopTimer()
		l := storetest.OpenAt(b, filepath.Join(inMemory(b), "ledger.db"))
		before := heap()
		most, worked := peak(), work(b)
		b.StartTimer()
		r, err := migrate.Import(b.Context(), migrate.ImportOptions{
			Ledger: l, Places: migrate.Places{Root: root}, Host: here, Version: version,
		})
		b.StopTimer()
		b.ReportMetric((work(b) - worked).Seconds(), "cpu-s")
		b.ReportMetric(float64(most()-before)/(1<<20), "MiB-heap")
		if err != nil || r.Imported != records || len(r.Invalid) > 0 {
			b.Fatalf("%d imported, %d invalid: %v", r.Imported, len(r.Invalid), err)
		}
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
	b.ReportMetric(float64(records)*float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// inMemory is a folder in memory where there is one.
func inMemory(b *testing.B) string {
	dir, err := os.MkdirTemp("/dev/shm", "the-loop-test-*")
	if err != nil {
		return b.TempDir()
	}
	b.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func many(b *testing.B, dir string, records int) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	for n := range records {
		text := fmt.Sprintf(`{"ref": "github:octo/repo#%[1]d", "url": "https://github.com/octo/repo/issues/%[1]d",
  "control": {"ref": "github:octo/repo#%[1]d", "command": "start", "source": "comment", "actor": "octocat", "requestedAt": "2026-07-31T09:11:58Z", "note": ""},
  "poll": {"seenComments": ["IC_%[1]d_1", "IC_%[1]d_2"], "commentAttempts": {}, "lastPolledAt": "2026-07-31T10:42:00Z"}}`, n+1)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("github-octo-repo-%d.json", n+1)), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// work is how long this process has worked, on all cores and in the kernel.
func work(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// heap is what the heap holds now, in bytes.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// peak watches the heap until the most that it held is asked for.
func peak() (most func() uint64) {
	end, watched := make(chan struct{}), sync.WaitGroup{}
	var max uint64
	watched.Go(func() {
		each := time.NewTicker(2 * time.Millisecond)
		defer each.Stop()
		for {
			if now := heap(); now > max {
				max = now
			}
			select {
			case <-each.C:
			case <-end:
				return
			}
		}
	})
	return func() uint64 {
		close(end)
		watched.Wait()
		return max
	}
}

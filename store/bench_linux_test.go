package store_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"theloop/record"
	"theloop/store"
)

// BenchmarkCommit commits an attempt and its return to one item after the other
// of a ledger with 1 000 and with 100 000 items, and next to each commit does
// what no durable commit can do without: write the same bytes and sync them,
// then write a page and sync it. "ratio" is how many times longer the commit
// takes; the aims are 1.5 and 2.0.
func BenchmarkCommit(b *testing.B) {
	for _, items := range []int{1000, 100_000} {
		b.Run(fmt.Sprintf("items=%d", items), func(b *testing.B) {
			l := benchLedger(b, items)
			benchCommits(b, l, items)
		})
	}
}

// BenchmarkBigItem is the same, and reading, for an item with as many comment
// rows as one keeps.
func BenchmarkBigItem(b *testing.B) {
	l := benchLedger(b, 1)
	for n := range record.MaxResolved/1000 - 1 {
		var changes []record.Change
		for i := range 1000 {
			changes = append(changes, record.Baseline{Note: note(commentID(1000*(n+1) + i)), Outcome: record.FirstSight})
		}
		commit(b, l, ref(1), changes...)
	}
	b.Run("record", func(b *testing.B) {
		for b.Loop() {
			get(b, l, ref(1))
		}
	})
	b.Run("unfinished", func(b *testing.B) {
		for b.Loop() {
			_, err := l.Unfinished(b.Context())
			must(b, err)
		}
	})
	b.Run("commit", func(b *testing.B) { benchCommits(b, l, 1) })
}

// BenchmarkWalk reads all of 100 000 items for what a cycle asks of them.
func BenchmarkWalk(b *testing.B) {
	l := benchLedger(b, 100_000)
	b.Run("known", func(b *testing.B) {
		for b.Loop() {
			_, err := l.Known(b.Context(), "s1")
			must(b, err)
		}
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			_, err := l.Check(b.Context())
			must(b, err)
		}
	})
}

// benchLedger has items with five comment rows each.
func benchLedger(b *testing.B, items int) *store.Ledger {
	b.Helper()
	began := time.Now()
	path := filepath.Join(b.TempDir(), "ledger.db")
	l := open(b, path)
	b.Cleanup(func() { shut(b, l) })
	for done := 0; done < items; {
		var writes []store.Write
		for ; done < items && len(writes) < 1000; done++ {
			r := ref(done + 1)
			changes := []record.Change{observe(r, "s1"), record.FirstSeen{At: noon}, record.Hold{Note: note("IC_9")}}
			for i := range 4 {
				changes = append(changes, record.Baseline{Note: note(commentID(i)), Outcome: record.FirstSight})
			}
			writes = append(writes, store.Write{Ref: r, Changes: changes})
		}
		must(b, l.Batch(b.Context(), writes))
	}
	b.Logf("%d items made in %v", items, time.Since(began).Round(time.Millisecond))
	return l
}

func benchCommits(b *testing.B, l *store.Ledger, items int) {
	b.Helper()
	raw, err := os.Create(filepath.Join(filepath.Dir(l.Path()), "raw"))
	must(b, err)
	defer func() { must(b, raw.Close()) }()
	must(b, raw.Truncate(64<<20))
	var commits, pairs time.Duration
	var bytes int64
	for b.Loop() {
		r := ref(rand.IntN(items) + 1)
		rec := get(b, l, r)
		var change record.Change = record.Queue{Comment: "IC_9", DeliveryID: record.CommentDeliveryID("IC_9"), Run: "run-1"}
		if rec.Comments.Pending()[0].InHand() {
			change = record.Release{Comment: "IC_9", DeliveryID: record.CommentDeliveryID("IC_9")}
		}
		written, began := writtenBytes(b), time.Now()
		_, err := l.Commit(b.Context(), r, rec.Item.Rev, []record.Change{change})
		must(b, err)
		commits += time.Since(began)
		written = writtenBytes(b) - written
		bytes += written
		pairs += rawPair(b, raw, written)
	}
	b.ReportMetric(float64(commits)/float64(pairs), "ratio")
	b.ReportMetric(float64(commits.Microseconds())/float64(b.N), "µs/commit")
	b.ReportMetric(float64(bytes)/float64(b.N), "B/commit")
}

// rawPair writes as many bytes as a commit did: all but a page, sync, the page,
// sync.
func rawPair(b *testing.B, f *os.File, size int64) time.Duration {
	b.Helper()
	page := int64(os.Getpagesize())
	data := make([]byte, max(size, 2*page))
	at := rand.Int64N(32<<20/page) * page
	began := time.Now()
	_, err := f.WriteAt(data[page:], at+page)
	must(b, err)
	must(b, unix.Fdatasync(int(f.Fd())))
	_, err = f.WriteAt(data[:page], 0)
	must(b, err)
	must(b, unix.Fdatasync(int(f.Fd())))
	return time.Since(began)
}

// writtenBytes is how much this process has handed to write calls.
func writtenBytes(b *testing.B) int64 {
	b.Helper()
	data, err := os.ReadFile("/proc/self/io")
	must(b, err)
	for line := range strings.Lines(string(data)) {
		if text, ok := strings.CutPrefix(line, "wchar: "); ok {
			n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
			must(b, err)
			return n
		}
	}
	b.Fatal("the kernel does not say how much was written")
	return 0
}

package store_test

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"
	"golang.org/x/sys/unix"

	"theloop/record"
	"theloop/store"
	"theloop/store/storetest"
)

// The aims, on one machine and without the race detector.
const (
	importsPerSecond = 20_000
	listedItems      = 100_000 // in a second
	sizePerJSON      = 3
	// gate is how far from its aim a time may be before a test fails: machines
	// differ, and a test run shares one. Only a cost that grew by magnitudes shows.
	gate = 10
)

// importBatch is what the importer writes at a time.
const importBatch = 1000

// imported is a whole record of an earlier release.
func imported(n int) store.Write {
	rows := make([]record.Comment, 5)
	for i := range rows {
		rows[i] = record.Comment{ID: commentID(n*5 + i), State: record.Baselined, Outcome: record.Imported, Seq: uint64(i + 1)}
	}
	item := record.Item{
		Ref: ref(n).String(), URL: "https://github.com/octo/repo/issues/1", FirstSeenAt: noon, Source: "s1",
		Sections: json.RawMessage(`{"order":["ref","url","poll"]}`),
	}
	return store.Write{Ref: ref(n), Changes: []record.Change{record.Import{Item: item, Comments: rows}}}
}

// importAll makes a ledger of so many records and returns how long the writing
// took.
func importAll(t testing.TB, path string, records int) time.Duration {
	t.Helper()
	l := open(t, path)
	var took time.Duration
	for done := 0; done < records; {
		var writes []store.Write
		for ; done < records && len(writes) < importBatch; done++ {
			writes = append(writes, imported(done+1))
		}
		began := time.Now()
		must(t, l.Batch(t.Context(), writes))
		took += time.Since(began)
	}
	shut(t, l)
	return took
}

// listAll reads every item, as ledger list does.
func listAll(t testing.TB, path string) (items int, took time.Duration) {
	t.Helper()
	began := time.Now()
	opts := options(path)
	opts.ReadOnly = true
	l, err := store.Open(t.Context(), opts)
	must(t, err)
	for _, err := range l.Items(t.Context()) {
		must(t, err)
		items++
	}
	closes(t, l) // the check is no part of it
	return items, time.Since(began)
}

// sizes returns the length of a ledger and that of the JSON in it.
func sizes(t testing.TB, path string) (file, inside int64) {
	t.Helper()
	db, err := bolt.Open(path, 0o600, &bolt.Options{ReadOnly: true})
	must(t, err)
	must(t, errors.Join(db.View(func(tx *bolt.Tx) error {
		file = tx.Size()
		return tx.ForEach(func(_ []byte, b *bolt.Bucket) error {
			return b.ForEach(func(_, v []byte) error { inside += int64(len(v)); return nil })
		})
	}), db.Close()))
	return file, inside
}

// BenchmarkImport writes 100 000 records; the aim is 20 000 a second.
func BenchmarkImport(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.db")
	const records = 100_000
	took := importAll(b, path, records)
	b.ReportMetric(records/took.Seconds(), "records/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkList lists 100 000 items offline, from opening to closing; the aim is
// a second.
func BenchmarkList(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.db")
	importAll(b, path, listedItems)
	for b.Loop() {
		if items, _ := listAll(b, path); items != listedItems {
			b.Fatalf("%d items", items)
		}
	}
	b.StopTimer()
	storetest.Check(b, path)
}

// BenchmarkSize says how many bytes a ledger takes for each byte of JSON in it:
// after 100 000 records were written, and compacted. The aim for the latter is 3.
func BenchmarkSize(b *testing.B) {
	path := filepath.Join(b.TempDir(), "ledger.db")
	importAll(b, path, listedItems)
	file, inside := sizes(b, path)
	b.ReportMetric(float64(file)/float64(inside), "written/JSON")
	_, _, err := store.Compact(b.Context(), options(path))
	must(b, err)
	file, inside = sizes(b, path)
	b.ReportMetric(float64(file)/float64(inside), "compacted/JSON")
	b.ReportMetric(0, "ns/op")
}

// TestSpeed fails when importing or listing takes ten times what it should, or
// when a compacted ledger is larger than three times the JSON in it.
func TestSpeed(t *testing.T) {
	path := filepath.Join(fastFolder(t), "ledger.db")
	const records = 2000
	began := processorTime(t)
	importAll(t, path, records)
	fastEnough(t, "records imported", records, processorTime(t)-began, importsPerSecond)
	began = processorTime(t)
	_, _ = listAll(t, path)
	fastEnough(t, "items listed", records, processorTime(t)-began, listedItems)
	storetest.Check(t, path)
	_, _, err := store.Compact(t.Context(), options(path))
	must(t, err)
	file, inside := sizes(t, path)
	if ratio := float64(file) / float64(inside); ratio > sizePerJSON {
		t.Errorf("the compacted file is %.1f times the JSON in it", ratio)
	}
}

func fastEnough(t *testing.T, what string, n int, took time.Duration, aim float64) {
	t.Helper()
	rate := float64(n) / took.Seconds()
	t.Logf("%.0f %s in a second of processor time", rate, what)
	if rate < aim/gate/slowdown {
		t.Errorf("%.0f %s a second; the aim is %.0f, and it is missed by more than %d times", rate, what, aim, gate)
	}
}

// processorTime is what this process has used: it does not depend on what else
// the machine does.
func processorTime(t testing.TB) time.Duration {
	t.Helper()
	var used unix.Rusage
	must(t, unix.Getrusage(unix.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

package migrate_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"theloop/migrate"
)

// Large records are read one after the other: what an import holds at once does not
// grow with their number.
func TestLargeRecords(t *testing.T) {
	const files, size = 20, 5 << 18
	w := newWorld(t)
	large := strings.Repeat("y", size)
	for n := range files {
		w.file(fmt.Sprintf("portable/%d.json", n), fmt.Sprintf(`{"ref":"github:octo/repo#%d","poll":{},"x":%q}`, n+1, large))
	}
	done, most := make(chan struct{}), make(chan uint64)
	go func() {
		var m runtime.MemStats
		peak := uint64(0)
		for tick := time.NewTicker(20 * time.Millisecond); ; <-tick.C {
			runtime.GC() // so that it is what is held
			runtime.ReadMemStats(&m)
			peak = max(peak, m.HeapAlloc)
			select {
			case <-done:
				most <- peak
				return
			default:
			}
		}
	}()
	r := w.imports(func(o *migrate.ImportOptions) { o.DryRun = true })
	close(done)
	if peak := <-most; r.Imported != files || peak > files*size {
		t.Errorf("%d imported, %d MiB held", r.Imported, peak>>20)
	} else {
		t.Logf("%d MiB held", peak>>20)
	}
}

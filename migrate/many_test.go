package migrate_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"theloop/migrate"
)

// A file may be wrong in every entry, and every item may be in two files: each is
// listed by its own line, and the time that takes grows with their number, not with
// its square (then it would be minutes here).
func TestFaultsByTheThousand(t *testing.T) {
	const many, patience = 6_000, 30 * time.Second
	w := newWorld(t)
	var polls, pulls strings.Builder
	for n := range many {
		fmt.Fprintf(&polls, "\"github:octo/bad#%d\": {\"seenComments\":[\n\"not an id\"]},\n", n+1)
		fmt.Fprintf(&polls, "\"github:octo/repo#%d\": {}, \"github:Octo/repo#%d\": {},\n", n+1, n+1)
		fmt.Fprintf(&pulls, "%d,\n", n)
	}
	w.file("poll-state.json", "{\"items\": {\n"+polls.String()+"\"github:octo/repo#99999\": {}}}")
	w.file("local/1.json", strings.TrimSuffix(handle("github:octo/repo#1", w.root, "active"), "}")+
		",\n\"pullRequests\":[\n"+pulls.String()+"0]}")
	begin := time.Now()
	r := w.imports(func(o *migrate.ImportOptions) { o.DryRun = true })
	if took := time.Since(begin); took > patience {
		t.Errorf("it took %s", took)
	}
	if len(r.Invalid) != 2*many+1 || len(r.Merged) != many {
		t.Fatalf("%d invalid, %d merged", len(r.Invalid), len(r.Merged))
	}
	line := map[string]int{}
	for _, i := range r.Invalid {
		line[strings.SplitN(i.Reason, ".seen", 2)[0]] = i.Line
	}
	for n := range many {
		// Of its three lines, the second one has the fault.
		if got := line[fmt.Sprintf("items.github:octo/bad#%d", n+1)]; got != 3*n+3 {
			t.Fatalf("entry %d is listed on line %d", n, got)
		}
	}
}

// A stop ends an import while it reads, before it has written anything.
func TestStoppedWhileItReads(t *testing.T) {
	w := newWorld(t)
	for n := range 200 {
		w.file(fmt.Sprintf("portable/%d.json", n), fmt.Sprintf(`{"ref":"github:octo/repo#%d","poll":{}}`, n+1))
	}
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	_, err := migrate.Import(ctx, w.options(func(o *migrate.ImportOptions) {
		o.Progress = func(step migrate.Step, done, _ int) { read = done; cancel() }
	}))
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 of 200 files") || read != 1 {
		t.Errorf("after %d files: %v", read, err)
	}
	if rec := w.record("github:octo/repo#1"); rec.Item.Known() {
		t.Errorf("written: %+v", rec.Item)
	}
}

package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"theloop/record"
	"theloop/store"
	"theloop/workitem"
)

// step is one transaction: writes to items, or the end of a cycle.
type step []store.Write

// script returns steps, the same ones every time, and what the ledger holds
// before the first and after each, as record.Apply says. Rows of all sizes are
// made, changed and removed, so that pages are split, joined, freed and used
// again, and the file grows.
func script(n int) (steps []step, states []string) {
	random := rand.New(rand.NewPCG(1, 2))
	records := map[string]record.Record{}
	cycles := 0
	states = append(states, fingerprint(records, cycles))
	for len(steps) < n {
		var s step
		if len(steps)%7 != 6 {
			if s = scriptedWrites(random, records); s == nil {
				continue
			}
		} else {
			cycles++
		}
		steps, states = append(steps, s), append(states, fingerprint(records, cycles))
	}
	return steps, states
}

func scriptedItems() (all []workitem.Ref) {
	for n := range 5 {
		all = append(all, ref(n*n*n+1))
	}
	return all
}

// scriptedWrites makes up changes to one item or two and applies them to the
// model.
func scriptedWrites(random *rand.Rand, records map[string]record.Record) (s step) {
	refs := scriptedItems()
	for range 1 + random.IntN(2) {
		r := refs[random.IntN(len(refs))]
		before := records[r.Key()]
		if len(s) > 0 && s[0].Ref == r {
			continue
		}
		w := store.Write{Ref: r, Rev: before.Item.Rev}
		for _, c := range scriptedChanges(random, r, before) {
			if _, _, err := record.Apply(before, append(w.Changes[:len(w.Changes):len(w.Changes)], c)); err == nil {
				w.Changes = append(w.Changes, c)
			}
		}
		after, applied, err := record.Apply(before, w.Changes)
		if err != nil || len(applied) == 0 {
			continue
		}
		records[r.Key()] = after
		s = append(s, w)
	}
	return s
}

func scriptedChanges(random *rand.Rand, r workitem.Ref, rec record.Record) []record.Change {
	item := workitem.Item{Ref: r, Kind: workitem.Issue, Title: strings.Repeat("t", 1<<random.IntN(13)), Source: "s1"}
	id := func() string { return fmt.Sprintf("IC_%d_%s", random.IntN(12), strings.Repeat("x", random.IntN(100))) }
	changes := []record.Change{record.Observe{Item: item}, record.FirstSeen{At: noon}}
	for range random.IntN(4) {
		changes = append(changes, record.Baseline{Note: note(id()), Outcome: record.FirstSight})
	}
	changes = append(changes, queued(id())...)
	for _, c := range rec.Comments.Pending() {
		changes = append(changes, record.Release{Comment: c.ID, DeliveryID: c.DeliveryID}, record.Deliver{Comment: c.ID})
	}
	if random.IntN(4) == 0 {
		changes = append(changes, record.End{At: noon}, record.Forget{})
	}
	return changes
}

// fingerprint is everything that a ledger holds, in one line.
func fingerprint(records map[string]record.Record, cycles int) string {
	var all []any
	for _, r := range scriptedItems() {
		rec := records[r.Key()]
		all = append(all, rec.Item, rec.Comments.All(), rec.Session, rec.Link)
	}
	text, err := json.Marshal(append(all, cycles))
	if err != nil {
		return err.Error()
	}
	return strings.ReplaceAll(string(text), "[]", "null")
}

func fingerprintOf(ctx context.Context, l *store.Ledger) (string, error) {
	records := map[string]record.Record{}
	for _, r := range scriptedItems() {
		rec, err := l.Record(ctx, r)
		if err != nil {
			return "", err
		}
		records[r.Key()] = rec
	}
	cycles, err := l.Cycles(ctx, 0)
	return fingerprint(records, len(cycles)), err
}

func (s step) do(ctx context.Context, l *store.Ledger) error {
	if s == nil {
		return l.EndCycle(ctx, record.Cycle{At: noon}, nil)
	}
	return l.Batch(ctx, s)
}

// The marks that a child leaves in a file of its own, so that they are in the
// record of its calls: what it is about to do, and what returned.
const (
	marksFile = "marks"
	made      = "made"
	begun     = "begin "
	done      = "done "
)

// childScript does the steps [from, to) of the script with the ledger in a
// folder, and says what it is about to do and what returned. A commit whose
// outcome is unknown is decided again on what is there then (B9); that it is
// there is no promise yet. With "compact" as the last argument it ends in that.
func childScript(args []string) error {
	runtime.LockOSThread() // strace counts the calls of a thread
	ctx := context.Background()
	from, _ := strconv.Atoi(args[1])
	to, _ := strconv.Atoi(args[2])
	steps, states := script(to)
	marks, err := os.Create(filepath.Join(args[0], marksFile))
	if err != nil {
		return err
	}
	mark := func(text string) { _, err = marks.WriteAt([]byte(text), 0) }
	opts := options(filepath.Join(args[0], store.File))
	_, before := os.Lstat(opts.Path)
	l, err := store.Open(ctx, opts)
	if err != nil {
		return err
	}
	if errors.Is(before, fs.ErrNotExist) {
		mark(made)
	}
	for k := from; k < to; k++ {
		mark(fmt.Sprint(begun, k+1))
		if err := retry(ctx, l, steps[k], states[k:k+2], func() { mark(fmt.Sprint(done, k+1)) }); err != nil {
			return err
		}
	}
	if err := l.Close(); err != nil || len(args) < 4 {
		return err
	}
	_, _, err = store.Compact(ctx, opts)
	mark("compacted")
	return err
}

// retry does a step until it is there, and calls returned if it returned.
func retry(ctx context.Context, l *store.Ledger, s step, states []string, returned func()) error {
	for {
		failed := s.do(ctx, l)
		if failed == nil {
			returned()
			return nil
		}
		if !errors.Is(failed, record.ErrUnknown) && !errors.Is(failed, unix.EIO) {
			return failed
		}
		is, err := fingerprintOf(ctx, l)
		switch {
		case err != nil:
			return fmt.Errorf("read after %w: %w", failed, err)
		case is == states[1] && errors.Is(failed, record.ErrUnknown):
			return nil
		case is != states[0]:
			return fmt.Errorf("after %w the ledger is neither as before nor as after it", failed)
		}
	}
}

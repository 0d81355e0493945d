package store_test

import (
	"context"
	"fmt"
	"hash/maphash"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"theloop/store"
)

// TestPowerCut records every write and sync of a process that makes a ledger,
// commits to it and compacts it, and makes the files that a power cut at any
// moment of that would leave. Every one of them opens, passes the check, and is
// the ledger of some commit, which is no older than the last one that returned
// (F1, F5). A ledger whose making was cut off is not there or is whole.
func TestPowerCut(t *testing.T) {
	dir := fastFolder(t)
	const steps = 80
	calls := traced(t, nil, "script", dir, "0", fmt.Sprint(steps), "compact")
	cut(t, newDisk(), -1, calls, steps, 2000)
}

// TestPowerCutAfterFailedSyncs is the same on a disk whose syncs fail now and
// then: what one of them should have written may be read all the time and be on
// no disk. Nothing that stands may be given up for it.
func TestPowerCutAfterFailedSyncs(t *testing.T) {
	dir := fastFolder(t)
	const steps = 28
	runs(t, "script", dir, "0", "5")
	before := laid(t, filepath.Join(dir, store.File))
	calls := traced(t, []string{"-e", "inject=fdatasync,fsync:error=EIO:when=2+5"}, "script", dir, "5", fmt.Sprint(steps))
	failed := 0
	for _, c := range calls {
		if c.syncs() && c.failed {
			failed++
		}
	}
	if failed < 10 {
		t.Fatalf("only %d syncs failed", failed)
	}
	cut(t, before, 5, calls, steps, 900)
}

// TestPowerCutAfterKill: a process that is killed between a write and the sync
// behind it leaves what the next one reads and no disk has. What that one does
// then must not rely on it.
func TestPowerCutAfterKill(t *testing.T) {
	const steps = 12
	calls := traced(t, nil, "script", fastFolder(t), "0", fmt.Sprint(steps))
	for _, until := range killMoments(calls) {
		dir := fastFolder(t)
		d := newDisk()
		for _, c := range calls[:until] {
			d.do(c)
		}
		for name, f := range d.now {
			must(t, os.WriteFile(filepath.Join(dir, name), f.whole(), 0o600))
		}
		from, err := stateOf(t.Context(), filepath.Join(dir, store.File), steps)
		must(t, err)
		rest := traced(t, nil, "script", dir, fmt.Sprint(from), fmt.Sprint(min(from+5, steps)))
		cut(t, newDisk(), -1, append(calls[:until:until], rest...), steps, 80)
	}
}

// killMoments are right behind the first rename, behind a write of a row's page
// and behind two of the meta page.
func killMoments(calls []call) (all []int) {
	metas, rows := 0, 0
	for i, c := range calls {
		if c.file != store.File || c.name != "pwrite64" {
			if c.to == store.File {
				all = append(all, i+1)
			}
			continue
		}
		if c.at > 4096 {
			if rows++; rows == 20 {
				all = append(all, i+1)
			}
		} else if metas++; metas%3 == 2 {
			all = append(all, i+1)
		}
	}
	return all
}

// cut checks what a power cut at any moment of the calls would leave on a disk
// with commit least on it, -1 for none. So many of them at least have to be
// different ones.
func cut(t *testing.T, d *disk, least int, calls []call, steps, atLeast int) {
	t.Helper()
	known := newKnown(steps)
	images := make(chan image)
	var workers sync.WaitGroup
	var first sync.Once // the others follow from it
	for range runtime.GOMAXPROCS(0) {
		dir := fastFolder(t)
		workers.Go(func() {
			for i := range images {
				if err := i.check(t.Context(), dir, known); err != nil {
					first.Do(func() {
						t.Errorf("a power cut before call %d of %d, with commit %d done and %d begun: %v", i.at, len(calls), i.least, i.most, err)
					})
				}
			}
		})
	}
	n := imagesOf(d, least, calls, rounds(t, 8), images)
	close(images)
	workers.Wait()
	t.Logf("%d calls, %d different images", len(calls), n)
	if n < atLeast {
		t.Errorf("only %d images were tried", n)
	}
}

// image is the files that a power cut leaves, and which commits may be the last
// one in them; least is -1 when there may be no ledger.
type image struct {
	files           map[string][]byte
	at, least, most int
}

// imagesOf sends every image once and returns how many there are. What is
// pending at a sync holds all that was pending since the sync before.
func imagesOf(d *disk, least int, calls []call, samples int, to chan<- image) int {
	random := rand.New(rand.NewPCG(3, 4))
	seed, seen := maphash.MakeSeed(), map[uint64]bool{}
	most := max(least, 0)
	for i, c := range calls {
		if c.file == marksFile {
			least, most = marked(c, least, most)
			continue
		}
		if c.syncs() {
			d.images(samples, random, func(files map[string][]byte) {
				im := image{files, i, least, most}
				if sum := im.hash(seed); !seen[sum] {
					seen[sum] = true
					to <- im
				}
			})
		}
		d.do(c)
	}
	return len(seen)
}

func marked(c call, least, most int) (int, int) {
	text := string(c.data)
	if text == made {
		return max(least, 0), most
	}
	if n, ok := strings.CutPrefix(text, begun); ok {
		k, _ := strconv.Atoi(n)
		return least, max(most, k)
	}
	if n, ok := strings.CutPrefix(text, done); ok {
		k, _ := strconv.Atoi(n)
		return max(least, k), most
	}
	return least, most
}

// hash is the same for the same files of which the same is demanded.
func (i image) hash(seed maphash.Seed) uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	maphash.WriteComparable(&h, [2]int{i.least, i.most})
	for _, name := range slices.Sorted(maps.Keys(i.files)) {
		_, _ = h.WriteString(name)
		_, _ = h.Write(i.files[name])
	}
	return h.Sum64()
}

// check opens what is left in a folder.
func (i image) check(ctx context.Context, dir string, known *known) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	for name, data := range i.files {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			return err
		}
	}
	if _, is := i.files[store.File]; !is && i.least >= 0 {
		return fmt.Errorf("there is no ledger")
	}
	return i.open(ctx, dir, known)
}

func (i image) open(ctx context.Context, dir string, known *known) (err error) {
	l, err := store.Open(ctx, options(filepath.Join(dir, store.File)))
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	problems, err := l.CheckPages(ctx)
	if err != nil || len(problems) > 0 {
		return fmt.Errorf("check: %v, %w", problems, err)
	}
	k, err := known.commit(ctx, l)
	if err != nil {
		return err
	}
	if k < i.least || k > i.most {
		return fmt.Errorf("it is the ledger of commit %d", k)
	}
	return nil
}

// known says of which commit a ledger is.
type known struct {
	// commits is by fingerprint, looked is what was found by the hash of the rows:
	// rows that were looked at once need not be decoded again.
	commits map[string]int
	seed    maphash.Seed
	mu      sync.Mutex
	looked  map[uint64]int
}

func newKnown(steps int) *known {
	k := &known{commits: map[string]int{}, seed: maphash.MakeSeed(), looked: map[uint64]int{}}
	_, states := script(steps)
	for n, s := range states {
		k.commits[s] = n
	}
	return k
}

func (k *known) commit(ctx context.Context, l *store.Ledger) (int, error) {
	sum, err := l.Sum(ctx, k.seed)
	if err != nil {
		return 0, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if n, is := k.looked[sum]; is {
		return n, nil
	}
	problems, err := l.Check(ctx)
	if err != nil || len(problems) > 0 {
		return 0, fmt.Errorf("check: %v, %w", problems, err)
	}
	text, err := fingerprintOf(ctx, l)
	if err != nil {
		return 0, err
	}
	n, is := k.commits[text]
	if !is {
		return 0, fmt.Errorf("it is the ledger of no commit: %s", text)
	}
	k.looked[sum] = n
	return n, nil
}

// stateOf returns of which commit of the script a ledger is.
func stateOf(ctx context.Context, path string, steps int) (int, error) {
	l, err := store.Open(ctx, options(path))
	if err != nil {
		return 0, err
	}
	defer func() { _ = l.Close() }()
	_, states := script(steps)
	text, err := fingerprintOf(ctx, l)
	return slices.Index(states, text), err
}

// laid is a disk with a ledger on it.
func laid(t *testing.T, path string) *disk {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	d := newDisk()
	d.now[store.File] = &inode{data: data}
	d.synced = maps.Clone(d.now)
	return d
}

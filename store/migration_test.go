package store_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
	"theloop/store"
)

// later is a release of this program that has schema 3: with schema 2 each item
// gets a row in a bucket of its own, with schema 3 that is a key of the item.
func later(path string) store.Options {
	opts := options(path)
	opts.Writer = "3.0.0"
	opts.SetSchema(3, map[int]func(*bolt.Tx) error{1: toSchema2, 2: toSchema3})
	return opts
}

func toSchema2(tx *bolt.Tx) error {
	notes, err := tx.CreateBucket([]byte("notes"))
	if err != nil {
		return err
	}
	return tx.Bucket([]byte("items")).ForEach(func(k, _ []byte) error {
		return notes.Put(k, []byte(strings.Repeat("a note ", 30)))
	})
}

func toSchema3(tx *bolt.Tx) error {
	items, notes := tx.Bucket([]byte("items")), tx.Bucket([]byte("notes"))
	rows := map[string]json.RawMessage{}
	err := notes.ForEach(func(k, v []byte) error {
		row := map[string]any{}
		if err := json.Unmarshal(items.Get(k), &row); err != nil {
			return err
		}
		row["extra"] = map[string]any{"note": string(v)}
		value, err := json.Marshal(row)
		rows[string(k)] = value
		return err
	})
	for key, value := range rows {
		err = errors.Join(err, items.Put([]byte(key), value))
	}
	return errors.Join(err, tx.DeleteBucket([]byte("notes")))
}

// TestMigrate brings a real ledger over two schemas at once: every row came
// along, a copy of what it was lies beside it and is a ledger to the release
// before, and it happens once.
func TestMigrate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 300)
	before, instance := sumOf(t, options(path))
	var said bytes.Buffer
	opts := later(path)
	opts.Log = slog.New(slog.NewTextHandler(&said, nil))
	l, err := store.Open(t.Context(), opts)
	must(t, err)
	if l.Instance() != instance {
		t.Errorf("its instance was %q and is %q", instance, l.Instance())
	}
	for n := range 300 {
		rec := get(t, l, ref(n+1))
		if rec.Comments.Len() != 6 || !bytes.Contains(rec.Item.Extra["note"], []byte("a note")) {
			t.Fatalf("item %d became %+v", n+1, rec.Item)
		}
	}
	problems, err := l.Check(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("check: %v, %v", problems, err)
	}
	commit(t, l, ref(1), record.Deliver{Comment: "IC_9"})
	closes(t, l)

	kept := path + ".v1.bak"
	if !strings.Contains(said.String(), kept) {
		t.Errorf("nobody was told of the copy: %s", &said)
	}
	info, err := os.Stat(kept)
	must(t, err)
	if mode := info.Mode(); mode != 0o600 {
		t.Errorf("the copy has mode %v", mode)
	}
	if sum, _ := sumOf(t, options(kept)); sum != before {
		t.Error("the copy is not what the ledger was")
	}
	folder := contents(t, filepath.Dir(path))
	l, err = store.Open(t.Context(), later(path))
	must(t, err)
	closes(t, l)
	same(t, "the folder after another start", folder, contents(t, filepath.Dir(path)))

	_, err = store.Open(t.Context(), options(path)) // the release before
	var newer *store.SchemaError
	if !errors.As(err, &newer) || newer.Found != 3 || newer.Known != 1 || newer.Writer != "3.0.0" {
		t.Errorf("the release before says: %v", err)
	}
}

// TestMigrateNeedsAWay: a ledger from which there is no way without a gap is
// refused by name, and so is one of a schema that there never was.
func TestMigrateNeedsAWay(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 2)
	before := contents(t, filepath.Dir(path))
	opts := later(path)
	opts.SetSchema(5, map[int]func(*bolt.Tx) error{1: toSchema2, 3: toSchema2, 4: toSchema2})
	_, err := store.Open(t.Context(), opts)
	var old *store.SchemaError
	if !errors.As(err, &old) || old.Older() || old.Found != 1 || old.Known != 5 || old.Oldest != 3 {
		t.Fatal(err)
	}
	for _, part := range []string{path, "schema 1", "0.0.0-test", "schema 5", "from schema 3 on", "a release in between"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	same(t, "the folder", before, contents(t, filepath.Dir(path)))
}

// TestReaderMigratesNothing: who opens it for reading only says what to do and
// writes nothing. Its pages can be looked at all the same: a start after an
// unclean stop does that before it migrates.
func TestReaderMigratesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 40)
	before := contents(t, filepath.Dir(path))
	opts := later(path)
	opts.ReadOnly = true
	_, err := store.Open(t.Context(), opts)
	var old *store.SchemaError
	if !errors.As(err, &old) || !old.Older() || old.Found != 1 || old.Known != 3 {
		t.Fatal(err)
	}
	for _, part := range []string{path, "schema 1", "0.0.0-test", "schema 3", "`the-loop poll start` migrates it"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	if _, err := store.CheckFileWith(t.Context(), later(path)); !errors.As(err, &old) {
		t.Errorf("its pages are sound, and the check says: %v", err)
	}
	var said bytes.Buffer
	must(t, store.ReportCheckWith(t.Context(), later(path), &said))
	if got := said.String(); got != "{\"begun\":true}\n{}\n" {
		t.Errorf("a start after an unclean stop is told %q", got)
	}
	same(t, "the folder", before, contents(t, filepath.Dir(path)))
}

// TestSpoiledIsNotMigrated: a ledger whose pages do not hold together is left as
// it is, and the check, which a reader runs, says so whatever its schema.
func TestSpoiledIsNotMigrated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	spoil(t, path)
	before := contents(t, filepath.Dir(path))
	problems, err := store.CheckFileWith(t.Context(), later(path))
	if err != nil || len(problems) == 0 {
		t.Errorf("the check says: %v, %v", problems, err)
	}
	var damaged *store.DamagedError
	if _, err = store.Open(t.Context(), later(path)); !errors.As(err, &damaged) {
		t.Errorf("it was migrated: %v", err)
	}
	same(t, "the folder", before, contents(t, filepath.Dir(path)))
}

// TestMigrateKeepsCopies: nothing that has the name of the copy is written over.
// The copy that a migration left which was cut off is taken as it is.
func TestMigrateKeepsCopies(t *testing.T) {
	for name, c := range map[string]struct {
		lay  func(t *testing.T, kept string)
		want string // where the copy is
	}{
		"nothing":                         {func(*testing.T, string) {}, ".v1.bak"},
		"text":                            {write([]byte("mine")), ".v1.bak.2"},
		"a folder":                        {func(t *testing.T, kept string) { must(t, os.Mkdir(kept, 0o700)) }, ".v1.bak.2"},
		"a dangling link":                 {func(t *testing.T, kept string) { must(t, os.Symlink("/no/where", kept)) }, ".v1.bak.2"},
		"another ledger":                  {func(t *testing.T, kept string) { populate(t, kept, 40) }, ".v1.bak.2"},
		"two others":                      {func(t *testing.T, kept string) { populate(t, kept, 40); populate(t, kept+".2", 3) }, ".v1.bak.3"},
		"an earlier state":                {earlier, ".v1.bak.2"},
		"this state, cut off in its rows": {cutOff, ".v1.bak"},
		"this state":                      {func(t *testing.T, kept string) { copyFile(t, strings.TrimSuffix(kept, ".v1.bak"), kept) }, ".v1.bak"},
		"this state, behind another one": {func(t *testing.T, kept string) {
			write([]byte("mine"))(t, kept)
			copyFile(t, strings.TrimSuffix(kept, ".v1.bak"), kept+".2")
		}, ".v1.bak.2"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			populate(t, path, 40)
			c.lay(t, path+".v1.bak")
			sum, _ := sumOf(t, options(path))
			before := contents(t, filepath.Dir(path))
			l, err := store.Open(t.Context(), later(path))
			must(t, err)
			closes(t, l)
			if is, _ := sumOf(t, options(path+c.want)); is != sum {
				t.Errorf("%s is not what the ledger was", c.want)
			}
			after := contents(t, filepath.Dir(path))
			delete(before, "ledger.db")
			delete(after, "ledger.db")
			if before["ledger.db"+c.want] == "" {
				delete(after, "ledger.db"+c.want)
			}
			same(t, "what was there", before, after)
		})
	}
}

// earlier lays a copy of the ledger and commits to the ledger then.
func earlier(t *testing.T, kept string) {
	path := strings.TrimSuffix(kept, ".v1.bak")
	copyFile(t, path, kept)
	l := open(t, path)
	commit(t, l, ref(1), record.Deliver{Comment: "IC_9"})
	shut(t, l)
}

// cutOff leaves what a migration leaves whose pages were written and which no
// meta page names: the copy is that of this state, although the file's unused
// pages are others than they were.
func cutOff(t *testing.T, kept string) {
	path := strings.TrimSuffix(kept, ".v1.bak")
	runs(t, "migrate", path)
	migrated, err := os.ReadFile(path)
	must(t, err)
	for page := range 2 { // the meta pages of before
		old, err := os.ReadFile(kept)
		must(t, err)
		copy(migrated[page*os.Getpagesize():], old[page*os.Getpagesize():(page+1)*os.Getpagesize()])
	}
	must(t, os.WriteFile(path, migrated, 0o600))
}

// seed makes sums of several ledgers comparable.
var seed = maphash.MakeSeed()

// sumOf is a hash of all rows of a ledger that nobody has open.
func sumOf(t testing.TB, opts store.Options) (sum uint64, instance string) {
	t.Helper()
	sum, instance, err := sumWith(t.Context(), opts)
	must(t, err)
	return sum, instance
}

func sumWith(ctx context.Context, opts store.Options) (sum uint64, instance string, err error) {
	opts.ReadOnly = true
	l, err := store.Open(ctx, opts)
	if err != nil {
		return 0, "", err
	}
	sum, err = l.Sum(ctx, seed)
	return sum, l.Instance(), errors.Join(err, l.Close())
}

// migrationSteps is where a migration of two schemas may end.
var migrationSteps = []string{"copy", "copied", "placed", "schema 2", "schema 3", "committed"}

// childMigrate opens a ledger with the later release, and ends in the middle of
// it when a second argument says where.
func childMigrate(args []string) error {
	opts := later(args[0])
	opts.OnMigrating(func(step string) error {
		if len(args) > 1 && args[1] == step {
			return endAs("killed")
		}
		return nil
	})
	l, err := store.Open(context.Background(), opts)
	if err != nil {
		return err
	}
	return l.Close()
}

// TestMigrateCutOff: whether it fails at a step or is killed there, the ledger is
// the old one or the migrated one, and the next start has a whole one with one
// copy beside it.
func TestMigrateCutOff(t *testing.T) {
	whole := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, whole, 300)
	old, _ := sumOf(t, options(whole))
	done := filepath.Join(t.TempDir(), "ledger.db")
	copyFile(t, whole, done)
	runs(t, "migrate", done)
	migrated, _ := sumOf(t, later(done))
	for _, step := range migrationSteps {
		for _, how := range []string{"fails", "killed"} {
			t.Run(step+" "+how, func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "ledger.db")
				copyFile(t, whole, path)
				if how == "killed" {
					c := start(t, "migrate", path, step)
					if err := c.finish(); err == nil || !strings.Contains(err.Error(), "killed") {
						t.Fatalf("it was to be killed: %v", err)
					}
				} else {
					failMigration(t, path, step)
				}
				if is := stateIs(t, path, old, migrated); is == migrated != (step == "committed") {
					t.Errorf("it is migrated: %t", is == migrated)
				}
				runs(t, "migrate", path)
				if is, _ := sumOf(t, later(path)); is != migrated {
					t.Error("the next start did not migrate it")
				}
				if is, _ := sumOf(t, options(path+".v1.bak")); is != old {
					t.Error("the copy is not what the ledger was")
				}
				if entries, _ := os.ReadDir(filepath.Dir(path)); len(entries) != 2 {
					t.Errorf("%v lie there", entries)
				}
			})
		}
	}
}

func failMigration(t *testing.T, path, step string) {
	t.Helper()
	opts := later(path)
	opts.OnMigrating(func(s string) error {
		if s == step {
			return errors.New("the step failed")
		}
		return nil
	})
	_, err := store.Open(t.Context(), opts)
	for _, part := range []string{"the step failed", path, "from schema 1 to 3"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// stateIs opens a ledger with the release that it is for.
func stateIs(t testing.TB, path string, old, migrated uint64) uint64 {
	t.Helper()
	sum, err := eitherState(t.Context(), path)
	must(t, err)
	if sum != old && sum != migrated {
		t.Fatal("it is neither the old ledger nor the migrated one")
	}
	return sum
}

func eitherState(ctx context.Context, path string) (uint64, error) {
	sum, _, err := sumWith(ctx, options(path))
	var newer *store.SchemaError
	if errors.As(err, &newer) {
		sum, _, err = sumWith(ctx, later(path))
	}
	if err != nil {
		return 0, fmt.Errorf("open what is left: %w", err)
	}
	return sum, nil
}

package store_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"theloop/store"
)

// TestRefused: whatever is at the path and is no ledger of ours is refused by
// name and left as it was, byte for byte, by writers and by readers.
func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		lay  func(t *testing.T, path string)
		want string
	}{
		"0 bytes":           {write(nil), "is empty"},
		"1 byte":            {write([]byte("x")), `begins with "x"`},
		"text":              {write([]byte(strings.Repeat("not a ledger\n", 2000))), `begins with "not a ledger`},
		"zeros":             {write(make([]byte, 65536)), "is no ledger"},
		"another database":  {write(append([]byte("SQLite format 3\x00"), make([]byte, 8192)...)), `"SQLite format 3`},
		"a folder":          {func(t *testing.T, path string) { must(t, os.Mkdir(path, 0o700)) }, "is a folder"},
		"a symbolic link":   {symlink, "symbolic link"},
		"a dangling link":   {func(t *testing.T, path string) { must(t, os.Symlink(path+".no", path)) }, "symbolic link"},
		"a FIFO":            {fifo, "no regular file"},
		"two names":         {hardLink, "has 2 names"},
		"a wrong checksum":  {poke(0, 16+40, 0xFF), ""},
		"both checksums":    {func(t *testing.T, path string) { poke(0, 16+40, 0xFF)(t, path); poke(1, 16+40, 0xFF)(t, path) }, "checksum"},
		"another version":   {func(t *testing.T, path string) { poke(0, 16+4, 9)(t, path); poke(1, 16+4, 9)(t, path) }, "version 9"},
		"no root":           {pokeAt("root", 8, 0x40), "is not its root"},
		"no free list":      {pokeAt("freelist", 0, 0x7F), "list of free pages"},
		"a missing bucket":  {edit(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("links")) }), `without the bucket "links"`},
		"no schema":         {edit(setMeta("schema", "")), "names no schema"},
		"an impossible one": {edit(setMeta("schema", "0")), "names no schema"},
		"no instance":       {edit(setMeta("instance", "")), "no instance id"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			c.lay(t, path)
			before := contents(t, filepath.Dir(path))
			for _, readOnly := range []bool{false, true} {
				opts := options(path)
				opts.ReadOnly = readOnly
				l, err := store.Open(t.Context(), opts)
				if c.want == "" { // one whole meta page is enough
					must(t, err)
					shut(t, l)
					continue
				}
				var damaged *store.DamagedError
				if !errors.As(err, &damaged) || damaged.Path != path || !strings.Contains(damaged.Reason, c.want) {
					t.Fatalf("read-only %t: %v", readOnly, err)
				}
				notAFile := []string{"a folder", "a symbolic link", "a dangling link", "a FIFO", "two names"}
				if damaged.Misplaced != slices.Contains(notAFile, name) {
					t.Errorf("misplaced: %t", damaged.Misplaced)
				}
				remedy := "the-loop ledger check"
				if damaged.Misplaced { // which would say this again
					remedy = "has to be a file of yours alone"
				}
				if !strings.Contains(err.Error(), remedy) {
					t.Errorf("no remedy in %q", err)
				}
			}
			same(t, "the folder", before, contents(t, filepath.Dir(path)))
		})
	}
}

// TestNewerSchema names both versions and who wrote the file, and touches
// nothing; a bucket that only this release knows does not matter.
func TestNewerSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	edit(setMeta("schema", "99"))(t, path)
	edit(setMeta("writer", "99.1.0"))(t, path)
	edit(func(tx *bolt.Tx) error { return tx.DeleteBucket([]byte("links")) })(t, path)
	before := contents(t, filepath.Dir(path))
	_, err := store.Open(t.Context(), options(path))
	var newer *store.SchemaError
	if !errors.As(err, &newer) {
		t.Fatal(err)
	}
	same(t, "the error", store.SchemaError{Path: path, Found: 99, Known: 1, Writer: "99.1.0"}, *newer)
	for _, part := range []string{"schema 99", "schema 1", "99.1.0"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
	same(t, "the folder", before, contents(t, filepath.Dir(path)))
}

// TestCutShort: a ledger that lost its end is refused before it is mapped, at
// any length; one that lost free space alone is whole.
func TestCutShort(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	populate(t, whole, 60)
	data, err := os.ReadFile(whole)
	must(t, err)
	refused := 0
	for _, size := range cuts(len(data)) {
		path := filepath.Join(dir, fmt.Sprint("cut-", size))
		must(t, os.WriteFile(path, data[:size], 0o600))
		l, err := store.Open(t.Context(), options(path))
		var damaged *store.DamagedError
		switch {
		case err == nil:
			problems, err := l.Check(t.Context())
			if err != nil || len(problems) > 0 {
				t.Errorf("%d of %d bytes were opened: %v, %v", size, len(data), problems, err)
			}
			shut(t, l)
		case !errors.As(err, &damaged):
			t.Errorf("%d of %d bytes: %v", size, len(data), err)
		default:
			refused++
		}
		if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, data[:size]) {
			t.Errorf("%d bytes were touched (%v)", size, err)
		}
	}
	if refused < 10 {
		t.Errorf("only %d cuts were refused", refused)
	}
}

// cuts is lengths at, before and behind every page.
func cuts(size int) (all []int) {
	for at := 4096; at <= size; at += 4096 {
		all = append(all, at-4095, at-100, at-1)
		if at < size {
			all = append(all, at)
		}
	}
	return all
}

// TestFlippedBits: a wrong byte in any page is a refusal, a problem that Check
// finds, or without effect; it is never the end of the process.
func TestFlippedBits(t *testing.T) {
	dir := t.TempDir()
	whole := filepath.Join(dir, "whole")
	populate(t, whole, 12)
	data, err := os.ReadFile(whole)
	must(t, err)
	stride, tried, found := 7, 0, 0
	if os.Getenv("SOAK") != "" {
		stride = 1
	}
	path := filepath.Join(dir, "flipped")
	for page := 0; page+4096 <= len(data); page += 4096 {
		for _, offset := range []int{0, 7, 8, 10, 11, 12, 15, 16, 20, 24, 28, 31, 36, 40, 47, 56, 2000} {
			for _, bits := range []byte{0x01, 0xFF} {
				if tried++; tried%stride != 0 {
					continue
				}
				flipped := bytes.Clone(data)
				flipped[page+offset] ^= bits
				must(t, os.WriteFile(path, flipped, 0o600))
				if isFound(t, path) {
					found++
				}
			}
		}
	}
	if found < tried/stride/5 { // much of a file is free space
		t.Errorf("only %d of %d wrong bytes were found", found, tried/stride)
	}
}

func isFound(t *testing.T, path string) bool {
	opts := options(path)
	opts.ReadOnly = true
	l, err := store.Open(t.Context(), opts)
	if err != nil {
		return true
	}
	problems, err := l.Check(t.Context())
	closes(t, l)
	return err != nil || len(problems) > 0
}

// TestMissing: a reader makes nothing; a folder that is not there is an error.
func TestMissing(t *testing.T) {
	dir := t.TempDir()
	opts := options(filepath.Join(dir, "ledger.db"))
	opts.ReadOnly = true
	if _, err := store.Open(t.Context(), opts); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a reader: %v", err)
	}
	if _, _, err := store.Compact(t.Context(), options(opts.Path)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("compact: %v", err)
	}
	if _, err := store.Open(t.Context(), options(filepath.Join(dir, "no", "ledger.db"))); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no folder: %v", err)
	}
	same(t, "the folder", map[string]string{}, contents(t, dir))
}

// TestMade: mode 0600 whatever was there before, nothing of a maker that was
// killed stays and nothing of anybody else goes, an instance of its own (D6).
func TestMade(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "[led]ger*.db")
	must(t, os.WriteFile(path+".new-123", []byte("half"), 0o600))
	must(t, os.WriteFile(filepath.Join(dir, "ledger.db.new-123"), nil, 0o600))
	l := open(t, path)
	instance := l.Instance()
	shut(t, l)
	all := contents(t, dir)
	if len(all) != 2 {
		t.Errorf("there are %d files", len(all))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	must(t, os.WriteFile(path+".new-456", []byte("of a compact that was killed"), 0o600))
	must(t, os.WriteFile(path+".new-notes", []byte("a person's"), 0o600))
	l = open(t, path)
	if _, err := os.Lstat(path + ".new-456"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what was left behind: %v", err)
	}
	if _, err := os.Lstat(path + ".new-notes"); err != nil {
		t.Error(err)
	}
	other := open(t, filepath.Join(dir, "other"))
	if l.Instance() != instance || other.Instance() == instance || len(instance) != 36 {
		t.Errorf("instances %q, then %q, and %q of another ledger", instance, l.Instance(), other.Instance())
	}
	shut(t, l)
	shut(t, other)
}

// TestSweptBesideAnyPath: the path may be spelled with more than it needs.
func TestSweptBesideAnyPath(t *testing.T) {
	t.Chdir(t.TempDir())
	must(t, os.Mkdir("root", 0o700))
	path := "./root//ledger.db"
	shut(t, open(t, path))
	must(t, os.WriteFile("root/ledger.db.new-1", nil, 0o600))
	must(t, os.WriteFile("root/ledger.db.new-", nil, 0o600))
	shut(t, open(t, path))
	left := contents(t, "root")
	if _, kept := left["ledger.db.new-"]; len(left) != 2 || !kept {
		t.Errorf("there are %d files, that without a number among them: %t", len(left), kept)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func write(data []byte) func(*testing.T, string) {
	return func(t *testing.T, path string) { must(t, os.WriteFile(path, data, 0o600)) }
}

func symlink(t *testing.T, path string) {
	populate(t, path+".target", 1)
	must(t, os.Symlink(path+".target", path))
}

func hardLink(t *testing.T, path string) {
	populate(t, path, 1)
	must(t, os.Link(path, path+".second"))
}

// poke writes a byte into a page of a ledger that it makes if there is none.
func poke(page, offset int64, value byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		if _, err := os.Lstat(path); err != nil {
			populate(t, path, 1)
		}
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt([]byte{value}, page*int64(os.Getpagesize())+offset)
		must(t, errors.Join(err, f.Close()))
	}
}

// pokeAt writes a byte into the page that the newer meta page names as its root
// or its list of free pages.
func pokeAt(which string, offset int64, value byte) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		populate(t, path, 1)
		data, err := os.ReadFile(path)
		must(t, err)
		size := os.Getpagesize()
		field := func(page, at int) uint64 { return binary.NativeEndian.Uint64(data[page*size+16+at:]) }
		live, at := 0, map[string]int{"root": 16, "freelist": 32}[which]
		if field(1, 48) > field(0, 48) {
			live = 1
		}
		poke(int64(field(live, at)), offset, value)(t, path)
	}
}

// edit changes a ledger behind the back of this package.
func edit(fn func(*bolt.Tx) error) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		t.Helper()
		if _, err := os.Lstat(path); err != nil {
			populate(t, path, 2)
		}
		db, err := bolt.Open(path, 0o600, nil)
		must(t, err)
		must(t, errors.Join(db.Update(fn), db.Close()))
	}
}

func setMeta(key, value string) func(*bolt.Tx) error {
	return set("meta", key, value)
}

func set(bucket, key, value string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucket)).Put([]byte(key), []byte(value)) }
}

package store

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	bolt "go.etcd.io/bbolt"
	"pgregory.net/rapid"
)

// A tape that is asked for keys in order finds what looking each of them up does,
// however far apart they are; going through the items of two buckets meets each once.
func TestTapesFindWhatIsThere(t *testing.T) {
	db, err := bolt.Open(filepath.Join(t.TempDir(), "db"), 0o600, &bolt.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	in := []string{itemsBucket, commentsBucket, linksBucket}
	rapid.Check(t, func(t *rapid.T) {
		tx, err := db.Begin(true)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = tx.Rollback() }()
		items := make(map[string]bool)
		for _, name := range in {
			bucket, err := tx.CreateBucket([]byte(name))
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range rapid.SliceOfN(rapid.IntRange(0, 300), 0, 60).Draw(t, name) {
				key := fmt.Sprint(n)
				items[key] = items[key] || name != linksBucket
				rows := []string{key}
				if name == commentsBucket {
					rows = []string{commentKey(key, "x"), commentKey(key, "y"), commentKey(key, "z")}
				}
				for _, row := range rows {
					if err := bucket.Put([]byte(row), []byte(name+row)); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		walked(t, tx, in[:2], items)
		jumped(t, tx)
	})
}

// jumped asks one tape for keys in any order, some of them again.
func jumped(t *rapid.T, tx *bolt.Tx) {
	t.Helper()
	rows := newTapes(tx)
	for _, n := range rapid.SliceOfN(rapid.IntRange(0, 300), 0, 60).Draw(t, "jumps") {
		key := fmt.Sprint(n)
		want := tx.Bucket([]byte(itemsBucket)).Get([]byte(key))
		if got := rows.items.at([]byte(key)); string(got) != string(want) {
			t.Fatalf("item %s: %q, want %q", key, got, want)
		}
		some := tx.Bucket([]byte(commentsBucket)).Get([]byte(commentKey(key, "x"))) != nil
		if got := readComments(rows, key); len(got) > 0 != some {
			t.Fatalf("comments of %s: %v", key, got)
		}
	}
}

func walked(t *rapid.T, tx *bolt.Tx, in []string, items map[string]bool) {
	t.Helper()
	var met []string
	everySecond := 0
	read := func(rows *tapes, key []byte) rawRecord {
		met = append(met, string(key))
		raw := rawRecord{key: string(key), item: rows.items.at(key)}
		if everySecond++; everySecond%2 == 0 {
			raw.comments, raw.link = readComments(rows, raw.key), rows.links.at(key)
			wantLink := tx.Bucket([]byte(linksBucket)).Get(key)
			wantComment := tx.Bucket([]byte(commentsBucket)).Get([]byte(commentKey(raw.key, "x")))
			if string(raw.link) != string(wantLink) || len(raw.comments) > 0 != (wantComment != nil) {
				t.Fatalf("of %s: link %q, comments %v", key, raw.link, raw.comments)
			}
		}
		if want := tx.Bucket([]byte(itemsBucket)).Get(key); string(raw.item) != string(want) || (raw.item == nil) != (want == nil) {
			t.Fatalf("of %s: %q", key, raw.item)
		}
		return raw
	}
	var page []rawRecord
	var from []byte
	for more := true; more; {
		page, from, more = readPage(tx, page[:0], read, in, from)
	}
	var want []string
	for key, in := range items {
		if in {
			want = append(want, key)
		}
	}
	if slices.Sort(want); !slices.Equal(met, want) {
		t.Fatalf("met %q of %q", met, want)
	}
}

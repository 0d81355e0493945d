package store_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
)

// TestCheck finds what is wrong between rows, and says which row it is.
func TestCheck(t *testing.T) {
	const item, row = "github:octo/repo#2", "github:octo/repo#2\x00IC_9"
	for name, c := range map[string]struct {
		edit              func(*bolt.Tx) error
		bucket, key, want string
	}{
		"the index lacks a row":      {del("open", row), "open", row, "it is missing"},
		"the index lacks an item":    {del("open", item), "open", item, "it is missing"},
		"the index has a row":        {set("open", "github:octo/repo#2\x00IC_0", ""), "open", "github:octo/repo#2\x00IC_0", "not open"},
		"the index has an item":      {set("open", "github:octo/repo#7", ""), "items", "github:octo/repo#7", "it is missing"},
		"comments without an item":   {set("comments", "github:octo/repo#7\x00a", `{"id":"a","state":"settled","seq":1}`), "items", "github:octo/repo#7", "it is missing"},
		"a link without an item":     {set("links", "github:octo/repo#7", `{"target":"x"}`), "items", "github:octo/repo#7", "it is missing"},
		"an item under another name": {set("items", "github:octo/repo#7", `{"ref":"github:octo/repo#8","rev":1}`), "items", "github:octo/repo#7", "github:octo/repo#8"},
		"no revision":                {set("items", "github:octo/repo#7", `{"ref":"github:octo/repo#7"}`), "items", "github:octo/repo#7", "no revision"},
		"a comment under another id": {set("comments", "github:octo/repo#2\x00IC_0", `{"id":"IC_1","state":"baselined","seq":2}`), "comments", "github:octo/repo#2\x00IC_0", `"IC_1"`},
		"wrong counts":               {set("comments", "github:octo/repo#2\x00IC_8", `{"id":"IC_8","state":"settled","seq":99}`), "items", item, "counts"},
		"a seq twice":                {set("comments", "github:octo/repo#2\x00IC_0", `{"id":"IC_0","state":"baselined","seq":2}`), "comments", "", "seq 2"},
		"a row of no item":           {ofNoItem, "items", "", "it is missing"},
		"an unknown state":           {set("comments", "github:octo/repo#2\x00IC_0", `{"id":"IC_0","state":"lost","seq":1}`), "comments", "github:octo/repo#2\x00IC_0", `"lost"`},
		"resolved and in hand":       {set("comments", "github:octo/repo#2\x00IC_0", `{"id":"IC_0","state":"baselined","run":"r","seq":1}`), "comments", "github:octo/repo#2\x00IC_0", "in hand"},
		"started, not in hand":       {set("comments", row, `{"id":"IC_9","state":"pending","startedOn":"x","seq":6}`), "comments", row, "started"},
		"fewer than no attempts":     {set("comments", row, `{"id":"IC_9","state":"pending","attempts":-1,"seq":6}`), "comments", row, "-1 attempts"},
		"an unknown notice":          {set("comments", row, `{"id":"IC_9","state":"pending","notice":"lost","seq":6}`), "comments", row, `"lost"`},
		"an unknown status":          {set("sessions", item, `{"status":"asleep"}`), "sessions", item, `"asleep"`},
		"a source under another id":  {set("sources", "a", `{"id":"b"}`), "sources", "a", `"b"`},
		"a source that is no JSON":   {set("sources", "a", `{`), "sources", "a", "unexpected end"},
		"a cycle that is no JSON":    {set("cycles", "12345678", `{`), "cycles", "12345678", "unexpected end"},
		"a cycle without a number":   {set("cycles", "1", `{}`), "cycles", "1", "no number"},
		"no time of creation":        {set("meta", "created", "today"), "meta", "created", "today"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "ledger.db")
			edit(c.edit)(t, path)
			l := open(t, path)
			defer closes(t, l)
			problems, err := l.Check(t.Context())
			must(t, err)
			for _, p := range problems {
				if p.Bucket == c.bucket && (p.Key == c.key || c.key == "") && strings.Contains(p.Text, c.want) {
					return
				}
			}
			t.Errorf("check: %v", problems)
		})
	}
}

// ofNoItem makes a comment of an item without a name, and nothing is open.
func ofNoItem(tx *bolt.Tx) error {
	err := tx.Bucket([]byte("open")).ForEach(func(k, _ []byte) error { return tx.Bucket([]byte("open")).Delete(k) })
	return errors.Join(err, set("comments", "\x00IC_0", `{"id":"IC_0","state":"settled","seq":1}`)(tx))
}

func del(bucket, key string) func(*bolt.Tx) error {
	return func(tx *bolt.Tx) error { return tx.Bucket([]byte(bucket)).Delete([]byte(key)) }
}

// TestEvicted: an item keeps 5 000 resolved rows; their rows in the file go with
// them.
func TestEvicted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := open(t, path)
	for round := range 3 {
		var changes []record.Change
		for i := range 1700 {
			n := note(commentID(round*1700 + i))
			n.At = noon.Add(1)
			changes = append(changes, record.Baseline{Note: n, Outcome: record.FirstSight})
		}
		commit(t, l, ref(1), changes...)
	}
	rec := get(t, l, ref(1))
	if rec.Comments.Len() != record.MaxResolved || rec.Item.LateUntil.IsZero() {
		t.Errorf("%d rows, late until %v", rec.Comments.Len(), rec.Item.LateUntil)
	}
	if _, ok := rec.Comments.Get(commentID(99)); ok {
		t.Error("the oldest is still there")
	}
	problems, err := l.Check(t.Context())
	must(t, err)
	if len(problems) > 0 {
		t.Errorf("check: %v", problems)
	}
	shut(t, l)
}

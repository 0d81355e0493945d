package store_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	bolt "go.etcd.io/bbolt"

	"theloop/record"
	"theloop/store/storetest"
)

func held(n int, comment string) record.Held {
	return record.Held{Ref: ref(n).String(), DeliveryID: record.CommentDeliveryID(comment)}
}

// TestRelease: an attempt that was spent and never started comes back, once;
// anything else is left as it is, all in one transaction (B4).
func TestRelease(t *testing.T) {
	l := storetest.Open(t)
	commit(t, l, ref(1), queued("IC_waits")...)
	commit(t, l, ref(1), queued("IC_started")...)
	commit(t, l, ref(1), queued("IC_done")...)
	commit(t, l, ref(1), record.Start{Comment: "IC_started", On: "1/2/3", Until: noon}, record.Deliver{Comment: "IC_done"})
	commit(t, l, ref(1), record.Baseline{Note: note("IC_seen"), Outcome: record.FirstSight})
	commit(t, l, ref(15), queued("IC_waits")...)
	commit(t, l, ref(15), record.Fail{Comment: "IC_waits", MayRepeat: true},
		record.Queue{Comment: "IC_waits", DeliveryID: record.CommentDeliveryID("IC_waits"), Run: "run-2"})
	spawn := record.Held{Ref: "github:OCTO/repo#15", DeliveryID: record.SpawnDeliveryID(ref(15), 1)}
	commit(t, l, ref(15), record.QueueSpawn{DeliveryID: spawn.DeliveryID, Run: "run-1"})
	before, commits := get(t, l, ref(1)), l.Commits()

	all := []record.Held{
		held(1, "IC_started"), held(15, "IC_waits"), held(1, "IC_waits"), held(1, "IC_done"), held(1, "IC_seen"),
		held(1, "IC_unknown"), held(99, "IC_waits"), {Ref: "nonsense", DeliveryID: "x"}, held(1, "IC_waits"), spawn,
		{Ref: ref(1).String(), DeliveryID: "poll-spawn-other-1"}, {},
	}
	back, err := l.Release(t.Context(), all)
	must(t, err)
	same(t, "what came back", []record.Held{held(15, "IC_waits"), held(1, "IC_waits"), spawn}, back)
	if n := l.Commits() - commits; n != 1 {
		t.Errorf("%d transactions", n)
	}
	for _, id := range []string{"IC_started", "IC_done", "IC_seen"} {
		was, _ := before.Comments.Get(id)
		is, _ := get(t, l, ref(1)).Comments.Get(id)
		same(t, id, was, is)
	}
	row, _ := get(t, l, ref(1)).Comments.Get("IC_waits")
	if row.State != record.Pending || row.Attempts != 0 || row.DeliveryID != "" || row.InHand() {
		t.Errorf("released: %+v", row)
	}
	row, _ = get(t, l, ref(15)).Comments.Get("IC_waits")
	if row.Attempts != 1 || !row.MayRepeat {
		t.Errorf("the attempt before stays spent and may repeat: %+v", row)
	}
	if s := get(t, l, ref(15)).Item.Spawn; s.Attempts != 0 || s.N != 1 {
		t.Errorf("the spawn: %+v", s)
	}
	if back, err := l.Release(t.Context(), all); err != nil || back != nil {
		t.Errorf("released twice: %v, %v", back, err)
	}
}

// TestReleaseBesideABadRow: one item that cannot be read keeps no other from
// getting its attempts back.
func TestReleaseBesideABadRow(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	populate(t, path, 2)
	edit(set("comments", "github:octo/repo#1\x00IC_9", "{"))(t, path)
	l := open(t, path)
	defer closes(t, l)
	back, err := l.Release(t.Context(), []record.Held{held(1, "IC_9"), held(2, "IC_9")})
	wantRowError(t, err, "comments", "github:octo/repo#1\x00IC_9")
	same(t, "what came back", []record.Held{held(2, "IC_9")}, back)
}

// An open item that is forgotten goes on to number its spawns in its next life. If it
// had one and has no row of it any more (a cleanup), it leaves a row that says so: what
// a kept pane's ring holds, or stands on the item, is of none of the new ones (D5, D12).
func TestForgottenSpawnsProveNothing(t *testing.T) {
	l := storetest.Open(t)
	for n := 1; n <= 2; n++ {
		commit(t, l, ref(n), observe(ref(n), "s1"), record.FirstSeen{At: noon})
	}
	commit(t, l, ref(1), record.Command{Control: record.Control{Command: "start", Source: "cli"}}, record.QueueSpawn{DeliveryID: record.SpawnDeliveryID(ref(1), 1), Run: "run-1"},
		record.Deliver{})
	must(t, l.ForgetAll(t.Context(), append(refs()[:0], ref(1), ref(2))))
	if rec := get(t, l, ref(2)); rec.Session != nil {
		t.Errorf("an item that had no session leaves %+v", rec.Session)
	}
	commit(t, l, ref(1), observe(ref(1), "s1"), record.FirstSeen{At: time.Now().Add(time.Second)})
	if rec := get(t, l, ref(1)); rec.Session.Open() || !rec.Bygone() {
		t.Errorf("after a forget the session row is %+v, first seen %s", rec.Session, rec.Item.FirstSeenAt)
	} else if n := rec.Item.Spawn.N; n != 1 {
		t.Errorf("the next spawn is number %d", n+1)
	}
	must(t, l.ForgetAll(t.Context(), append(refs()[:0], ref(1)))) // before it had another
	if rec := get(t, l, ref(1)); rec.Session == nil || rec.Session.Spawns != 1 {
		t.Errorf("after a second forget the session row is %+v", rec.Session)
	}
}

// TestForgetAll: an ended item leaves its tombstone and its session row, an
// open one only the latter; one that cannot be forgotten keeps all (P8).
func TestForgetAll(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ledger.db")
	l := storetest.OpenAt(t, path)
	closed := record.PutSession{Session: record.Session{Harness: "claude", Status: record.Shut, EndedAt: noon}}
	for n := 1; n <= 3; n++ {
		commit(t, l, ref(n), observe(ref(n), "s1"), record.FirstSeen{At: noon}, closed,
			record.Command{Control: record.Control{Command: "start", Source: "cli"}},
			record.PutLink{Link: record.Link{Target: ref(9).String()}}, record.Baseline{Note: note("IC_1")})
	}
	commit(t, l, ref(1), record.End{At: noon})
	commit(t, l, ref(3), record.SetStatus{Status: record.Active, At: noon})
	before := contents(t, filepath.Dir(path))
	if err := l.ForgetAll(t.Context(), refs()); err == nil {
		t.Error("unknown items were forgotten")
	}
	if err := l.ForgetAll(t.Context(), append(refs()[:1], ref(3))); err == nil {
		t.Error("an item with a live session was forgotten")
	}
	same(t, "the folder", before, contents(t, filepath.Dir(path)))

	must(t, l.ForgetAll(t.Context(), append(refs()[:1], ref(2))))
	tombstone, gone := get(t, l, ref(1)), get(t, l, ref(2))
	if !tombstone.Item.Sealed() || tombstone.Item.Control == nil || tombstone.Comments.Len() != 0 || tombstone.Link != nil ||
		!tombstone.Item.LateUntil.Equal(noon) || tombstone.Session == nil {
		t.Errorf("the tombstone: %+v", tombstone)
	}
	same(t, "what an open item leaves", record.Record{Session: &closed.Session}, gone)
	unfinished, err := l.Unfinished(t.Context())
	must(t, err)
	same(t, "unfinished", append(refs()[:0], ref(3)), unfinished)
	if n, err := l.Expire(t.Context(), noon.Add(1)); n != 3 || err != nil {
		t.Errorf("%d rows expired, %v", n, err)
	}
	same(t, "after 90 days", record.Record{}, get(t, l, ref(1)))
	same(t, "after 90 days", record.Record{}, get(t, l, ref(2)))
	db, err := bolt.Open(copied(t, path), 0o600, &bolt.Options{ReadOnly: true})
	must(t, err)
	must(t, errors.Join(db.View(func(tx *bolt.Tx) error {
		for _, bucket := range []string{"items", "comments", "links", "sessions", "open"} {
			if k, _ := tx.Bucket([]byte(bucket)).Cursor().First(); k != nil && string(k[:18]) != ref(3).Key() {
				t.Errorf("%s still has %q", bucket, k)
			}
		}
		return nil
	}), db.Close()))
}

func copied(t *testing.T, path string) string {
	t.Helper()
	copyFile(t, path, path+".copy")
	return path + ".copy"
}

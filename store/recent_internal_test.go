package store

import (
	"fmt"
	"testing"

	"theloop/record"
)

// TestRecentIsBounded keeps big threads, the last ones, and not more than it may.
func TestRecentIsBounded(t *testing.T) {
	var rows []record.Comment
	for n := range record.MaxResolved {
		rows = append(rows, record.Comment{ID: fmt.Sprint(n), Seq: uint64(n + 1)})
	}
	big, small := record.NewThread(rows), record.NewThread(rows[:recentFrom-1])
	var r recent
	for n := range 25 {
		key := fmt.Sprint(n)
		r.put(key, []byte(key), big)
		r.put(key, []byte(key), big)
		r.put("small", nil, small)
		kept := 0
		for _, k := range r.threads {
			kept += k.thread.Len()
		}
		if kept != r.rows || kept > recentRows {
			t.Fatalf("%d rows are kept, %d counted", kept, r.rows)
		}
		if _, ok := r.get(key, []byte(key)); !ok {
			t.Fatalf("thread %d is not kept", n)
		}
		if _, ok := r.get(key, []byte("changed")); ok {
			t.Fatalf("thread %d is kept for another row", n)
		}
	}
	if _, ok := r.get("small", nil); ok {
		t.Error("a small thread is kept")
	}
}

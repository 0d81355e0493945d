package store

import (
	"bytes"
	"sync"

	"theloop/record"
)

const (
	// recentFrom is how many comment rows make a thread worth keeping: fewer are
	// decoded faster than anybody notices.
	recentFrom = 100
	// recentRows is how many comment rows are kept in all, a few hundred bytes
	// each.
	recentRows = 50_000
)

// recent keeps the decoded threads of big items, which would be decoded again
// for every look at an item that did not change. A thread is good as long as
// the item's row is the same, byte for byte: comment rows change only together
// with it, since it holds the revision. Where rows go without leaving a higher
// revision behind (forgetting, expiry), and when the file is opened again, all
// of it is dropped.
type recent struct {
	mu      sync.Mutex
	threads map[string]recentThread
	rows    int
}

type recentThread struct {
	item   []byte
	thread record.Thread
}

func (r *recent) get(key string, item []byte) (record.Thread, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, ok := r.threads[key]
	return kept.thread, ok && bytes.Equal(kept.item, item)
}

func (r *recent) put(key string, item []byte, thread record.Thread) {
	if thread.Len() < recentFrom {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.rows -= r.threads[key].thread.Len()
	if r.rows += thread.Len(); r.threads == nil || r.rows > recentRows {
		r.threads, r.rows = make(map[string]recentThread), thread.Len()
	}
	r.threads[key] = recentThread{item, thread}
}

func (r *recent) clear() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.threads, r.rows = nil, 0
}

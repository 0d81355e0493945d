// Package dispatch is the queue of work for sessions: one FIFO for each work
// item's session, sessions side by side.
//
// A Job is one piece of work; a Queue runs the jobs of one session one at a
// time, in the order they were put, and those of different sessions at once, up
// to a number. Stop hands back what was accepted and never begun, so that its
// attempts can be given back (B4).
//
// A session's queue is bounded, and has a goroutine of its own while it holds
// something.
//
// The package knows neither tmux nor the ledger nor a tracker: what a job does,
// and how its outcome is committed, is the job's own business. It guarantees
// the order and that an id which is held is not taken twice (F7). It does not
// retry: the next decision does.
package dispatch

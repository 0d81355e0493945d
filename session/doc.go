// Package session hosts one agent conversation per work item: it brings the
// conversation up, puts what people say into it, and ends it.
//
// The nouns: a Host is this machine with its ledger and its tmux server; a job
// (Deliver, Spawn, Close, Adopt) is one call of it, made by the queue of the
// session it works on, one at a time; a Harness is how a coding agent is
// started; a prompt is what the agent is told; a Story is the context of a first
// prompt; a Result says what the job left behind.
//
// A job commits its own outcome. It reads the record, prepares everything, looks
// at tmux, commits that it starts (B8), makes one tmux call and commits what that
// answered. Guaranteed: nothing is sent whose start was not committed and
// admitted on the record as it stood (B8, X5); nothing is sent that the ring of
// the pane shows already, and a dead pane's ring is read before the pane is used
// again (D5, D7); an answer that did not come leaves the attempt started, and
// nothing else of that session moves before its deadline (D3, B9); an attempt
// that is cut before its tmux call costs nothing (B4).
//
// Not guaranteed: that the agent read what was pasted into its pane, and that a
// text whose pane is gone arrives only once: it is sent again and says so. The
// package does not queue, retry or give up: those are decisions. What it says on
// trackers (a Tracker; announcements, reactions, notices) it hands to whoever does
// that later, so that no session waits for a tracker, and none of it decides
// anything.
//
// Text of trackers reaches a session inside the fenced JSON of a prompt and
// nowhere else (A5): never a command line, path, name or template.
package session

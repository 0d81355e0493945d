// Package poller decides what is done about the work items of a tracker.
//
// One cycle observes, decides, commits and acts, in that order, for one item
// after the other. Decide is pure: the same item, comments, record and facts
// give the same Decision. Its changes are committed in one transaction, on the
// revision they were decided on, and only then are its effects put into the
// queue of the item's session. Nothing the poller does itself reaches tmux or a
// tracker: effects do, and each commits its own outcome.
//
// The nouns: a Source answers what is open; a Ledger keeps records; Facts are
// what was true outside the ledger when the decision was made; an Effect is one
// piece of work for a session's queue; a Decision is changes, effects and the
// events that tell of them.
//
// Guaranteed: an attempt is on disk before the effect it pays for (F4); a
// decision made on a record that changed meanwhile is made again (F7); closures
// come from a complete listing and an answer by number, never from absence (P8).
// Not guaranteed: that an agent read what was pasted into its pane.
//
// What is said on a pull request that closes an item goes into that item's session
// (P3): Route says whose it is, the decision rests on both records and is committed
// on both revisions.
//
// The package imports record, policy and workitem alone. What it needs of the
// ledger, of trackers and of sessions it declares as interfaces.
package poller

// Package migrate brings the records of earlier releases into the ledger and
// writes them out again, so that nobody is locked in.
//
// # Nouns
//
// A record is what an earlier release kept of one work item: a document with
// the sections control, poll and graph, or the word sealed. A handle is what it
// kept of a session on this machine, with the pull requests that belong to it.
// A place is a folder or file where records or handles stand; there are older
// ones, and a section that a newer place has, or has emptied (null), wins.
// The form of a document is how it was written where that differs from how it
// would be written here: it makes the way back exact.
//
// # Guarantees
//
//   - What a document says is imported whole or, when it cannot be understood,
//     listed with file, line and reason; the others are imported all the same.
//     Only a control section is judged by itself: the rest of its record counts
//     without it.
//   - A comment that an earlier release has dealt with, or is known to have
//     delivered, is never sent. One that it tried and did not finish with is sent
//     as a possible repeat.
//   - Importing twice changes nothing, and an import that was cut goes on where it
//     was. Where ledger and file differ the ledger wins, unless Overwrite says so.
//   - Import, then Export, gives documents equal to the ones imported, field for
//     field: the order of seenComments, emptied sections, unknown sections and
//     keys included. What the ledger has learned since is written instead.
//   - Nothing is ever written to, or removed from, the places that are read.
//
// # What it does not guarantee
//
//   - That the text is the same: keys may stand in another order.
//   - That a session is alive: it asks no tmux. A handle whose folder is here is
//     taken for this machine's; the poller finds out the rest.
//   - Anything while another process writes to the ledger or to the records: the
//     caller holds the run lock (L11, L12).
package migrate

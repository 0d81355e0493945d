// Package store is the ledger: what is known of every work item, in one bbolt
// file that one process holds.
//
// A Ledger keeps records (package record), one per work item, as rows in flat
// buckets: items, comments, open, sessions, links, and beside them sources,
// cycles and meta. Commit is how a record changes: it runs record.Apply on the
// rows as they stand, if the record still has the revision that the decision
// was made on, and writes what that changed in one transaction. The open bucket
// is the index of what is not finished, kept in the same transactions, so that
// a start and a cycle need not read everything (see index.go).
//
// Guarantees:
//   - A commit is whole or not there, on disk before it returns, and a revision
//     that moved is refused (F1, F4, F7). Nothing changed, no transaction (F6).
//   - A commit that the disk failed is record.ErrUnknown: it may be there or
//     not. The file is closed and opened again before the next operation, so
//     that what is read afterwards is what is on disk (B9).
//   - A file that is damaged, foreign, newer than this program or in use by
//     another process is an error that says so; it is not touched, moved or
//     made anew. A page fault is an error, not the end of the process; the
//     ledger then answers every call with it.
//   - A ledger of an older schema is migrated when it is opened for writing, in
//     one transaction and with a copy of what it was beside it (see migration.go).
//   - Values are copied out: nothing that is returned belongs to a transaction,
//     and nothing of bbolt leaves the package. Read transactions are short, but
//     for Check and Backup.
//
// It does not guarantee that it has the file to itself beyond bbolt's lock on
// it: a removed or replaced file is noticed when Replaced is asked. Who may open
// it for writing is the run lock's business (L11). It makes no folders. Pages
// that are wrong in the middle of the file are found by Check alone, or when
// they are met.
package store

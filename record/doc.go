// Package record is what is known of a work item and how that may change.
//
// A Record is one item's rows: what the tracker said of it, one row for each
// comment the poller has dealt with, the session it has on this machine. A
// Change is one step that a decision, a worker or a command takes. Apply is
// pure and the only place that knows which steps are legal; the ledger runs it
// inside its transaction, a test runs it as the model of the ledger.
//
// The life of a delivery is a table (see phases.go): a comment row is absent,
// baselined, pending, delivered, settled or gave-up, and a pending one is idle
// (no attempt in hand), queued (an attempt is spent on it and has not started)
// or started (it may have reached tmux). Only pending rows may ever be sent;
// everything else is resolved and stays so, but for the re-arm of a give-up by
// another release (B7).
//
// The package imports workitem alone. It knows no clock, no file, no tmux: times
// and identities come in with the changes.
package record

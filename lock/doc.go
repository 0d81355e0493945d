// Package lock keeps two pollers off one state root.
//
// # Nouns
//
// The pidfile is <root>/poll.pid. The run lock is an exclusive flock on it. Whoever has the run lock is the holder: a
// poller, or a command that writes the ledger offline. The pidfile holds the decimal pid of the holder and, on a second
// line, its command; both are a label for people. A probe asks whether there is a holder. A pidfile that nobody has locked
// is stale: its process ended without a chance to remove it. A part, a file that is being written, can be held the same way;
// one that nobody holds was left behind.
//
// # Guarantees
//
//   - At most one holder per pidfile at a time (L1, L2, L3), and none that is dead: the kernel frees the lock however the
//     process ends (L5). No process started by the holder keeps it (L6).
//   - A probe never creates or changes anything, never takes another probe for a holder and never makes Acquire refuse (L8).
//   - An Acquire that refuses has changed no byte. A symlink, a folder, a device, a file with a second name or of another
//     user in the place of the pidfile is refused by name and neither followed nor written to (L9).
//
// # What it does not guarantee
//
//   - That the recorded pid means anything to the reader. It may come from another pid namespace, and for an instant after a
//     take-over the pidfile still names the one before. The lock is the proof; HasOpen says whether a pid fits it. Ask it
//     before a signal is sent (T1).
//   - Anything about a pidfile that somebody removes by hand: the lock is on the file, not on its name, so a second holder can
//     then lock a new file of that name. Check finds that out.
//   - Exclusion between hosts. flock over a network file system is as good as that file system.
//   - Exclusion as strong as this on a platform without flock. There the pid's being alive stands in for the lock (L10), with
//     the races and the reused pids that this brings.
//
// The heartbeat is a file of its own, and has to be: replacing a file by rename gives its name to another file, on which
// nobody has a lock.
package lock

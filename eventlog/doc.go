// Package eventlog is the decision trail: one JSON object per line for every
// decision of the program (R2), for people who ask afterwards what happened
// and why.
//
// # Nouns
//
// An [Event] is one decision: a name, a level and fields. The catalogue (see
// [Names] and [Validate]) lists every name with its fields and the words that
// closed fields may hold. A [Log] appends events to one file. An [Entry] is an
// event read back by [Read] or [Follow], with when and by which process it was written.
//
// # The line
//
// ts (RFC 3339, milliseconds, UTC), source, event, level, pid, v, then the
// event's own fields in the order of the catalogue, and last cut, which names
// the fields that were shortened. Empty fields and zero counters are left out;
// a false is not empty. Text is safe to look at: control, bidirectional and
// invisible characters are spelled out. A line takes at most 4 KiB.
//
// # Guarantees
//
//   - [Log.Append] never fails and never ends its caller (R2). What could not
//     be written is counted in [Log.Dropped]; the first such failure is warned
//     of through slog. A directory, a FIFO, a device or a symbolic link in the
//     way of the file is such a failure: none is followed, none is waited for.
//   - A line is one write(2) on an O_APPEND descriptor, so that lines of several
//     processes do not mix. After an error, and when the file does not end in a
//     newline, the next line begins with one: a torn line damages only itself.
//   - A file that was renamed or removed by somebody else is noticed before the
//     next line, which goes into a new one: rotation by rename loses nothing. A
//     removed or truncated file is warned of, since lines are gone.
//   - Options.Rotation lets one process begin a new file at a size. [Read] gives
//     the entries of the older files as well, each once, also while that happens.
//   - [Read] takes memory for the longest line and for the entries it was asked
//     to hold back, however long the file is. Lines that do not parse are
//     skipped and counted.
//
// # Not guaranteed
//
// The log is not the source of truth of anything: it is not synced before
// [Log.Close], a killed process may leave one torn line, and a full disk loses
// lines. Single writes are whole on local file systems, not on NFS. A file
// system that hangs blocks the writer, as it does the rest of the process.
package eventlog

package lock

// HolderCommandLine is the command line of a process, its words parted by spaces, for a message about a holder that is
// another program (T4). Empty when the platform does not tell. It is text of another process: escape it before printing.
func HolderCommandLine(pid int) string { return commandLine(pid) }

// HasOpen says whether process pid has the file at path open, as the holder of its lock has. known is false where that cannot
// be found out (no /proc, another user's process). Known and not open means that the recorded pid is not the holder's, be it
// that it is from another pid namespace or that it has been given to another process since: such a pid is not signalled (T1).
func HasOpen(path string, pid int) (open, known bool) { return hasOpen(path, pid) }

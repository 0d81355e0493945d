// Package localapi is the control socket: how a command asks the poller that
// runs.
//
// The process that holds the run lock owns the ledger, since bbolt keeps an
// exclusive lock of its own; everybody else asks it over HTTP on the Unix
// socket `<root>/poll.sock` (mode 0600, paths under /v1/). A Server answers
// from a Ledger, a Client asks, and both speak the documents of this package,
// which are also what the commands print as JSON. Local answers the same
// questions from a ledger that the command opened itself.
//
// The socket is for the user who runs the poller: both ends refuse a process of
// another user, whatever the modes of socket and folder are, and neither sends a
// secret. Paths begin with the version of their documents, what goes wrong is
// answered in JSON, and sizes, times and the number of connections are bounded.
//
// What it does not guarantee: that a poller which runs answers. It may be just
// starting or stopping, or stopped by a signal; the lock says who runs.
package localapi

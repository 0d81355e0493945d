// Package github makes a work item source of a repository on GitHub or on a
// GitHub Enterprise server, over its REST API and, for what a pull request
// closes, two queries over GraphQL (P3).
//
// A Client is one base URL with one Token: its transport is the only way out of
// the program and the only place where a token is put on a request (P9). A
// Source is one repository seen through a Client. Clients and Sources are safe
// for concurrent use.
//
// Guaranteed: a request goes to the scheme, host and port of the base URL and
// nowhere else, redirects and Link URLs included; an answer is read whole,
// bounded in size and in time without progress, and is JSON of the shape that
// was asked for, or the request failed (P1, P10); every page of a list is read,
// or the list failed; while the tracker limits requests none is sent (P7); no
// token is in an error, a log or a printed value.
//
// Not guaranteed: a list of several pages is read from a tracker that changes
// meanwhile. A shift between pages is noticed by looking at every page but the
// last again, but a removal and an insertion that cancel out in between are
// not, which is one reason why absence closes nothing (P8). Deleting, hiding
// and editing comments need not change an item's time on GitHub. Post is not
// idempotent: whoever must not post twice leaves a marker and looks for it.
// What a pull request closes is a matter of GitHub's own reading of it, which
// comes some time after it was written; its words and its branch are looked at
// besides, but an issue linked by hand a moment ago may be missed.
//
// GitHub counts queries apart from other requests. While their budget is used
// up, or on a server that answers none, the words of a pull request say what it
// closes (P7).
//
// A repository that was renamed or transferred fails with an error that names
// its new place, rather than be watched under a name that is not its own.
//
// A proxy named by HTTPS_PROXY is used for https, unless NO_PROXY exempts the
// host; it sees the host, not the request. Loopback is never proxied.
package github

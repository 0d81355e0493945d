// Package inbox makes a work item source of a folder of Markdown files: the
// embedded default, which needs no account and no network.
//
// A work item is a folder named by its number. In it, item.md has front matter
// (title, author, labels, state: open or closed) and the item's body;
// comments/20260731T091158Z-octocat.md is a comment: time and author in the
// name, the text inside, and the file's name for an id. What the daemon posts
// is <time>-the-loop.md.
//
// Whoever can write here speaks for everybody. So links, files of other
// accounts (root's are fine) and what anybody may write (mode o+w) are refused
// by name. Group-writable is accepted: a checkout under umask 002 is, and most
// accounts have a group to themselves.
//
// Guaranteed: an item's time is the newest of its files and folders, so that
// what is added, removed or edited changes it; a file that is still being
// written (no newline at its end and younger than two seconds) waits for the
// next reading, which its time will cause; one item that cannot be read fails
// alone (P5); a comment that cannot be read is logged once and left out; an
// item is gone only when its folder is and the inbox itself can be read (P8).
//
// Not guaranteed: an empty folder that stands in for one that was not mounted
// looks like an inbox whose items were all removed. There are no reactions.
// Links are refused when they are found, not by the kernel: somebody who can
// swap files while they are read could write them too.
package inbox

// Package workitem holds the words that every other package uses: a Ref names
// a work item on a tracker, an Item is what the tracker says about it, a
// Comment is anything a person left on it with an instruction in it, and a
// Listing is what one source answered when it was asked for its open items.
//
// The package imports nothing of ours and does no input or output. It does not
// judge: whose words are obeyed is the policy package's business, what has
// been done about them the record package's.
//
// Every text in an Item or a Comment comes from a tracker and is data. It is
// never an argument, a path, a target, a format or a template (A5).
package workitem

// Package source is the home of the trackers that work items come from. It
// holds no code: the poller declares the interface it needs where it uses it,
// and each backend satisfies it without knowing so.
//
// A source is one configured repository, or one folder of Markdown files. Each
// answers the same questions:
//
//	ID        its name: "github:octo/repo", "inbox:local/demo"
//	List      every open item with the label: all of it, or an error (P1)
//	Comments  what people left on one item, in thread order (P2)
//	State     one item by number: open, closed, gone, or an error (P8)
//	Links     what a pull request points at: what it closes, its branch (P3)
//	Closing   the open pull requests that point at given items (P1)
//	Post      leave a comment
//	React     leave a reaction
//	Self      the account that Post writes as
//
// The guarantees they share, and that sourcetest holds every backend against:
// a backend that fails returns an error and never a shorter answer; an item is
// gone only when that is proved (workitem.ErrGone); a cancelled context cuts at
// once; every text is passed on as it came, as data (A5).
package source

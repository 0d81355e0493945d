package workitem

import "slices"

// Links is what ties a pull request to other items, as its tracker and its own
// words say (P3). It names items and judges none: whether one is watched, is
// open or has a session is not the tracker's to say, and neither is whether the
// author of a pull request from a foreign repository may point at anything.
type Links struct {
	// Closes are the items that merging it closes, in the tracker's order, each
	// once and never the pull request itself. They may be of other repositories
	// of the same host, watched or not.
	Closes []Ref
	// Named is the issue of its own repository that its branch is named after
	// (`issue-<n>`); zero when the branch has another name or the issue is gone.
	// It may be one of Closes.
	Named Ref
	// Branch is the name of its head branch: data, not to be looked up (A5).
	Branch string
	// ForeignHead is set when the head branch is in another repository: anybody
	// can make such a pull request, with any words and any branch name. It is
	// set, too, when that repository is gone.
	ForeignHead bool
}

// Refs returns the items that a pull request points at in the order in which
// they are looked through for its target, each once: what it closes, then what
// its branch is named after (P3).
func (l Links) Refs() []Ref {
	refs := slices.Clone(l.Closes)
	isNamed := func(r Ref) bool { return r.Key() == l.Named.Key() }
	if !l.Named.Zero() && !slices.ContainsFunc(refs, isNamed) {
		refs = append(refs, l.Named)
	}
	return refs
}

// Linked is a pull request together with its links, as a source returns them
// when it is asked which pull requests close an item (P1).
type Linked struct {
	Item  Item
	Links Links
}

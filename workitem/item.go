package workitem

import "time"

// Kind says what a work item is on its tracker.
type Kind string

// The kinds a tracker tells apart. Their numbers share one space.
const (
	Issue       Kind = "issue"
	PullRequest Kind = "pull"
)

// State is what the tracker says of an item when it is asked for it by number.
type State string

// The states of an item. Anything a tracker answers that is neither is an
// error of the request, never a state (P1).
const (
	Open   State = "open"
	Closed State = "closed"
)

// Author is the account that wrote an item or a comment. The zero value means
// nobody: a deleted account, which is never obeyed (A1).
type Author struct {
	Login string `json:"login"`
	// ID is the tracker's number for the account; logins can be reused, numbers
	// cannot. Zero when the tracker has none.
	ID int64 `json:"id,omitempty"`
	// Bot is set for bots and apps: they are obeyed only when they are listed
	// themselves (A1).
	Bot bool `json:"bot,omitempty"`
}

// Nobody reports whether there is no account behind the words.
func (a Author) Nobody() bool { return a.Login == "" }

// Item is one work item as its tracker described it.
type Item struct {
	Ref    Ref
	Kind   Kind
	URL    string
	Title  string
	Body   string
	Author Author
	Labels []string
	State  State
	// Labelled says that the item carries its source's label now.
	Labelled bool
	// Source is the id of the source that listed it.
	Source       string
	CommentCount int
	CreatedAt    time.Time
	// UpdatedAt has the tracker's own resolution: whole seconds on GitHub.
	UpdatedAt time.Time
	// ClosedAt is zero for an open item, or when the tracker gives none.
	ClosedAt time.Time
}

// Surface is where on an item a comment stands. The order of the constants is
// the order of comments of equal time (P2).
type Surface int

// The three comment surfaces of a pull request; an issue has the first alone.
const (
	Conversation Surface = iota
	Review
	Inline
)

// Comment is one comment of a work item.
type Comment struct {
	// ID is the tracker's own id as text, at most 256 bytes of its grammar.
	ID string
	// DatabaseID is the tracker's number of the comment, zero when it has none.
	DatabaseID int64
	Surface    Surface
	Author     Author
	Body       string
	URL        string
	CreatedAt  time.Time
	UpdatedAt  time.Time
	// Path and Line say what an inline comment is about; the original line when
	// it is outdated (P2).
	Path string
	Line int
}

// Listing is what a source answered: every open item in scope, or an error
// instead of it. A Listing is complete by construction; a source that could not
// read all of it returns an error (P1).
type Listing struct {
	Items []Item
	// Date is the tracker's own clock when the listing began. An UpdatedAt that
	// is not older than it must not be remembered (P1): more may come in the
	// same second. Zero when the source needs no such care.
	Date time.Time
	// Bad names the items of the listing that could not be read: each fails
	// alone (P5), and counts as listed and open, never as absent (P8).
	Bad []ItemError
}

// ItemError says why one item of a Listing could not be read.
type ItemError struct {
	// Ref names the item. Its Number is zero when not even that could be told:
	// report the error, and look nothing up.
	Ref Ref
	Err error
}

// Package sourcetest holds every backend against what all sources promise: one
// suite, run by each of them on a real tracker, or a stand-in that answers like
// one.
package sourcetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"theloop/workitem"
)

// Source is what a backend answers. It has the methods that the poller asks
// for, in the shape that the poller asks for them.
type Source interface {
	ID() string
	List(ctx context.Context) (workitem.Listing, error)
	Comments(ctx context.Context, it workitem.Item) ([]workitem.Comment, error)
	State(ctx context.Context, ref workitem.Ref) (workitem.Item, error)
	Post(ctx context.Context, ref workitem.Ref, body string) (id string, err error)
	React(ctx context.Context, ref workitem.Ref, c workitem.Comment, content string) error
	Self(ctx context.Context) (workitem.Author, error)
	Links(ctx context.Context, it workitem.Item) (workitem.Links, error)
	Closing(ctx context.Context, items []workitem.Ref) ([]workitem.Linked, error)
}

// World is the tracker behind a source, as people change it.
type World interface {
	// Add makes an open item and returns its number.
	Add(t *testing.T, title, author string, labelled bool) int
	// Say leaves a comment.
	Say(t *testing.T, number int, author, body string, at time.Time)
	// Close closes an item, Unlabel takes its label, Remove the item itself.
	Close(t *testing.T, number int)
	Unlabel(t *testing.T, number int)
	Remove(t *testing.T, number int)
	// Break makes the tracker fail until mend is called.
	Break(t *testing.T) (mend func())
}

// PullWorld is a tracker that has pull requests. One that has none must answer
// that nothing is linked.
type PullWorld interface {
	World
	// AddPull makes an open pull request and returns its number.
	AddPull(t *testing.T, p Pull) int
}

// Pull is a pull request to add.
type Pull struct {
	Body, Author string
	Labelled     bool
	// Closes are the issues that the tracker says it closes.
	Closes []int
	// Branch is its head; Foreign says that it is in another repository.
	Branch  string
	Foreign bool
}

// Run runs the suite. setup makes an empty tracker and a source on it.
func Run(t *testing.T, setup func(t *testing.T) (Source, World)) {
	tests := map[string]func(*testing.T, Source, World){
		"ID is the key form":                    testID,
		"P1 an empty tracker lists nothing":     testEmpty,
		"P1 lists what is open and labelled":    testList,
		"P1 a failing tracker is an error":      testBroken,
		"P2 comments come in thread order":      testOrder,
		"P8 State finds what was closed":        testClosed,
		"P8 State finds what lost its label":    testUnlabelled,
		"P8 State proves what is gone":          testGone,
		"P8 another source's item is refused":   testForeign,
		"Post can be read back":                 testPost,
		"React is accepted":                     testReact,
		"a cancelled context cuts at once":      testCancelled,
		"P8 a failing tracker proves nothing":   testBrokenState,
		"P2 ids are those of the last reading":  testStable,
		"A5 words arrive as they were written":  testVerbatim,
		"P1 the listing's date lets no one out": testDate,
		"P3 an issue has no links":              testNoLinks,
		"P3 links of a pull request":            testLinks,
		"P1 who closes an item":                 testClosing,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s, w := setup(t)
			test(t, s, w)
		})
	}
}

// Ref returns the ref of an item of a source.
func Ref(t *testing.T, s Source, number int) workitem.Ref {
	t.Helper()
	ref, err := workitem.ParseRef(s.ID() + "#" + strconv.Itoa(number))
	if err != nil {
		t.Fatalf("the source's id does not make a ref: %v", err)
	}
	return ref
}

func list(t *testing.T, s Source) []workitem.Item {
	t.Helper()
	listing, err := s.List(t.Context())
	if err != nil || len(listing.Bad) != 0 {
		t.Fatalf("List: %v, bad %v", err, listing.Bad)
	}
	return listing.Items
}

func comments(t *testing.T, s Source, it workitem.Item) []workitem.Comment {
	t.Helper()
	thread, err := s.Comments(t.Context(), it)
	if err != nil {
		t.Fatalf("Comments: %v", err)
	}
	return thread
}

func numbers(items []workitem.Item) []int {
	var out []int
	for _, it := range items {
		out = append(out, it.Ref.Number)
	}
	return out
}

func bodies(thread []workitem.Comment) []string {
	var out []string
	for _, c := range thread {
		out = append(out, c.Body)
	}
	return out
}

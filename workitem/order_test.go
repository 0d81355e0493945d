package workitem

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestThreadOrder(t *testing.T) { // P2
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	want := []Comment{
		{ID: "z", CreatedAt: at(1), Surface: Inline, DatabaseID: 9},
		{ID: "y", CreatedAt: at(2), Surface: Conversation, DatabaseID: 8},
		{ID: "x", CreatedAt: at(2), Surface: Review, DatabaseID: 1},
		{ID: "w", CreatedAt: at(2), Surface: Review, DatabaseID: 7},
		{ID: "a", CreatedAt: at(2), Surface: Inline},
		{ID: "b", CreatedAt: at(2), Surface: Inline},
	}
	rapid.Check(t, func(t *rapid.T) {
		got := rapid.Permutation(want).Draw(t, "comments")
		SortThread(got)
		if !slices.Equal(got, want) {
			t.Fatalf("sorted into %+v", got)
		}
	})
}

func TestNobody(t *testing.T) { // A1
	if !(Author{ID: 7}).Nobody() || (Author{Login: "octocat"}).Nobody() {
		t.Error("nobody is an author without a login")
	}
}

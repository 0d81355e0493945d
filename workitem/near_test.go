package workitem

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestNear(t *testing.T) {
	known := []string{
		"github:octo/repo#15", "github:octo/repo#16", "github:octo/repo#115", "github:octo/other#15", "github:octo/foo.js#7",
		"github:octo/repo#15", "github:ghe.corp.example/octo/repo#15", "jira:acme/core#204", "inbox:local/demo#1",
	}
	for _, tt := range []struct {
		s    string
		max  int
		want []string
	}{
		{"octo/repo#15", 3, []string{"github:octo/repo#15", "github:ghe.corp.example/octo/repo#15", "github:octo/other#15"}},
		{"GitHub:Octo/Repo#15", 1, []string{"github:octo/repo#15"}},
		{"github:ocot/repo#15", 1, []string{"github:octo/repo#15"}},
		{"204", 3, []string{"jira:acme/core#204"}},
		{"#204", 3, []string{"jira:acme/core#204"}},
		{"acme/core", 3, []string{"jira:acme/core#204"}},
		{"github:octo/foo.js#8", 2, []string{"github:octo/foo.js#7"}},
		{"github:octo/repo#99", 9, []string{"github:octo/repo#15", "github:octo/repo#16", "github:octo/repo#115"}},
		{"https://github.com/octo/repo/pull/17#issuecomment-1", 2, []string{"github:octo/repo#15", "github:octo/repo#16"}},
		{"gitlab:somebody/something#204", 3, []string{"jira:acme/core#204"}},
		{"nothing like it", 3, nil},
		{"5", 3, nil},
		{"", 3, nil},
		{"octo/repo#15", 0, nil},
		{"octo/repo#15", -1, nil},
	} {
		got := Near(tt.s, known, tt.max)
		if !slices.Equal(got, tt.want) {
			t.Errorf("Near(%q, %d) = %q, want %q", tt.s, tt.max, got, tt.want)
		}
	}
}

func TestNearDependsOnNoOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		known := rapid.SliceOfN(rapid.Map(refs(), Ref.String), 0, 12).Draw(t, "known")
		s := rapid.OneOf(rapid.Map(refs(), Ref.String), rapid.String()).Draw(t, "s")
		limit := rapid.IntRange(0, 5).Draw(t, "max")
		got := Near(s, known, limit)
		if shuffled := rapid.Permutation(known).Draw(t, "shuffled"); !slices.Equal(got, Near(s, shuffled, limit)) {
			t.Fatalf("Near(%q) depends on the order of %q", s, known)
		}
		if len(got) > limit {
			t.Fatalf("%d near matches, %d asked for", len(got), limit)
		}
		if slices.Contains(known, s) && limit > 0 && got[0] != s {
			t.Fatalf("Near(%q) = %q does not begin with itself", s, got)
		}
	})
}

func TestEditDistance(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"kitten", "sitting", 3}, {"ab", "ba", 2}, {"same", "same", 0}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

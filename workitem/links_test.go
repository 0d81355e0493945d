package workitem

import (
	"slices"
	"testing"
)

// P3: what a pull request closes goes before what its branch is named after,
// and an item that is both is there once.
func TestLinksRefs(t *testing.T) {
	ref := func(text string) Ref {
		r, err := ParseRef(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	one, two, other := ref("github:octo/repo#1"), ref("github:octo/repo#2"), ref("github:Octo/Repo#1")
	tests := []struct {
		name  string
		links Links
		want  []Ref
	}{
		{"nothing", Links{Branch: "patch-1", ForeignHead: true}, nil},
		{"closes", Links{Closes: []Ref{two, one}}, []Ref{two, one}},
		{"the branch's last", Links{Closes: []Ref{two}, Named: one}, []Ref{two, one}},
		{"the branch's alone", Links{Named: one}, []Ref{one}},
		{"both, in another spelling", Links{Closes: []Ref{two, other}, Named: one}, []Ref{two, other}},
	}
	for _, tt := range tests {
		if got := tt.links.Refs(); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

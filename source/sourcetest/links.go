package sourcetest

import (
	"reflect"
	"slices"
	"strconv"
	"testing"

	"theloop/workitem"
)

func testNoLinks(t *testing.T, s Source, w World) {
	w.Add(t, "an item", "octocat", true)
	it := list(t, s)[0]
	if links, err := s.Links(t.Context(), it); err != nil || !reflect.DeepEqual(links, workitem.Links{}) {
		t.Errorf("Links: %+v, %v", links, err)
	}
}

func testLinks(t *testing.T, s Source, w World) {
	first, second := w.Add(t, "an item", "octocat", true), w.Add(t, "another", "octocat", true)
	pulls, ok := w.(PullWorld)
	if !ok {
		return // it has no pull requests, whose links could be asked for
	}
	own := pulls.AddPull(t, Pull{Author: "octocat", Labelled: true, Closes: []int{second}, Branch: branchOf(first)})
	foreign := pulls.AddPull(t, Pull{Author: "hubot", Labelled: true, Foreign: true, Branch: "mine"})
	items := list(t, s)
	links, err := s.Links(t.Context(), itemOf(t, items, own))
	want := workitem.Links{Closes: []workitem.Ref{Ref(t, s, second)}, Named: Ref(t, s, first), Branch: branchOf(first)}
	if err != nil || !sameLinks(links, want) {
		t.Errorf("Links: %+v, %v, want %+v", links, err, want)
	}
	links, err = s.Links(t.Context(), itemOf(t, items, foreign))
	if want := (workitem.Links{Branch: "mine", ForeignHead: true}); err != nil || !sameLinks(links, want) {
		t.Errorf("Links from elsewhere: %+v, %v, want %+v", links, err, want)
	}
}

func testClosing(t *testing.T, s Source, w World) {
	number, quiet := w.Add(t, "an item", "octocat", true), w.Add(t, "another", "octocat", true)
	asked := []workitem.Ref{Ref(t, s, number)}
	if found, err := s.Closing(t.Context(), nil); err != nil || len(found) != 0 {
		t.Errorf("Closing nothing: %+v, %v", found, err)
	}
	if found, err := s.Closing(t.Context(), asked); err != nil || len(found) != 0 {
		t.Errorf("Closing what nobody closes: %+v, %v", found, err)
	}
	pulls, ok := w.(PullWorld)
	if !ok {
		return // nor could anybody close it
	}
	plain := pulls.AddPull(t, Pull{Author: "octocat", Closes: []int{number}, Branch: "mine"})
	labelled := pulls.AddPull(t, Pull{Author: "hubot", Labelled: true, Foreign: true, Closes: []int{quiet}, Branch: branchOf(number)})
	pulls.AddPull(t, Pull{Author: "octocat", Labelled: true, Closes: []int{quiet}, Branch: "other"})
	ended := pulls.AddPull(t, Pull{Author: "octocat", Closes: []int{number}, Branch: "done"})
	w.Close(t, ended)
	found, err := s.Closing(t.Context(), asked)
	if err != nil || len(found) != 2 {
		t.Fatalf("Closing: %+v, %v, want %d and %d", found, err, plain, labelled)
	}
	for i, want := range []Pull{{Author: "octocat"}, {Author: "hubot", Labelled: true, Foreign: true}} {
		it, links := found[i].Item, found[i].Links
		if it.Ref.Number != []int{plain, labelled}[i] || it.Kind != workitem.PullRequest || it.State != workitem.Open || it.Source != s.ID() ||
			it.Author.Login != want.Author || it.Labelled != want.Labelled || links.ForeignHead != want.Foreign {
			t.Errorf("Closing: %+v, want %+v", found[i], want)
		}
	}
	if named := found[1].Links.Named; named.Key() != asked[0].Key() {
		t.Errorf("the branch's issue is %s, want %s", named, asked[0])
	}
	defer w.Break(t)()
	if found, err := s.Closing(t.Context(), asked); err == nil {
		t.Errorf("Closing: %+v instead of an error", found)
	}
	if links, err := s.Links(t.Context(), found[0].Item); err == nil {
		t.Errorf("Links: %+v instead of an error", links)
	}
}

func itemOf(t *testing.T, items []workitem.Item, number int) workitem.Item {
	t.Helper()
	at := slices.IndexFunc(items, func(it workitem.Item) bool { return it.Ref.Number == number })
	if at < 0 {
		t.Fatalf("%d is not listed", number)
	}
	return items[at]
}

func sameLinks(a, b workitem.Links) bool {
	sameRef := func(a, b workitem.Ref) bool { return a.Key() == b.Key() }
	return slices.EqualFunc(a.Closes, b.Closes, sameRef) && sameRef(a.Named, b.Named) &&
		a.Branch == b.Branch && a.ForeignHead == b.ForeignHead
}

func branchOf(number int) string { return "issue-" + strconv.Itoa(number) }

package github

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	gogithub "github.com/google/go-github/v88/github"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

// A1: a deleted account is nobody; bots and apps are known as such.
func TestAuthors(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	for _, author := range []string{"octocat", "", "renovate[bot]"} {
		w.Add(t, "an item", author, true)
		w.Say(t, 1, author, "hello", time.Now())
	}
	s := w.source(t)
	items := listed(t, s).Items
	if a := items[0].Author; a.Login != "octocat" || a.ID == 0 || a.Bot {
		t.Errorf("author %+v", a)
	}
	if a := items[1].Author; a != (workitem.Author{}) {
		t.Errorf("author %+v", a)
	}
	if a := items[2].Author; a.Login != "renovate[bot]" || !a.Bot {
		t.Errorf("author %+v", a)
	}
	login := "renovate[BOT]"
	if !author(&gogithub.User{Login: &login}).Bot {
		t.Error("a bot by its name alone was not known as one")
	}
	w.DeleteAccount("octocat")
	thread, err := s.Comments(t.Context(), items[0])
	if err != nil || len(thread) != 3 || !thread[0].Author.Nobody() || !thread[1].Author.Nobody() || !thread[2].Author.Bot {
		t.Errorf("thread %+v, %v", thread, err)
	}
}

// P2: three surfaces, merged; what is not submitted or has no words is none.
func TestSurfaces(t *testing.T) {
	w := newWorld(t, githubtest.Options{MaxPerPage: 2})
	w.AddIssue(octo, githubtest.Issue{Title: "a pull request", Author: "octocat", Labels: []string{label}, Pull: true})
	at := time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)
	say := func(body string, after time.Duration) githubtest.Comment {
		return githubtest.Comment{Author: "octocat", Body: body, At: at.Add(after), Path: "a.go", Line: 7, OriginalLine: 5}
	}
	outdated := say("inline, outdated", 2*time.Minute)
	outdated.Line = 0
	w.AddInline(octo, 1, outdated)
	inline := w.AddInline(octo, 1, say("inline", time.Minute))
	pending := say("not sent yet", time.Minute)
	pending.State = "PENDING"
	w.AddReview(octo, 1, pending)
	approved := say("", time.Minute)
	approved.State = "APPROVED"
	w.AddReview(octo, 1, approved)
	review := w.AddReview(octo, 1, say("review", time.Minute))
	w.OldNodeIDs(true)
	old := w.AddComment(octo, 1, say("conversation", time.Minute))
	w.AddComment(octo, 1, say("first", 0))
	s := w.source(t)
	thread, err := s.Comments(t.Context(), listed(t, s).Items[0])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range thread {
		got = append(got, c.Body)
	}
	if want := []string{"first", "conversation", "review", "inline", "inline, outdated"}; !slices.Equal(got, want) {
		t.Fatalf("thread %q, want %q", got, want)
	}
	if c := thread[1]; c.ID != old.NodeID || c.DatabaseID != old.ID || c.Surface != workitem.Conversation || !strings.Contains(c.URL, "#issuecomment-") {
		t.Errorf("conversation %+v", c)
	}
	if c := thread[2]; c.ID != review.NodeID || c.Surface != workitem.Review || !c.UpdatedAt.Equal(c.CreatedAt) {
		t.Errorf("review %+v", c)
	}
	if c := thread[3]; c.ID != inline.NodeID || c.Surface != workitem.Inline || c.Path != "a.go" || c.Line != 7 {
		t.Errorf("inline %+v", c)
	}
	if c := thread[4]; c.Line != 5 {
		t.Errorf("outdated %+v", c)
	}
	for _, c := range thread {
		if _, n, ok := workitem.DatabaseID(c.ID); !ok || n != c.DatabaseID {
			t.Errorf("P4: id %s carries %d, not %d", c.ID, n, c.DatabaseID)
		}
	}
}

// P4: an id that is none fails its item, and only that.
func TestCommentIDs(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	for range 2 {
		w.Add(t, "an item", "octocat", true)
	}
	bad := w.AddComment(octo, 1, githubtest.Comment{Author: "octocat", Body: "hello"})
	w.Say(t, 2, "octocat", "hello", time.Now())
	s := w.source(t)
	for _, id := range []string{"../x", "$(x)", "a b", "-x", strings.Repeat("x", 257), "é"} {
		undo := w.Inject(githubtest.Fault{Mangle: githubtest.Change(bad.NodeID, id)})
		if thread, err := s.Comments(t.Context(), workitem.Item{Ref: s.ref(1)}); err == nil {
			t.Errorf("%q: %+v", id, thread)
		}
		if thread, err := s.Comments(t.Context(), workitem.Item{Ref: s.ref(2)}); err != nil || len(thread) != 1 {
			t.Errorf("the other item: %+v, %v", thread, err)
		}
		undo()
	}
	// An old server that has no node ids is known by its numbers.
	defer w.Inject(githubtest.Fault{Mangle: githubtest.Change(`"node_id":"`+bad.NodeID, `"node_id":"`)})()
	if thread, err := s.Comments(t.Context(), workitem.Item{Ref: s.ref(1)}); err != nil || len(thread) != 1 || thread[0].DatabaseID != bad.ID || thread[0].ID == "" {
		t.Errorf("without a node id: %+v, %v", thread, err)
	}
}

// A post whose answer is lost is an error, and is not sent twice.
func TestPostIsSentOnce(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "an item", "octocat", true)
	s := w.source(t)
	for _, lost := range []githubtest.Fault{
		{On: "POST", Mangle: githubtest.Lost(502)},
		{On: "POST", Instead: func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }},
	} {
		undo := w.Inject(lost)
		if _, err := s.Post(t.Context(), s.ref(1), "hello"); err == nil {
			t.Error("the answer was lost, and nobody noticed")
		}
		undo()
	}
	posts := 0
	for _, r := range w.Requests() {
		if strings.HasPrefix(r, "POST") {
			posts++
		}
	}
	if got := w.Comments(octo, 1); len(got) != 1 || posts != 2 {
		t.Errorf("%d requests left %+v", posts, got)
	}
}

// D12: reactions go where the comment stands; a review's body takes none.
func TestReactions(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.AddIssue(octo, githubtest.Issue{Title: "a pull request", Author: "octocat", Labels: []string{label}, Pull: true})
	w.AddComment(octo, 1, githubtest.Comment{Author: "octocat", Body: "conversation"})
	w.AddReview(octo, 1, githubtest.Comment{Author: "octocat", Body: "review"})
	w.AddInline(octo, 1, githubtest.Comment{Author: "octocat", Body: "inline", Path: "a.go", Line: 1})
	s := w.source(t)
	it := listed(t, s).Items[0]
	thread, err := s.Comments(t.Context(), it)
	if err != nil || len(thread) != 3 {
		t.Fatalf("%+v, %v", thread, err)
	}
	w.ForgetRequests()
	for _, c := range append(thread, workitem.Comment{}) {
		if err := s.React(t.Context(), it.Ref, c, "eyes"); err != nil {
			t.Error(err)
		}
	}
	// By its id alone, as a row of the ledger knows it.
	if err := s.React(t.Context(), it.Ref, workitem.Comment{ID: thread[0].ID}, "hooray"); err != nil {
		t.Error(err)
	}
	if got := w.Comments(octo, 1)[0].Reactions; !slices.Equal(got, []string{"eyes", "hooray"}) {
		t.Errorf("conversation: %v", got)
	}
	if got := w.Inline(octo, 1)[0].Reactions; !slices.Equal(got, []string{"eyes"}) {
		t.Errorf("inline: %v", got)
	}
	if got := w.Reactions(octo, 1); !slices.Equal(got, []string{"eyes"}) || len(w.Requests()) != 4 {
		t.Errorf("item: %v, requests %v", got, w.Requests())
	}
	if err := s.React(t.Context(), it.Ref, thread[0], "shrug"); err == nil {
		t.Error("an unknown reaction was accepted")
	}
	if err := s.React(t.Context(), it.Ref, workitem.Comment{ID: "x"}, "eyes"); err == nil {
		t.Error("a comment without a number was accepted")
	}
}

package github

import (
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"theloop/source/github/githubtest"
	"theloop/workitem"
)

func TestKinds(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "an issue", "octocat", true)
	w.AddIssue(octo, githubtest.Issue{Title: "a pull request", Author: "hubot", Labels: []string{label}, Pull: true})
	c := w.client(t, Options{})
	tests := []struct {
		issues, pulls bool
		want          []int
	}{{true, true, []int{1, 2}}, {true, false, []int{1}}, {false, true, []int{2}}}
	for _, tt := range tests {
		s, err := c.Repo(RepoOptions{Owner: "Octo", Repo: "Repo", Label: strings.ToUpper(label), Issues: tt.issues, PullRequests: tt.pulls})
		if err != nil {
			t.Fatal(err)
		}
		listing := listed(t, s)
		if got := refNumbers(listing.Items); !slices.Equal(got, tt.want) {
			t.Errorf("issues %t, pull requests %t: %v", tt.issues, tt.pulls, got)
		}
		if last := listing.Items[len(listing.Items)-1]; tt.pulls && (last.Kind != workitem.PullRequest || last.URL != "https://github.com/octo/repo/pull/2") {
			t.Errorf("pull request %+v", last)
		}
		if s.ID() != "github:octo/repo" || listing.Items[0].Ref.Owner != "Octo" {
			t.Errorf("id %s, ref %s", s.ID(), listing.Items[0].Ref)
		}
	}
}

// P1: a server that ignores the question does not decide what is worked on.
func TestServerIgnoresTheQuery(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "mine", "octocat", true)
	w.Add(t, "no label", "octocat", false)
	closed := w.Add(t, "closed", "octocat", true)
	w.CloseIssue(octo, closed)
	s := w.source(t)
	c := w.client(t, Options{})
	all, err := c.readList(t.Context(), s.path("issues"), map[string][]string{"state": {"all"}})
	if err != nil || len(all.elements) != 3 {
		t.Fatalf("%d items, %v", len(all.elements), err)
	}
	var text []string
	for _, e := range all.elements {
		text = append(text, string(e.raw))
	}
	w.Inject(githubtest.Fault{Instead: githubtest.JSON("[" + strings.Join(text, ",") + "]")})
	if got := refNumbers(listed(t, s).Items); !slices.Equal(got, []int{1}) {
		t.Errorf("listed %v", got)
	}
}

// P5: one item of the wrong shape fails alone; what has no name fails the list.
func TestBadItemFailsAlone(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	for range 3 {
		w.Add(t, "an item", "octocat", true)
	}
	s := w.source(t)
	bad := func(edit func(map[string]any)) (workitem.Listing, error) {
		undo := w.Inject(githubtest.Fault{Mangle: func(rw http.ResponseWriter, r *http.Request, real githubtest.Answer) {
			var items []map[string]any
			if err := json.Unmarshal(real.Body, &items); err != nil {
				t.Error(err)
			}
			edit(items[1])
			text, err := json.Marshal(items)
			if err != nil {
				t.Error(err)
			}
			githubtest.JSON(string(text))(rw, r)
		}})
		defer undo()
		return s.List(t.Context())
	}
	alone := map[string]func(map[string]any){
		"title is a number": func(m map[string]any) { m["title"] = 7 },
		"state unknown":     func(m map[string]any) { m["state"] = "merged" },
		"state missing":     func(m map[string]any) { delete(m, "state") },
		"labels are text":   func(m map[string]any) { m["labels"] = "bug" },
		"time is text":      func(m map[string]any) { m["updated_at"] = "yesterday" },
		"time is null":      func(m map[string]any) { m["updated_at"] = nil },
		"user is a list":    func(m map[string]any) { m["user"] = []int{} },
	}
	for name, edit := range alone {
		listing, err := bad(edit)
		if err != nil || !slices.Equal(refNumbers(listing.Items), []int{1, 3}) || len(listing.Bad) != 1 || listing.Bad[0].Ref.String() != "github:octo/repo#2" {
			t.Errorf("%s: %+v, %v", name, listing, err)
		}
	}
	whole := map[string]func(map[string]any){
		"no number":       func(m map[string]any) { delete(m, "number") },
		"number is text":  func(m map[string]any) { m["number"] = "2" },
		"number negative": func(m map[string]any) { m["number"] = -2 },
		"another's": func(m map[string]any) {
			m["repository_url"] = "https://api.github.com/repos/octo/other"
		},
	}
	for name, edit := range whole {
		if listing, err := bad(edit); err == nil {
			t.Errorf("%s: %+v", name, listing)
		}
	}
}

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

// P8: when an item is gone, and when it only looks so.
func TestGone(t *testing.T) {
	tests := []struct {
		name string
		do   func(w world)
		gone bool
		says string
	}{
		{"deleted", func(w world) { w.DeleteIssue(octo, 1) }, true, "410"},
		{"never there", func(w world) {
			w.Inject(githubtest.Fault{On: "GET /repos/octo/repo/issues/1", Instead: githubtest.Status(404, "Not Found")})
		}, true, "404"},
		{"transferred", func(w world) { w.TransferIssue(octo, 1, "octo/other") }, true, "octo/other"},
		{"transferred out of sight", func(w world) { w.TransferIssue(octo, 1, "octo/other"); w.HideRepo("octo/other", true) }, true, "404"},
		{"repository out of sight", func(w world) { w.HideRepo(octo, true) }, false, "not in sight"},
		{"repository renamed", func(w world) { w.RenameRepo(octo, "octo/new") }, false, "octo/new"},
		{"issues switched off", func(w world) { w.SwitchIssuesOff(octo) }, false, "switched off"},
		{"token revoked", func(w world) { w.Inject(githubtest.Fault{Instead: githubtest.Status(401, "Bad credentials")}) }, false, "401"},
		{"server down", func(w world) { w.Inject(githubtest.Fault{Instead: githubtest.HTML(503)}) }, false, "503"},
		{"limited while it is proved", func(w world) {
			w.DeleteIssue(octo, 1)
			w.Inject(githubtest.Fault{Nth: 2, Instead: githubtest.RateLimited(429, "", "Retry-After", "60")})
		}, false, "limits requests"},
		{"server down while it is proved", func(w world) {
			w.DeleteIssue(octo, 1)
			w.Inject(githubtest.Fault{Nth: 2, Instead: githubtest.HTML(502)})
		}, false, "502"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, githubtest.Options{})
			w.AddRepo("octo/other")
			w.Add(t, "an item", "octocat", true)
			s := w.source(t)
			tt.do(w)
			it, err := s.State(t.Context(), s.ref(1))
			if err == nil || errors.Is(err, workitem.ErrGone) != tt.gone || !strings.Contains(err.Error(), tt.says) {
				t.Errorf("State: %+v, %v; want gone %t and %q", it, err, tt.gone, tt.says)
			}
		})
	}
}

// P8: the tracker's time of closing; and a pull request is asked for like an
// issue.
func TestClosedAt(t *testing.T) {
	at := &clock{at: time.Date(2026, 7, 31, 9, 0, 0, 0, time.UTC)}
	w := newWorld(t, githubtest.Options{Now: at.now})
	w.AddIssue(octo, githubtest.Issue{Title: "a pull request", Author: "octocat", Labels: []string{label}, Pull: true})
	at.turn(time.Minute)
	w.CloseIssue(octo, 1)
	s := w.source(t)
	it, err := s.State(t.Context(), s.ref(1))
	if err != nil || it.State != workitem.Closed || it.Kind != workitem.PullRequest || !it.ClosedAt.Equal(at.now()) || !it.Labelled {
		t.Errorf("%+v, %v", it, err)
	}
	w.ReopenIssue(octo, 1)
	if it, err := s.State(t.Context(), s.ref(1)); err != nil || it.State != workitem.Open || !it.ClosedAt.IsZero() {
		t.Errorf("%+v, %v", it, err)
	}
}

// A renamed repository is said to be one, rather than watched under its old
// name.
func TestRenamedRepository(t *testing.T) {
	w := newWorld(t, githubtest.Options{})
	w.Add(t, "an item", "octocat", true)
	w.RenameRepo(octo, "octo/new")
	if _, err := w.source(t).List(t.Context()); err == nil || !strings.Contains(err.Error(), "octo/new") {
		t.Errorf("error %v", err)
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

// GitHub's own examples of a body read as what they are.
func TestDescribedExamples(t *testing.T) {
	text, err := os.ReadFile("../../testdata/github/github-openapi-subset.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Components struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	s := &Source{example: workitem.Ref{Provider: provider, Owner: "octocat", Repo: "Hello-World", Number: 1}, o: RepoOptions{Label: "bug"}}
	read := map[string]func(json.RawMessage) (workitem.Comment, error){
		"issue-comment-items": conversationComment, "pull-request-review-items": reviewComment,
		"pull-request-review-comment-items": inlineComment,
	}
	for name, f := range read {
		elements, err := decodeArray(compact(t, doc.Components.Examples[name].Value))
		if err != nil || len(elements) == 0 {
			t.Fatalf("%s: %v", name, err)
		}
		if c, err := f(elements[0].raw); err != nil || c.Body == "" || c.Author.Login != "octocat" || c.CreatedAt.IsZero() || c.URL == "" {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
	it, err := s.item(compact(t, doc.Components.Examples["issue"].Value))
	if err != nil || it.Ref.Number != 1347 || it.Title != "Found a bug" || !it.Labelled {
		t.Errorf("issue: %+v, %v", it, err)
	}
}

func compact(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	if len(raw) == 0 {
		t.Fatal("the example is not there")
	}
	return raw
}

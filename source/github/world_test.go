package github

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"go.uber.org/goleak"

	"theloop/source/github/githubtest"
	"theloop/source/sourcetest"
	"theloop/workitem"
)

const (
	label = "the-loop: auto-execute"
	octo  = "octo/repo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a GitHub with one repository.
type world struct{ *githubtest.Server }

func newWorld(t *testing.T, o githubtest.Options) world {
	t.Helper()
	w := world{githubtest.New(t, o)}
	w.AddRepo(octo)
	return w
}

func (w world) client(t *testing.T, o Options) *Client {
	t.Helper()
	if o.BaseURL == "" {
		o.BaseURL = w.URL()
	}
	if o.Token.From == "" {
		o.Token = NewToken(w.Token(), "GH_TOKEN")
	}
	c, err := NewClient(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (w world) source(t *testing.T) *Source {
	t.Helper()
	return repo(t, w.client(t, Options{}))
}

func repo(t *testing.T, c *Client) *Source {
	t.Helper()
	s, err := c.Repo(RepoOptions{Owner: "octo", Repo: "repo", Label: label, Issues: true, PullRequests: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (w world) Add(t *testing.T, title, author string, labelled bool) int {
	t.Helper()
	in := githubtest.Issue{Title: title, Author: author, Body: "the body"}
	if labelled {
		in.Labels = []string{"bug", label}
	}
	return w.AddIssue(octo, in)
}

func (w world) Say(t *testing.T, number int, author, body string, at time.Time) {
	t.Helper()
	w.AddComment(octo, number, githubtest.Comment{Author: author, Body: body, At: at})
}

func (w world) Close(_ *testing.T, number int)   { w.CloseIssue(octo, number) }
func (w world) Unlabel(_ *testing.T, number int) { w.SetLabels(octo, number, "bug") }
func (w world) Remove(_ *testing.T, number int)  { w.DeleteIssue(octo, number) }

func (w world) AddPull(_ *testing.T, p sourcetest.Pull) int {
	in := githubtest.PullRequest{Title: "a pull request", Body: p.Body, Author: p.Author, Branch: p.Branch}
	if p.Labelled {
		in.Labels = []string{"bug", label}
	}
	if p.Foreign {
		in.Fork = p.Author
	}
	for _, number := range p.Closes {
		in.Closes = append(in.Closes, fmt.Sprintf("%s#%d", octo, number))
	}
	return w.AddPullRequest(octo, in)
}

func (w world) Break(*testing.T) (mend func()) {
	return w.Inject(githubtest.Fault{Instead: githubtest.Status(http.StatusBadGateway, "Server Error")})
}

func TestConformance(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) (sourcetest.Source, sourcetest.World) {
		w := newWorld(t, githubtest.Options{})
		return w.source(t), w
	})
}

// P6: on GitHub Enterprise the host is in the refs, the API below /api/v3.
func TestConformanceEnterprise(t *testing.T) {
	sourcetest.Run(t, func(t *testing.T) (sourcetest.Source, sourcetest.World) {
		w := newWorld(t, githubtest.Options{Path: "/api/v3", Web: "https://ghe.corp.example", MaxPerPage: 2})
		c := w.client(t, Options{Host: "GHE.corp.example"})
		s := repo(t, c)
		if s.ID() != "github:ghe.corp.example/octo/repo" {
			t.Errorf("id %q", s.ID())
		}
		return s, w
	})
}

func listed(t *testing.T, s *Source) workitem.Listing {
	t.Helper()
	listing, err := s.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return listing
}

func refNumbers(items []workitem.Item) []int {
	var out []int
	for _, it := range items {
		out = append(out, it.Ref.Number)
	}
	return out
}

// each calls every question that a source answers.
func each(ctx context.Context, s *Source) map[string]error {
	ref := s.ref(1)
	_, list := s.List(ctx)
	_, comments := s.Comments(ctx, workitem.Item{Ref: ref, Kind: workitem.PullRequest})
	_, state := s.State(ctx, ref)
	_, post := s.Post(ctx, ref, "hello")
	_, self := s.Self(ctx)
	react := s.React(ctx, ref, workitem.Comment{}, "eyes")
	_, links := s.Links(ctx, workitem.Item{Ref: ref, Kind: workitem.PullRequest})
	_, closing := s.Closing(ctx, []workitem.Ref{ref})
	return map[string]error{
		"List": list, "Comments": comments, "State": state, "Post": post, "Self": self, "React": react,
		"Links": links, "Closing": closing,
	}
}

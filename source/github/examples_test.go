package github

import (
	"encoding/json"
	"os"
	"testing"

	"theloop/workitem"
)

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

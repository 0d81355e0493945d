package session

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// D10: the rules of Python's string.Template, in one pass.
func TestExpand(t *testing.T) {
	values := map[string]string{"work_item": "W", "event": "$work_item ${action}", "Under_1": "U"}
	for _, c := range []struct{ template, want string }{
		{"$work_item", "W"},
		{"${work_item}s", "Ws"},
		{"$work_items", "$work_items"}, // another name: it stays
		{"$$work_item", "$work_item"},
		{"$$$work_item", "$W"},
		{"$event", "$work_item ${action}"}, // what a value holds is not looked at again
		{"$Work_Item ${}", "$Work_Item ${}"},
		{"5 $ and $5 and ${5}", "5 $ and $5 and ${5}"},
		{"${work_item", "${work_item"},
		{"$Under_1.", "U."},
		{"$\u017fx $work_item\u0131", "$\u017fx W\u0131"}, // names are ASCII
		{"end $", "end $"},
	} {
		if got := expand(c.template, values); got != c.want {
			t.Errorf("%q is %q, not %q", c.template, got, c.want)
		}
	}
}

func templateFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "prompt.md")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// D10: a template of earlier releases works as it is; its own fence and heading
// around the data give way to the block's.
func TestTemplateOfEarlierReleases(t *testing.T) {
	path := templateFile(t, "# $event ($action) in $repository\r\n- id `$delivery_id`\n\n$graph_context\n\nWork on $work_item.\n\n```json\n$payload_excerpt\n```\n")
	got, err := newPrompter().news(octoAsk(), Settings{PromptTemplate: path})
	if err != nil {
		t.Fatal(err)
	}
	want := "# issue_comment (created) in octo/repo\n- id `poll-comment-IC_3`\n\nWork on github:octo/repo#15.\n\nThe JSON below is data"
	if !strings.HasPrefix(got, want) {
		t.Errorf("the prompt is\n%s", got)
	}
	if strings.Contains(got, "```json\nThe JSON") || !strings.Contains(got, agentMarker) {
		t.Errorf("the template's fence stands, or the directive is missing:\n%s", got)
	}
	if strings.Contains(got, "\r") {
		t.Error("a carriage return is left")
	}
}

const agentMarker = "<!-- the-loop:agent-comment -->"

// D10: what every prompt says is in one whose template leaves it out.
func TestTemplateIsMadeComplete(t *testing.T) {
	for _, template := range []string{"", "Go.", "$interaction_directive", "x\n$payload_excerpt", "-n is no option\x07\n$payload_excerpt"} {
		got, err := newPrompter().first(octoAsk(), Settings{SpawnPromptTemplate: templateFile(t, template)})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(got, agentMarker) || !strings.Contains(got, "Please use `Postgres`") || strings.Count(got, "`````json") != 1 {
			t.Errorf("%q gives\n%s", template, got)
		}
		if strings.HasPrefix(got, "-") || strings.Contains(got, "\x07") {
			t.Errorf("%q begins like an option, or may not be pasted:\n%q", template, got)
		}
	}
}

// A5: a comment that looks like a template is not one.
func TestTextIsNoTemplate(t *testing.T) {
	a := octoAsk()
	a.comment.Body = "$work_item ${interaction_directive} $$ $payload_excerpt"
	got, err := newPrompter().news(a, Settings{PromptTemplate: templateFile(t, "$payload_excerpt\n$interaction_directive")})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(got, `"text": "$work_item ${interaction_directive} $$ $payload_excerpt"`) {
		t.Errorf("the text was expanded:\n%s", got)
	}
}

// D10: a template that cannot be used falls back to the built-in one, said once.
func TestTemplateFallsBack(t *testing.T) {
	big := templateFile(t, strings.Repeat("x", maxTemplate+1))
	notText := templateFile(t, "\xff\xfe")
	for name, path := range map[string]string{"missing": filepath.Join(t.TempDir(), "gone.md"), "folder": t.TempDir(), "too big": big, "not UTF-8": notText} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			p := newPrompter()
			p.log = slog.New(slog.NewTextHandler(&log, nil))
			for range 3 {
				got, err := p.news(octoAsk(), Settings{PromptTemplate: path})
				if err != nil || !strings.HasPrefix(got, "# the-loop: news") {
					t.Fatalf("%v\n%s", err, got)
				}
			}
			if n := strings.Count(log.String(), "built-in"); n != 1 || !strings.Contains(log.String(), path) {
				t.Errorf("said %d times:\n%s", n, log.String())
			}
		})
	}
}

package workitem

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseRef(t *testing.T) { // P4
	for s, want := range map[string]Ref{
		"github:octo/repo#15":                         {"github", "", "octo", "repo", 15},
		"github:Octo/Repo#15":                         {"github", "", "Octo", "Repo", 15},
		"github:octo/foo.js#7":                        {"github", "", "octo", "foo.js", 7},
		"github:github.com/octo/repo#15":              {"github", "", "octo", "repo", 15},
		"github:GitHub.com/octo/repo#15":              {"github", "", "octo", "repo", 15},
		"github:ghe.corp.example/octo/repo#15":        {"github", "ghe.corp.example", "octo", "repo", 15},
		"github:GHE.corp.example/octo/repo#15":        {"github", "GHE.corp.example", "octo", "repo", 15},
		"github:localhost/octo/repo#1":                {"github", "localhost", "octo", "repo", 1},
		"github:localhost:8080/octo/repo#1":           {"github", "localhost:8080", "octo", "repo", 1},
		"github:ghe:8443/octo/repo#1":                 {"github", "ghe:8443", "octo", "repo", 1},
		"github:10.0.0.1/octo/repo#1":                 {"github", "10.0.0.1", "octo", "repo", 1},
		"jira:acme/core#204":                          {"jira", "", "acme", "core", 204},
		"jira:github.com/acme/core#204":               {"jira", "github.com", "acme", "core", 204},
		"inbox:local/demo#1":                          {"inbox", "", "local", "demo", 1},
		"git-lab2:octo/repo#1":                        {"git-lab2", "", "octo", "repo", 1},
		"github:octo_corp/repo#1":                     {"github", "", "octo_corp", "repo", 1},
		"github:old-/old--account#1":                  {"github", "", "old-", "old--account", 1},
		"github:octo/.github#1":                       {"github", "", "octo", ".github", 1},
		"github:octo/...#1":                           {"github", "", "octo", "...", 1},
		"github:octo/_#1":                             {"github", "", "octo", "_", 1},
		"github:" + long(39) + "/" + long(100) + "#1": {"github", "", long(39), long(100), 1},
	} {
		got, err := ParseRef(s)
		if err != nil || got != want {
			t.Errorf("ParseRef(%q) = %+v, %v", s, got, err)
		}
	}
}

func TestTheGreatestNumber(t *testing.T) {
	if strconv.IntSize < 64 {
		t.Skip("an int has 32 bits here, so that the limit is another one")
	}
	if r, err := ParseRef("github:octo/repo#9007199254740992"); err != nil || int64(r.Number) != maxNumber {
		t.Errorf("2^53: %d, %v", r.Number, err)
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func TestParseRefSaysWhatIsWrong(t *testing.T) { // P4, A5
	for _, tt := range []struct{ ref, says string }{
		{"", "empty"},
		{"octo/repo#15", "no provider"},
		{":octo/repo#15", `provider ""`},
		{"GitHub:octo/repo#15", `provider "GitHub"`},
		{"2hub:octo/repo#15", `provider "2hub"`},
		{"github:octo/repo", "no #number"},
		{"github:octo/repo#", `number ""`},
		{"github:octo/repo#0", `number "0"`},
		{"github:octo/repo#015", `number "015"`},
		{"github:octo/repo#+15", `number "+15"`},
		{"github:octo/repo#-15", `number "-15"`},
		{"github:octo/repo#1e3", `number "1e3"`},
		{"github:octo/repo#1#2", `number "1#2"`},
		{"github:octo/repo#9007199254740993", "9007199254740992"},
		{"github:octo/repo#99999999999999999999", "number"},
		{"github:repo#15", "not 1 segments"},
		{"github:octo/repo/sub#18", `"octo" cannot be a host`},
		{"github:a.example/octo/repo/sub#18", "not 4 segments"},
		{"github:/octo/repo#15", "host"},
		{"github:octo//#15", `"octo" cannot be a host`},
		{"github:ghe.corp.example/octo#15", `owner "ghe.corp.example"`},
		{"github:ghe.example:0/octo/repo#15", `port "0"`},
		{"github:ghe.example:/octo/repo#15", `port ""`},
		{"github:ghe.example:65536/octo/repo#15", `port "65536"`},
		{"github:ghe.example:080/octo/repo#15", `port "080"`},
		{"github:ghe..example/octo/repo#15", `host "ghe..example"`},
		{"github:ghe.example./octo/repo#15", `host "ghe.example."`},
		{"github:-ghe.example/octo/repo#15", `host "-ghe.example"`},
		{"github:user@ghe.example/octo/repo#15", `host "user@ghe.example"`},
		{"github:" + long(64) + ".example/octo/repo#15", "host"},
		{"github:" + strings.Repeat("x.", 127) + "x/octo/repo#15", "255 bytes"},
		{"github:/repo#15", `owner ""`},
		{"github:-octo/repo#15", `owner "-octo"`},
		{"github:oc.to/repo#15", `owner "oc.to"`},
		{"github:" + long(40) + "/repo#15", "1 to 39"},
		{"github:octo/#15", `repository ""`},
		{"github:octo/.#15", `repository "."`},
		{"github:octo/..#15", `repository ".."`},
		{"github:../x#15", `owner ".."`},
		{"github:octo/--upload-pack=x#15", `repository "--upload-pack=x"`},
		{"github:octo/--upload-pack#15", `repository "--upload-pack"`},
		{"github:octo/$(x)#15", `repository "$(x)"`},
		{"github:octo/" + long(101) + "#15", "1 to 100"},
		{"github:octo/repo #15", "space at byte 16"},
		{" github:octo/repo#15", "space at byte 0"},
		{"github:octo/repo#15\n", `control character (U+000A) at byte 19`},
		{"github:octo/re\x00po#15", "control character (U+0000) at byte 14"},
		{"github:octo/re\x7fpo#15", "control character (U+007F)"},
		{"github:\u043Ecto/repo#15", "U+043E"},
		{"github:octo/repo\uFF0315", "U+FF03"},
		{"github:octo/re\u200Bpo#15", "U+200B"},
		{"github:octo/repo#\u0661", "U+0661"},
		{"github:octo/re\xffpo#15", "UTF-8"},
		{"github:octo/" + long(600) + "#15", "more than 512"},
	} {
		got, err := ParseRef(tt.ref)
		if err == nil {
			t.Errorf("ParseRef(%q) = %+v", tt.ref, got)
			continue
		}
		if !strings.Contains(err.Error(), tt.says) || !strings.Contains(err.Error(), "github:octo/repo#15 or") {
			t.Errorf("ParseRef(%q): %v\ndoes not say %q and show an example", tt.ref, err, tt.says)
		}
		if !plain(err.Error()) || len(err.Error()) > 600 {
			t.Errorf("ParseRef(%q): the error is not plain and short: %q", tt.ref, err)
		}
		if got != (Ref{}) {
			t.Errorf("ParseRef(%q) gives %+v with its error", tt.ref, got)
		}
	}
}

// plain reports whether s can be shown anywhere: one line of ASCII (A8).
func plain(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
}

func TestNewRef(t *testing.T) { // P4
	if r, err := NewRef("github", "github.com", "octo", "repo", 15); err != nil || r.String() != "github:octo/repo#15" || r.Host != "" {
		t.Errorf("NewRef = %+v, %v", r, err)
	}
	for _, r := range []Ref{
		{}, {"github", "octo", "octo", "repo", 1}, {"github", "", "../..", "repo", 1}, {"github", "", "a/b", "repo", 1},
		{"github", "", "octo", "$(x)", 1}, {"github", "", "octo", "repo", 0}, {"github", "", "octo", "repo", -1},
		{"git hub", "", "octo", "repo", 1}, {"github", "", "octo", "re\x00po", 1},
	} {
		if got, err := NewRef(r.Provider, r.Host, r.Owner, r.Repo, r.Number); err == nil {
			t.Errorf("NewRef of %+v = %+v", r, got)
		}
	}
}

func TestKeyAndSlug(t *testing.T) { // D6
	for _, tt := range []struct{ ref, key, slug string }{
		{"github:octo/repo#15", "github:octo/repo#15", "github-octo-repo-15"},
		{"github:Octo/Foo.js#7", "github:octo/foo.js#7", "github-Octo-Foo.js-7"},
		{"github:GHE.corp.example/octo/repo#15", "github:ghe.corp.example/octo/repo#15", "github-GHE.corp.example-octo-repo-15"},
		{"github:localhost:8080/octo/repo#1", "github:localhost:8080/octo/repo#1", "github-localhost-8080-octo-repo-1"},
		{"github:octo_corp/a_b--c#1", "github:octo_corp/a_b--c#1", "github-octo_corp-a_b--c-1"},
		{"jira:acme/core#204", "jira:acme/core#204", "jira-acme-core-204"},
		{"inbox:local/demo#1", "inbox:local/demo#1", "inbox-local-demo-1"},
	} {
		r, err := ParseRef(tt.ref)
		if err != nil || r.Key() != tt.key || r.Slug() != tt.slug {
			t.Errorf("%s: key %q, slug %q, %v", tt.ref, r.Key(), r.Slug(), err)
		}
	}
	odd := Ref{Provider: "a b", Owner: "../é", Repo: "$(x)", Number: 1}
	if got := odd.Slug(); got != "a-b-..---x--1" {
		t.Errorf("a slug of anything is safe: %q", got)
	}
}

func TestSlugHashPartsEqualSlugs(t *testing.T) { // D6
	a, b := Ref{"github", "", "octo-cat", "repo", 1}, Ref{"github", "", "octo", "cat-repo", 1}
	if a.Slug() != b.Slug() {
		t.Fatalf("%s and %s were to have one slug", a, b)
	}
	if a.SlugHash() == b.SlugHash() || len(a.SlugHash()) != 8 || strings.Trim(a.SlugHash(), "0123456789abcdef") != "" {
		t.Errorf("hashes %q and %q", a.SlugHash(), b.SlugHash())
	}
	// It must not change: names of sessions and folders are made of it.
	if got := (Ref{"github", "", "Octo", "Repo", 15}).SlugHash(); got != "5114b957" || got != (Ref{"github", "", "octo", "repo", 15}).SlugHash() {
		t.Errorf("the hash of octo/repo#15 is %q", got)
	}
}

func TestZeroRef(t *testing.T) {
	var zero Ref
	if !zero.Zero() || zero.String() != "" || zero.Key() != "" || (Ref{Number: 1}).Zero() {
		t.Errorf("the zero Ref is %q", zero.String())
	}
}

func TestRefAsJSON(t *testing.T) {
	type doc struct {
		Ref  Ref         `json:"ref"`
		None Ref         `json:"none"`
		Left Ref         `json:"left,omitzero"`
		Map  map[Ref]int `json:"map"`
	}
	r := Ref{"github", "ghe.corp.example", "Octo", "repo", 15}
	in := doc{Ref: r, Map: map[Ref]int{r: 1}}
	raw, err := json.Marshal(in)
	const want = `{"ref":"github:ghe.corp.example/Octo/repo#15","none":"","map":{"github:ghe.corp.example/Octo/repo#15":1}}`
	if err != nil || string(raw) != want {
		t.Fatalf("Marshal = %s, %v", raw, err)
	}
	var out doc
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(in, out); diff != "" {
		t.Error(diff)
	}
	kept := doc{Ref: r}
	if err := json.Unmarshal([]byte(`{"ref":"github:octo/repo/sub#18"}`), &kept); err == nil || kept.Ref != r {
		t.Errorf("a bad ref: %v, %s", err, kept.Ref)
	}
	if raw, err := json.Marshal(doc{Ref: Ref{"github", "", "ghe.example/octo", "repo", 1}}); err == nil {
		t.Errorf("a ref that does not read back is written: %s", raw)
	}
}

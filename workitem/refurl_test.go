package workitem

import (
	"slices"
	"strings"
	"testing"
)

func TestURL(t *testing.T) {
	for _, tt := range []struct {
		ref         Ref
		issue, pull string
	}{
		{Ref{"github", "", "octo", "repo", 15}, "https://github.com/octo/repo/issues/15", "https://github.com/octo/repo/pull/15"},
		{Ref{"github", "ghe.corp.example", "octo", "repo", 15}, "https://ghe.corp.example/octo/repo/issues/15", "https://ghe.corp.example/octo/repo/pull/15"},
		{Ref{"github", "ghe:8443", "Octo", "foo.js", 1}, "https://ghe:8443/Octo/foo.js/issues/1", "https://ghe:8443/Octo/foo.js/pull/1"},
		{Ref{"jira", "", "acme", "core", 204}, "", ""},
		{Ref{}, "", ""},
	} {
		if tt.ref.URL(Issue) != tt.issue || tt.ref.URL(PullRequest) != tt.pull {
			t.Errorf("%s: %q, %q", tt.ref, tt.ref.URL(Issue), tt.ref.URL(PullRequest))
		}
		want := []string{tt.issue, tt.pull}
		if tt.issue == "" {
			want = nil
		}
		if got := tt.ref.URLs(); !slices.Equal(got, want) {
			t.Errorf("%s: URLs = %q", tt.ref, got)
		}
	}
}

func TestParseRefOrURL(t *testing.T) {
	const here = "github:octo/repo#15"
	for s, want := range map[string]string{
		here:                                                                    here,
		"inbox:local/demo#1":                                                    "inbox:local/demo#1",
		"https://github.com/octo/repo/issues/15":                                here,
		"https://github.com/octo/repo/pull/15":                                  here,
		"HTTPS://GitHub.com/octo/repo/pull/15":                                  here,
		"http://github.com/octo/repo/issues/15":                                 here,
		"https://www.github.com/octo/repo/issues/15":                            here,
		"https://github.com:443/octo/repo/issues/15":                            here,
		"https://github.com/octo/repo/issues/15/":                               here,
		"https://github.com/octo/repo/issues/15#issuecomment-1":                 here,
		"https://github.com/octo/repo/issues/15?q=\u00E9 x#issuecomment-1":      here,
		"https://github.com/octo/repo/issues/15?q=" + strings.Repeat("x", 2000): here,
		"https://github.com/octo/repo/pull/15/files?diff=split#r7":              here,
		"https://github.com/octo/repo/pull/15#discussion_r7":                    here,
		"https://github.com/octo/repo/pull/15/commits/0123abc":                  here,
		"https://ghe.corp.example/octo/repo/issues/15":                          "github:ghe.corp.example/octo/repo#15",
		"https://ghe.corp.example:8443/octo/repo/issues/15":                     "github:ghe.corp.example:8443/octo/repo#15",
		"http://localhost:8080/octo/repo/issues/15":                             "github:localhost:8080/octo/repo#15",
	} {
		got, err := ParseRefOrURL(s)
		if err != nil || got.String() != want {
			t.Errorf("ParseRefOrURL(%q) = %s, %v", s, got, err)
		}
	}
}

func TestParseRefOrURLSaysWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ url, says string }{
		{"https://", "no host"},
		{"https://github.com", "path"},
		{"https://github.com/octo/repo", "path"},
		{"https://github.com/octo/repo/issues", "path"},
		{"https://github.com/octo/repo/discussions/15", "path"},
		{"https://github.com/octo/repo/issues/new", `number "new"`},
		{"https://github.com/octo/repo/issues/015", `number "015"`},
		{"https://github.com/octo//issues/15", `repository ""`},
		{"https://github.com/oc%74o/repo/issues/15", `owner "oc%74o"`},
		{"https://github.com/octo/%2e%2e/issues/15", `repository "%2e%2e"`},
		{"https://github.com@evil.example/octo/repo/issues/15", "user name"},
		{"https://ghe/octo/repo/issues/15", "cannot be a host"},
		{"https:///octo/repo/issues/15", "host"},
		{"https://[::1]/octo/repo/issues/15", "host"},
		{"https://[/octo/repo/issues/15", "not a web address"},
		{"https://github.com/octo/repo/issues/15\n", "U+000A"},
		{"https://g\u0456thub.com/octo/repo/issues/15", "U+0456"},
		{"ftp://github.com/octo/repo/issues/15", "github:octo/repo#15 or"},
	} {
		got, err := ParseRefOrURL(tt.url)
		if err == nil || !strings.Contains(err.Error(), tt.says) || !plain(err.Error()) {
			t.Errorf("ParseRefOrURL(%q) = %s, %v; want it to say %q", tt.url, got, err, tt.says)
		}
	}
}

package github

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"theloop/workitem"
)

// P3: which issues a text closes, as GitHub reads it.
func TestClosingWords(t *testing.T) {
	home := workitem.Ref{Provider: provider, Owner: "octo", Repo: "repo", Number: 1}
	tests := map[string]string{
		"closes #12": "octo/repo#12",
		"close #1, closes #2, closed #3, fix #4, fixes #5, fixed #6, resolve #7, resolves #8, resolved #9": "octo/repo#1 octo/repo#2 octo/repo#3 octo/repo#4 octo/repo#5 octo/repo#6 octo/repo#7 octo/repo#8 octo/repo#9",
		"CLOSES: #12":                                             "octo/repo#12",
		"Fixes octo/other#3":                                      "octo/other#3",
		"fixes GH-4 and gh-5":                                     "octo/repo#4",
		"resolves https://github.com/o/r/issues/4":                "o/r#4",
		"Resolves https://github.com/o/my_big_r/issues/4.":        "o/my_big_r#4",
		"resolves <https://github.com/o/r/issues/4>":              "o/r#4",
		"resolves https://github.com/o/r/issues/4#issuecomment-1": "o/r#4",
		"closes https://GitHub.com/o/r/issues/4)":                 "o/r#4",
		"This, which\ncloses\n#12, is fine":                       "octo/repo#12",
		"(closes #12)":                                            "octo/repo#12",
		"**Closes** #12, _fixes #13_":                             "octo/repo#12 octo/repo#13",
		"closes **#12**, fixes: *octo/x#3*":                       "octo/repo#12 octo/x#3",
		"> no\r\rcloses #12":                                      "octo/repo#12",
		"**Closes: #12**":                                         "octo/repo#12",
		"- closes #12\n- [x] fixes #13\n1. resolves #14":          "octo/repo#12 octo/repo#13 octo/repo#14",
		"# Closes #12":                                            "octo/repo#12",
		"closes #12 fixes #12 closes Octo/Repo#12":                "octo/repo#12",
		"closes #12\r\nfixes #13\r":                               "octo/repo#12 octo/repo#13",
		"\uFEFF> no\n\ncloses #12":                                "octo/repo#12",
		"closes #12; اغلق closes #13":                             "octo/repo#12 octo/repo#13",
		"<details>\n<summary>x</summary>\n\nFixes #1\n</details>": "octo/repo#1",
		"<b>closes</b> #12":                                       "octo/repo#12",
		"<pre>\ncloses #1\n</pre>\n\ncloses #12":                  "octo/repo#12",
		"does not fix #12":                                        "octo/repo#12",
		"fixes #1 and #12":                                        "octo/repo#1",
		"closes fixes #12":                                        "octo/repo#12",
		"closes #12's":                                            "octo/repo#12",
		"`a` closes #12 `b`":                                      "octo/repo#12",
		"closes #12/#13":                                          "octo/repo#12",
		"closes #9007199254740992":                                "octo/repo#9007199254740992",

		"":                             "",
		"#12":                          "",
		"see #12":                      "",
		"closing #12":                  "",
		"fixx #12":                     "",
		"prefixes #12":                 "",
		"hot-fixes #12":                "",
		"closes#12":                    "",
		"fixes- #12":                   "",
		"fixes 12":                     "",
		"fixes issue #12":              "",
		"closes the #12":               "",
		"closes #0":                    "",
		"closes #012":                  "",
		"closes #-12":                  "",
		"closes #12a":                  "",
		"closes #12-13":                "",
		"closes #12_a":                 "",
		"closes #١٢":                   "",
		"closes #12٣":                  "",
		"closes #9007199254740993":     "",
		"closes #99999999999999999999": "",
		"closes repo#12":               "",
		"closes a/b/c#12":              "",
		"closes --x/y#12":              "",
		"closes o/..#12":               "",
		"closes o/-x#12":               "",
		"closes [#12](https://github.com/octo/repo/issues/12)": "",
		"closes https://github.com/o/r/pull/4":                 "",
		"closes https://github.com.evil.example/o/r/issues/4":  "",
		"closes https://ghe.corp.example/o/r/issues/4":         "",
		"closes https://me@github.com/o/r/issues/4":            "",
		"closes ftp://github.com/o/r/issues/4":                 "",
		"closes https://github.com/o/r/issues/x":               "",
		"`closes #12`":                                         "",
		"closes `#12`":                                         "",
		"closes `x` #12":                                       "",
		"```\ncloses #12\n```":                                 "",
		"~~~\ncloses #12":                                      "",
		"    closes #12":                                       "",
		"\uFEFF> closes #12":                                   "",
		"<blockquote><!-- </blockquote> -->\n\ncloses #12":     "",
		"a </code> <code>closes #12</code>":                    "",
		"> closes #12":                                         "",
		"> closes\n#12":                                        "",
		"- > closes #12":                                       "",
		"<!-- closes #12 -->":                                  "",
		"a <!-- closes #12 --> b":                              "",
		"<!--\n\ncloses #12\n\n-->":                            "",
		"<!-- closes #12":                                      "",
		"a <code>closes #12</code>":                            "",
		"<blockquote>\n\ncloses #12\n\n</blockquote>":          "",
		"<!-- </blockquote> --><BlockQuote>\n\ncloses #12":     "",
		"<p title=\"closes #12\">":                             "",
		"a <del>closes #12</del>":                              "",
		"closes\n\n#12":                                        "",
		"# closes\n#12":                                        "",
		"- closes\n- #12":                                      "",
		"[x]: y \"closes #12\"":                                "",
		strings.Repeat("> ", 300) + "x\n\ncloses #12":          "",
		strings.Repeat("x", maxWords) + " closes #12":          "",
	}
	for body, want := range tests {
		var got []string
		for _, ref := range closingWords(home, body) {
			got = append(got, strings.TrimPrefix(ref.String(), "github:"))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%.80q: %v, want %s", body, got, want)
		}
	}
}

// P3, P6: on a server of one's own, its addresses are the issues'.
func TestClosingWordsEnterprise(t *testing.T) {
	home := workitem.Ref{Provider: provider, Host: "ghe.corp.example", Owner: "octo", Repo: "repo", Number: 1}
	got := closingWords(home, "closes #1, fixes https://GHE.corp.example/o/r/issues/2, fixes https://github.com/o/r/issues/3, fixes o/r#4")
	want := []string{"github:ghe.corp.example/octo/repo#1", "github:ghe.corp.example/o/r#2", "github:ghe.corp.example/o/r#4"}
	if !slices.Equal(keys(got), want) {
		t.Errorf("%v, want %v", keys(got), want)
	}
}

func keys(refs []workitem.Ref) []string {
	var out []string
	for _, r := range refs {
		out = append(out, r.Key())
	}
	return out
}

// P3: whatever a text is, what it closes is well named, each once and not too
// much; a text that is quoted, or in code, closes nothing.
func TestClosingWordsHold(t *testing.T) {
	home := workitem.Ref{Provider: provider, Owner: "octo", Repo: "repo", Number: 1}
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{
			"closes ", "Fixes: ", "#12 ", "octo/x#3", "GH-4", "https://github.com/o/r/issues/5", "\n", "\n\n", "`", "```\n", "> ", "- ",
			"    ", "<!--", "-->", "<code>", "</code>", "<", ">", "[", "](", "*", "_", "\\", "&#35;", "\r", "\uFEFF", "\u202e", "\x00",
		}),
		rapid.String(),
	)
	rapid.Check(t, func(t *rapid.T) {
		body := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(t, "pieces"), "")
		seen := map[string]bool{}
		refs := closingWords(home, body)
		for _, r := range refs {
			if parsed, err := workitem.ParseRef(r.String()); err != nil || parsed != r || seen[r.Key()] {
				t.Fatalf("%v, %v, seen %t", r, err, seen[r.Key()])
			}
			seen[r.Key()] = true
		}
		line := strings.NewReplacer("\n", " ", "\r", " ").Replace(body)
		if got := closingWords(home, "> "+line); len(got) != 0 {
			t.Fatalf("quoted: %v", got)
		}
		if got := closingWords(home, "~~~\n"+line+"\n"); len(got) != 0 {
			t.Fatalf("code: %v", got)
		}
	})
	if got := closingWords(home, strings.Repeat("closes o/a#1 closes o/b#1 ", 50)); len(got) != 2 {
		t.Errorf("%v", got)
	}
	var many strings.Builder
	for n := range 2 * maxWordRefs {
		fmt.Fprintf(&many, "closes #%d ", n+1)
	}
	if got := closingWords(home, many.String()); len(got) != maxWordRefs {
		t.Errorf("%d issues", len(got))
	}
}

// Texts made to be slow are not.
func BenchmarkClosingWordsHostile(b *testing.B) {
	home := workitem.Ref{Provider: provider, Owner: "octo", Repo: "repo", Number: 1}
	for _, piece := range []string{"> ", "- ", "<!-- ", "<a b=\"", "` `` ", "[", "](", "<a\n", "\t- ", "closes #1 "} {
		b.Run(strings.TrimSpace(piece), func(b *testing.B) {
			body := strings.Repeat(piece, maxWords/len(piece))
			for b.Loop() {
				closingWords(home, body)
			}
		})
	}
}

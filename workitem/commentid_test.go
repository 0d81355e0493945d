package workitem

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// node makes a node id of the new generation from the bytes of its array.
func node(prefix string, packed ...byte) string {
	return prefix + "_" + base64.RawURLEncoding.EncodeToString(packed)
}

// oldNode makes a node id of the old generation.
func oldNode(kind string, n int64) string {
	return base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "0%d:%s%d", len(kind), kind, n))
}

func TestDatabaseID(t *testing.T) { // P4
	for _, tt := range []struct {
		id, kind string
		n        int64
	}{
		{"MDEyOklzc3VlQ29tbWVudDI0NTE=", KindIssueComment, 2451},
		{"MDEyOklzc3VlQ29tbWVudDI0NTE", KindIssueComment, 2451},
		{oldNode(KindReview, 7), KindReview, 7},
		{oldNode(KindReviewComment, 8), KindReviewComment, 8},
		{oldNode(KindIssueComment, math.MaxInt64), KindIssueComment, math.MaxInt64},
		{"IC_kwDOQ1aB7s6Zq001", KindIssueComment, 0x99AB4D35},
		{"PRR_kwDOQ1aB7s6Zq002", KindReview, 0x99AB4D36},
		{"PRRC_kwDOQ1aB7s6Zq002", KindReviewComment, 0x99AB4D36},
		{node("IC", 0x93, 0, 0xce, 1, 2, 3, 4, 0xcd, 0x09, 0x93), KindIssueComment, 2451},
		{node("IC", 0x93, 0, 0x01, 0x7f), KindIssueComment, 127},
		{node("IC", 0x93, 0, 0xcc, 0xff, 0xcc, 0x80), KindIssueComment, 128},
		{node("IC", 0x93, 0, 0xcf, 0, 0, 0, 1, 0, 0, 0, 0, 0xcf, 0, 0, 0, 1, 0, 0, 0, 2), KindIssueComment, 1<<32 + 2},
		{node("IC", 0x93, 0, 1, 0xcf, 0, 0, 0, 0, 0, 0, 0x09, 0x93), KindIssueComment, 2451},
	} {
		kind, n, ok := DatabaseID(tt.id)
		if kind != tt.kind || n != tt.n || !ok {
			t.Errorf("DatabaseID(%q) = %q, %d, %v; want %q, %d", tt.id, kind, n, ok, tt.kind, tt.n)
		}
	}
}

func TestNoDatabaseID(t *testing.T) { // P4
	for why, id := range map[string]string{
		"nothing":                  "",
		"a number":                 "10231",
		"the name of a file":       "20260731T091158Z-octocat.md",
		"a short id":               "IC_1",
		"no array":                 "IC_",
		"another kind, new":        node("I", 0x93, 0, 1, 2),
		"another kind, old":        oldNode("Issue", 2451),
		"small letters":            "ic_kwDOQ1aB7s6Zq001",
		"a wrong length, old":      base64.StdEncoding.EncodeToString([]byte("013:IssueComment2451")),
		"no number, old":           oldNode(KindIssueComment, 0)[:22],
		"zero, old":                oldNode(KindIssueComment, 0),
		"negative, old":            oldNode(KindIssueComment, -1),
		"a leading zero, old":      base64.StdEncoding.EncodeToString([]byte("012:IssueComment02451")),
		"too big, old":             base64.StdEncoding.EncodeToString([]byte("012:IssueComment9223372036854775808")),
		"something behind it, old": base64.StdEncoding.EncodeToString([]byte("012:IssueComment2451x")),
		"zero, new":                node("IC", 0x93, 0, 1, 0),
		"too big, new":             node("IC", 0x93, 0, 1, 0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		"negative, new":            node("IC", 0x93, 0, 1, 0xff),
		"an array of two":          node("IC", 0x92, 0, 1),
		"another first number":     node("IC", 0x93, 1, 1, 2),
		"cut":                      node("IC", 0x93, 0, 1, 0xce, 1, 2, 3),
		"no third number":          node("IC", 0x93, 0, 1),
		"no second number":         node("IC", 0x93, 0),
		"something behind it, new": node("IC", 0x93, 0, 1, 2, 3),
		"bits behind its end":      "IC_kwABAh",
		"bits behind its end, old": "MDEyOklzc3VlQ29tbWVudDI0NTF=",
		"not base64":               "IC_kwDO.1aB7s6Zq001",
		"a line break in it":       "MDEyOklzc3Vl\nQ29tbWVudDI0NTE=",
	} {
		if kind, n, ok := DatabaseID(id); ok || kind != "" || n != 0 {
			t.Errorf("%s: DatabaseID(%q) = %q, %d, %v", why, id, kind, n, ok)
		}
	}
}

func TestSameComment(t *testing.T) { // P4
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"10231", "10231", true},
		{"10231", "10232", false},
		{"IC_1", "IC_1", true},
		{"IC_1", "IC_2", false},
		{"", "", true},
		{"MDEyOklzc3VlQ29tbWVudDI0NTE=", node("IC", 0x93, 0, 0xce, 1, 2, 3, 4, 0xce, 0, 0, 0x09, 0x93), true},
		{"MDEyOklzc3VlQ29tbWVudDI0NTE=", node("PRR", 0x93, 0, 0xce, 1, 2, 3, 4, 0xce, 0, 0, 0x09, 0x93), false},
		{"MDEyOklzc3VlQ29tbWVudDI0NTE=", oldNode(KindReviewComment, 2451), false},
		{"MDEyOklzc3VlQ29tbWVudDI0NTE=", "2451", false},
		{"PRR_kwDOQ1aB7s6Zq002", "PRRC_kwDOQ1aB7s6Zq002", false},
		{"IC_kwDOQ1aB7s6Zq001", "IC_kwDOQ1aB7s6Zq000", false},
		{oldNode(KindReviewComment, 1), node("PRRC", 0x93, 0, 1, 1), true},
	} {
		if SameComment(tt.a, tt.b) != tt.want || SameComment(tt.b, tt.a) != tt.want {
			t.Errorf("SameComment(%q, %q) is not %v", tt.a, tt.b, tt.want)
		}
	}
}

func TestBothGenerationsName(t *testing.T) { // P4
	prefixes := map[string]string{KindIssueComment: "IC", KindReview: "PRR", KindReviewComment: "PRRC"}
	kinds := rapid.SampledFrom([]string{KindIssueComment, KindReview, KindReviewComment})
	rapid.Check(t, func(t *rapid.T) {
		kind, n := kinds.Draw(t, "kind"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "n")
		packed := binary.BigEndian.AppendUint64(append([]byte{0x93, 0, 0xce}, 1, 2, 3, 4, 0xcf), uint64(n))
		oldID, newID := oldNode(kind, n), node(prefixes[kind], packed...)
		if !SameComment(oldID, newID) || !ValidCommentID(oldID) || !ValidCommentID(newID) {
			t.Fatalf("%s and %s are both %s %d", oldID, newID, kind, n)
		}
		other, m := kinds.Draw(t, "other kind"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "m")
		if same := kind == other && n == m; SameComment(newID, oldNode(other, m)) != same {
			t.Fatalf("%s %d and %s %d", kind, n, other, m)
		}
	})
}

func TestValidCommentID(t *testing.T) { // P4
	for id, want := range map[string]bool{
		"IC_kwDOQ1aB7s6Zq001":          true,
		"MDEyOklzc3VlQ29tbWVudDI0NTE=": true,
		"a+b/c==":                      true,
		"10231":                        true,
		"20260731T091158Z-octocat.md":  true,
		"_x":                           true,
		strings.Repeat("x", 256):       true,
		strings.Repeat("x", 257):       false,
		"":                             false,
		"-x":                           false,
		"--upload-pack":                false,
		".":                            false,
		"../x":                         false,
		"/x":                           false,
		"a b":                          false,
		"a\x00b":                       false,
		"a\nb":                         false,
		"a>b":                          false,
		"a#b":                          false,
		"a;b":                          false,
		"$(x)":                         false,
		"\u00E9":                       false,
		"a\u200B":                      false,
	} {
		if got := ValidCommentID(id); got != want {
			t.Errorf("ValidCommentID(%q) = %v", id, got)
		}
	}
}

func FuzzDatabaseID(f *testing.F) { // P4
	for _, id := range []string{"MDEyOklzc3VlQ29tbWVudDI0NTE=", "IC_kwDOQ1aB7s6Zq001", "PRR_kwDOQ1aB7s6Zq002", "PRRC_kwAB", "10231", "a\nb"} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		kind, n, ok := DatabaseID(id)
		if ok != (n > 0) || ok != (kind != "") || ok && !ValidCommentID(id) {
			t.Errorf("DatabaseID(%q) = %q, %d, %v", id, kind, n, ok)
		}
		if ok && !SameComment(id, oldNode(kind, n)) {
			t.Errorf("%q is not %s %s", id, kind, strconv.FormatInt(n, 10))
		}
		if !SameComment(id, id) {
			t.Errorf("%q is not itself", id)
		}
	})
}

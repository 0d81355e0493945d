package workitem

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"strings"
)

// maxCommentID bounds a comment id in bytes.
const maxCommentID = 256

// The kinds of comment that GitHub's node ids tell apart, by the names they
// have there. DatabaseID returns them.
const (
	KindIssueComment  = "IssueComment"
	KindReview        = "PullRequestReview"
	KindReviewComment = "PullRequestReviewComment"
)

// ValidCommentID reports whether id can be the id of a comment: 1 to 256 bytes
// of [A-Za-z0-9_=+/.-], a letter, digit or underscore first (P4). So it can
// stand in a key and in a hidden marker; a path it is not.
func ValidCommentID(id string) bool {
	if id == "" || len(id) > maxCommentID || !isAlnum(id[0]) && id[0] != '_' {
		return false
	}
	for i := range len(id) {
		if !isAlnum(id[i]) && !strings.ContainsRune("_=+/.-", rune(id[i])) {
			return false
		}
	}
	return true
}

// SameComment reports whether two ids name the same comment: their text is
// equal, or they are node ids of one kind with the same database id (P4).
func SameComment(a, b string) bool {
	if a == b {
		return true
	}
	kindA, nA, okA := DatabaseID(a)
	kindB, nB, okB := DatabaseID(b)
	return okA && okB && kindA == kindB && nA == nB
}

// DatabaseID returns the number that a GitHub node id carries, and the kind of
// comment it is: old ids are base64 of `012:IssueComment2451`, new ones a
// prefix and base64 of a packed array (`IC_kwDO…`). Any other id has none.
// Numbers of different kinds are unrelated.
func DatabaseID(id string) (kind string, n int64, ok bool) {
	if !ValidCommentID(id) {
		return "", 0, false
	}
	if prefix, packed, found := strings.Cut(id, "_"); found {
		if kind = kindOfPrefix(prefix); kind != "" {
			n, ok = unpackID(packed)
			return kindIf(ok, kind), n, ok
		}
	}
	return oldID(id)
}

func kindIf(ok bool, kind string) string {
	if !ok {
		return ""
	}
	return kind
}

func kindOfPrefix(prefix string) string {
	switch prefix {
	case "IC":
		return KindIssueComment
	case "PRR":
		return KindReview
	case "PRRC":
		return KindReviewComment
	}
	return ""
}

// oldID reads `0<length of the kind>:<kind><number>`, in base64.
func oldID(id string) (kind string, n int64, ok bool) {
	raw, err := base64.RawStdEncoding.Strict().DecodeString(strings.TrimRight(id, "="))
	if err != nil {
		return "", 0, false
	}
	for _, kind := range []string{KindIssueComment, KindReview, KindReviewComment} {
		digits, found := strings.CutPrefix(string(raw), "0"+strconv.Itoa(len(kind))+":"+kind)
		if !found {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n < 1 || strconv.FormatInt(n, 10) != digits {
			return "", 0, false
		}
		return kind, n, true
	}
	return "", 0, false
}

// unpackID reads the last number of the MessagePack array [0, repository,
// comment], in base64 of the URL alphabet.
func unpackID(packed string) (int64, bool) {
	raw, err := base64.RawURLEncoding.Strict().DecodeString(strings.TrimRight(packed, "="))
	if err != nil || len(raw) < 2 || raw[0] != 0x93 || raw[1] != 0 {
		return 0, false
	}
	_, rest, ok := unpackUint(raw[2:])
	if !ok {
		return 0, false
	}
	n, rest, ok := unpackUint(rest)
	if !ok || len(rest) != 0 || n < 1 || n > math.MaxInt64 {
		return 0, false
	}
	return int64(n), true
}

// unpackUint reads one unsigned MessagePack number of any width.
func unpackUint(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	if b[0] < 0x80 {
		return uint64(b[0]), b[1:], true
	}
	width := map[byte]int{0xcc: 1, 0xcd: 2, 0xce: 4, 0xcf: 8}[b[0]]
	if width == 0 || len(b) < 1+width {
		return 0, nil, false
	}
	var wide [8]byte
	copy(wide[8-width:], b[1:1+width])
	return binary.BigEndian.Uint64(wide[:]), b[1+width:], true
}

package workitem

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
)

// Ref names one work item: `provider:[host/]owner/repo#number`.
//
// Host is empty for the provider's own default (github.com for github). The
// spelling is kept; two refs name the same item when their Keys are equal.
type Ref struct {
	Provider string
	Host     string
	Owner    string
	Repo     string
	Number   int
}

// The provider with a host and web addresses of its own.
const (
	githubProvider = "github"
	githubHost     = "github.com"
)

// Zero reports whether r names nothing at all.
func (r Ref) Zero() bool { return r == Ref{} }

// String returns the ref as ParseRef reads it, in r's own spelling, and "" for
// the zero Ref.
func (r Ref) String() string {
	if r.Zero() {
		return ""
	}
	text := make([]byte, 0, 64) // of most, which is then not made on the heap
	text = append(append(text, r.Provider...), ':')
	if host := r.foreignHost(); host != "" {
		text = append(append(text, host...), '/')
	}
	text = append(append(text, r.Owner...), '/')
	text = append(append(text, r.Repo...), '#')
	return string(strconv.AppendInt(text, int64(r.Number), 10))
}

// Key returns the name under which the item is kept: the ref with provider,
// host, owner and repo in ASCII lower case, since trackers compare them so.
func (r Ref) Key() string { return lowerASCII(r.String()) }

// Slug returns the name of the item in file names, tmux names and branches:
// `<provider>-[<host>-]<owner>-<repo>-<n>` as spelled, every run of other
// characters one `-` (D6). Different items can have the same slug; the second
// one adds SlugHash.
func (r Ref) Slug() string {
	parts := []string{r.Provider}
	if host := r.foreignHost(); host != "" {
		parts = append(parts, host)
	}
	parts = append(parts, r.Owner, r.Repo, strconv.Itoa(r.Number))
	return slugged(strings.Join(parts, "-"))
}

// SlugHash returns 8 hex digits of the Key's SHA-256: what a second item adds
// to a slug that another one has already (D6).
func (r Ref) SlugHash() string {
	sum := sha256.Sum256([]byte(r.Key()))
	return hex.EncodeToString(sum[:4])
}

// MarshalText writes the ref as String does. A Ref that ParseRef would not read
// back is an error, so that none reaches a file; the zero Ref is empty text.
func (r Ref) MarshalText() ([]byte, error) {
	if r.Zero() {
		return []byte{}, nil
	}
	checked, err := NewRef(r.Provider, r.Host, r.Owner, r.Repo, r.Number)
	if err != nil {
		return nil, err
	}
	return []byte(checked.String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (r *Ref) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*r = Ref{}
		return nil
	}
	parsed, err := ParseRef(string(text))
	if err != nil {
		return err
	}
	*r = parsed
	return nil
}

// foreignHost is the host that has to be spelled: none when it is the
// provider's own.
func (r Ref) foreignHost() string {
	if lowerASCII(r.Provider) == githubProvider && lowerASCII(r.Host) == githubHost {
		return ""
	}
	return r.Host
}

// slugged replaces every run of bytes outside [A-Za-z0-9._-] by one hyphen.
func slugged(s string) string {
	var b strings.Builder
	inRun := false
	for i := range len(s) {
		if c := s[i]; isAlnum(c) || c == '.' || c == '_' || c == '-' {
			b.WriteByte(c)
			inRun = false
		} else if !inRun {
			b.WriteByte('-')
			inRun = true
		}
	}
	return b.String()
}

// lowerASCII folds A-Z alone: Unicode folding would make one account of two
// (the Kelvin sign folds to k).
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

func isAlnum(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || isDigit(c)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

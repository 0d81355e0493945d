package record

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The forms of what a session row is made of by hand or from records of earlier
// releases. It ends up in command lines and in tmux (A5, D8).
var (
	harnessName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)
	// conversation is a UUID, as harnesses name their conversations by.
	conversation = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	tmuxName     = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_-]{0,249}$`)
)

const maxPath = 4096

// IsHarness reports whether s can be the name of a harness.
func IsHarness(s string) bool { return harnessName.MatchString(s) }

// IsConversation reports whether s can be a harness session id.
func IsConversation(s string) bool { return conversation.MatchString(s) }

// IsTmuxName reports whether s may stand in a tmux target of ours (D8).
func IsTmuxName(s string) bool { return tmuxName.MatchString(s) }

// IsFolder reports whether s can be the folder of a session: an absolute path that
// goes straight there and can be read.
func IsFolder(s string) bool {
	parts := strings.Split(filepath.ToSlash(s), "/")
	return len(s) <= maxPath && filepath.IsAbs(s) && !slices.Contains(parts, "..") &&
		!strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}

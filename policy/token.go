package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// gap stands in the searched text for something that is there to be seen and is
// no word: code, a picture, an address. A keyword does not touch it.
const gap = '\uFFFC'

// connectors join a token with a word right behind or before them: a path, a
// file name, an address, an apostrophe. By themselves they are punctuation: the
// full stop of a sentence, the slash or at sign in front of a command.
const connectors = `./\@'’`

// joinedLeft reports whether something that begins after before would be the
// rest of a longer token.
func joinedLeft(before string) bool {
	r, before := lastSeen(before)
	if strings.ContainsRune(connectors, r) {
		r, _ = lastSeen(before)
		return isWord(r)
	}
	return isWord(r) || isJoint(r)
}

// joinedRight reports whether something that ends before after would be the
// front of a longer token.
func joinedRight(after string) bool {
	r, after := firstSeen(after)
	if strings.ContainsRune(connectors, r) {
		r, _ = firstSeen(after)
		return isWord(r)
	}
	// A mark belongs to the letter in front of it, which is the keyword's last.
	return isWord(r) || isJoint(r) || unicode.IsMark(r)
}

// lastSeen returns the last character of s that stands for itself, and what is
// in front of it; 0 when there is none. What cannot be seen, such as the
// directional marks around foreign words in right-to-left text, parts nothing.
func lastSeen(s string) (rune, string) {
	for len(s) > 0 {
		r, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
		if !isUnseen(r) && !unicode.IsMark(r) {
			return r, s
		}
	}
	return 0, ""
}

// firstSeen returns the first character of s that can be seen, and what is
// behind it; 0 when there is none.
func firstSeen(s string) (rune, string) {
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		s = s[size:]
		if !isUnseen(r) {
			return r, s
		}
	}
	return 0, ""
}

func isUnseen(r rune) bool {
	return unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r)
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' }

// isJoint reports whether r ties what it touches into one token: hyphens and
// colons in their several forms, and a gap.
func isJoint(r rune) bool { return strings.ContainsRune("-:\u2010\u2011\uFF0D\uFF1A", r) || r == gap }

func isBreak(r rune) bool { return unicode.IsSpace(r) }

// startsAddress reports whether text at i is where a web address shows that it
// is one; what follows up to the next space belongs to it.
func startsAddress(text string, i int) bool {
	return strings.HasPrefix(text[i:], "://") || strings.HasPrefix(text[i:], "www.")
}

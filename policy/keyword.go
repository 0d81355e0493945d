package policy

import (
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// keyword is a configured text, ready to be looked for. Commands that were given
// the same text share one.
type keyword struct {
	words    []string
	commands []Command
}

// compile prepares the keywords that are not turned off.
func compile(texts map[Command]string) []keyword {
	var keywords []keyword
	for _, c := range AllCommands() {
		words := strings.Fields(folded(texts[c]))
		if len(words) == 0 {
			continue
		}
		same := func(k keyword) bool { return slices.Equal(k.words, words) }
		if i := slices.IndexFunc(keywords, same); i >= 0 {
			keywords[i].commands = append(keywords[i].commands, c)
			continue
		}
		keywords = append(keywords, keyword{words, []Command{c}})
	}
	return keywords
}

// folded brings text into the form in which it is compared: letters and
// their accents composed, A-Z folded.
func folded(s string) string { return lowerASCII(norm.NFC.String(s)) }

// match is a keyword that stands at text[start:end].
type match struct {
	start, end int
	commands   []Command
}

// findAll returns the keywords in a folded text, in order. One that lies
// within another is not said: with the keywords `go` and `go on`, "go on" is the
// second alone.
func findAll(text string, keywords []keyword) []match {
	var found []match
	end := 0
	address := false
	for i, r := range text {
		switch {
		case isBreak(r):
			address = false
		case startsAddress(text, i):
			address = true
		}
		if address {
			continue
		}
		if m, ok := longestAt(text, i, keywords); ok && m.end > end {
			found = append(found, m)
			end = m.end
		}
	}
	return found
}

// longestAt returns the longest keyword that is a whole token at text[i:].
func longestAt(text string, i int, keywords []keyword) (longest match, ok bool) {
	for _, k := range keywords {
		end := k.endAt(text, i)
		if end > longest.end && !joinedLeft(text[:i]) && !joinedRight(text[end:]) {
			longest, ok = match{i, end, k.commands}, true
		}
	}
	return longest, ok
}

// endAt returns where k ends when it begins at text[i:], -1 when it does not.
func (k keyword) endAt(text string, i int) int {
	for n, word := range k.words {
		if n > 0 {
			spaces := len(text[i:]) - len(strings.TrimLeft(text[i:], " \t"))
			if spaces == 0 {
				return -1
			}
			i += spaces
		}
		if !strings.HasPrefix(text[i:], word) {
			return -1
		}
		i += len(word)
	}
	return i
}

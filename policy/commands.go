package policy

import (
	"slices"
	"strings"
	"unicode"
)

// Found is what Commands understood of a text.
type Found struct {
	// Command is the one command that was given, "" when there is none or when
	// there are several.
	Command Command
	// Ambiguous holds the different commands of a text that gives several, in the
	// order they stand there. None of them is obeyed.
	Ambiguous []Command
	// Words says that there is something beside the keywords that the author has
	// to say: words, code, a picture or a link (X6). Signs, quotes and what is
	// hidden are nothing.
	Words bool
}

// Commands finds the keywords in the visible words of a comment's author (X3).
// A keyword is a whole token: not inside a word, a path or an address, not next
// to a hyphen or a colon; the end of a sentence may follow. Its words may be
// parted by any spaces and tabs but by no line break. ASCII case is ignored. The
// same command twice is that command. A policy without keywords finds nothing at
// all, not even Words.
func (p Policy) Commands(body string) Found {
	if len(p.keywords) == 0 {
		return Found{}
	}
	seen, ok := read(body)
	if !ok {
		return Found{Words: true}
	}
	var commands []Command
	rest := strings.Builder{}
	end := 0
	for _, m := range findAll(seen.text, p.keywords) {
		if m.start > end {
			rest.WriteString(seen.text[end:m.start])
		}
		end = m.end
		for _, c := range m.commands {
			if !slices.Contains(commands, c) {
				commands = append(commands, c)
			}
		}
	}
	rest.WriteString(seen.text[end:])
	found := Found{Words: seen.more || hasWord(rest.String())}
	switch len(commands) {
	case 0:
	case 1:
		found.Command = commands[0]
	default:
		found.Ambiguous = commands
	}
	return found
}

// hasWord reports whether anything in s is said in letters or digits.
func hasWord(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

package view

import (
	"unicode/utf8"

	"theloop/escape"
)

// appendIndented appends a document that encoding/json has just written, indented as
// it would do that itself, and with its hidden characters escaped. That it is known to
// be compact and whole is what makes this several times as fast. Outside of strings
// JSON is ASCII.
func appendIndented(to, doc []byte, prefix string) []byte {
	depth := 0
	for i := 0; i < len(doc); i++ {
		b := doc[i]
		switch b {
		case '"':
			end := stringEnd(doc, i+1)
			to = appendVisible(to, doc[i:end])
			i = end - 1
		case '{', '[':
			to = append(to, b)
			if i+1 < len(doc) && (doc[i+1] == '}' || doc[i+1] == ']') {
				i++
				to = append(to, doc[i])
				continue
			}
			depth++
			to = appendBreak(to, prefix, depth)
		case '}', ']':
			depth--
			to = append(appendBreak(to, prefix, depth), b)
		case ',':
			to = appendBreak(append(to, b), prefix, depth)
		case ':':
			to = append(to, b, ' ')
		default:
			to = append(to, b)
		}
	}
	return to
}

func appendBreak(to []byte, prefix string, depth int) []byte {
	to = append(append(to, '\n'), prefix...)
	for range depth {
		to = append(to, jsonIndent...)
	}
	return to
}

// stringEnd is where the string ends that goes on at begin: behind its quote.
func stringEnd(doc []byte, begin int) int {
	for i := begin; i < len(doc); i++ {
		switch doc[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(doc)
}

// appendVisible appends a string of a document. The encoder has already escaped what
// is below a space.
func appendVisible(to, text []byte) []byte {
	for i := 0; i < len(text); {
		plain := i
		for i < len(text) && ' ' <= text[i] && text[i] < 0x7f {
			i++
		}
		if to = append(to, text[plain:i]...); i == len(text) {
			break
		}
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 || escape.Hidden(r) {
			to = escape.AppendJSON(to, r)
		} else {
			to = append(to, text[i:i+size]...)
		}
		i += size
	}
	return to
}

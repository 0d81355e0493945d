package migrate

import (
	"encoding/json"
	"unicode/utf8"
)

// A document is checked once, by encoding/json. What is in it is then found by
// looking for where each value ends, which takes a fraction of decoding every level
// of it anew. What these find is a part of what they were given, not a copy. Of
// what is no JSON they say so, or find something, but never fail.

// members are those of an object; of a key that comes twice the last one counts.
func members(raw []byte) (object, bool) {
	o := object{}
	ok := parts(raw, '{', func(key, value []byte) bool {
		name, ok := plain(key)
		if !ok && json.Unmarshal(key, &name) != nil {
			return false
		}
		o[name] = value
		return true
	})
	return o, ok
}

// elements are those of a list.
func elements(raw []byte) ([]json.RawMessage, bool) {
	list := []json.RawMessage{}
	ok := parts(raw, '[', func(_, value []byte) bool {
		list = append(list, value)
		return true
	})
	return list, ok
}

// parts yields what is in an object or in a list, which is what begins with open.
func parts(raw []byte, open byte, part func(key, value []byte) bool) bool {
	at := blanks(raw, 0)
	if at == len(raw) || raw[at] != open {
		return false
	}
	for at = blanks(raw, at+1); at < len(raw) && raw[at] != open+2; at = blanks(raw, at) { // { and } are two apart, [ and ] too
		var key []byte
		if open == '{' {
			end := ending(raw, at)
			key, at = raw[at:end], blanks(raw, end)
		}
		end := ending(raw, at)
		if end == at || !part(key, raw[at:end:end]) {
			return false
		}
		at = end
	}
	return at < len(raw)
}

// blanks is where something stands again: commas and colons are no more than white
// space between values.
func blanks(raw []byte, at int) int {
	for at = spaces(raw, at); at < len(raw) && (raw[at] == ',' || raw[at] == ':'); {
		at = spaces(raw, at+1)
	}
	return at
}

// spaces is where white space ends.
func spaces(raw []byte, at int) int {
	for at < len(raw) && isSpace(raw[at]) {
		at++
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// ending is where the value ends that begins at at.
func ending(raw []byte, at int) int {
	depth := 0
	for ; at < len(raw); at++ {
		switch raw[at] {
		case '"':
			at = closing(raw, at)
			if depth == 0 {
				return min(at+1, len(raw))
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return at + 1
			}
			if depth < 0 {
				return at
			}
		case ' ', '\t', '\r', '\n', ',', ':':
			if depth == 0 {
				return at
			}
		}
	}
	return at
}

// closing is where the quote stands that ends a text.
func closing(raw []byte, at int) int {
	for at++; at < len(raw) && raw[at] != '"'; at++ {
		if raw[at] == '\\' {
			at++
		}
	}
	return at
}

// plain is what a text says that is written as it is: that of most.
func plain(raw []byte) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' || raw[len(raw)-1] != '"' {
		return "", false
	}
	within := raw[1 : len(raw)-1]
	for _, c := range within {
		if !isPlain(c) {
			return "", false
		}
	}
	return string(within), true
}

// isPlain reports a character that is written as it is, alone and by everybody.
func isPlain(c byte) bool { return c >= ' ' && c != '"' && c != '\\' && c < utf8.RuneSelf }

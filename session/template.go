package session

import (
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"unicode/utf8"
)

// placeholder is the grammar of Python's string.Template: $$, $name, ${name}.
var placeholder = regexp.MustCompile(`\$(?:\$|([A-Za-z_][A-Za-z0-9_]*)|\{([A-Za-z_][A-Za-z0-9_]*)\})`)

// expand replaces the placeholders of a template in one pass, by the rules of
// safe_substitute: a name without a value and a lone $ stay as they are. What a
// value holds is never looked at again.
func expand(template string, values map[string]string) string {
	return placeholder.ReplaceAllStringFunc(template, func(found string) string {
		if found == "$$" {
			return "$"
		}
		if value, ok := values[placeholderName(found)]; ok {
			return value
		}
		return found
	})
}

func placeholderName(found string) string { return strings.Trim(found, "${}") }

// mentions reports whether the template has the placeholder.
func mentions(template, name string) bool {
	for _, found := range placeholder.FindAllString(template, -1) {
		if found != "$$" && placeholderName(found) == name {
			return true
		}
	}
	return false
}

// fencedExcerpt is a code fence that a template puts around the data by itself:
// the block brings its own, which is as long as its content asks for.
var fencedExcerpt = regexp.MustCompile("(?m)^(`{3,}|~{3,})[^\\n`]*\\n(\\$payload_excerpt|\\$\\{payload_excerpt\\})[ \\t]*\\n(`{3,}|~{3,})[ \\t]*$")

// maxTemplate bounds a prompt template of the operator's, so that there is room
// for what it is filled with.
const maxTemplate = 16 << 10

// readTemplate reads a template of the operator's and makes it complete: what
// every prompt has to say is appended when the template leaves it out (D10).
func readTemplate(path string) (string, error) {
	if info, err := os.Stat(path); err != nil {
		return "", err
	} else if !info.Mode().IsRegular() { // a pipe would be waited for
		return "", fmt.Errorf("%s is no file", path)
	}
	file, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer file.Close()
	raw, err := io.ReadAll(io.LimitReader(file, maxTemplate+1))
	if err != nil {
		return "", err
	}
	switch {
	case len(raw) > maxTemplate:
		return "", fmt.Errorf("%s has more than %d bytes", path, maxTemplate)
	case !utf8.Valid(raw):
		return "", fmt.Errorf("%s is not UTF-8", path)
	}
	t := printable(string(raw))
	t = fencedExcerpt.ReplaceAllString(t, "$2")
	for _, needed := range []string{"interaction_directive", "payload_excerpt"} {
		if !mentions(t, needed) {
			t = strings.TrimRight(t, "\n") + "\n\n$" + needed + "\n"
		}
	}
	return t, nil
}

// printable takes out what may not be pasted into a terminal: all control
// characters but line feed and tab (A5).
func printable(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (r < ' ' || 0x7f <= r && r <= 0x9f) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

package github

import (
	"regexp"
	"slices"
	"strings"
)

// silentHTML counts open elements of HTML in which words close nothing: quotes,
// code, what is taken back, what cannot be seen. The zero value has none open.
type silentHTML struct{ opened map[string]int }

var (
	htmlComment = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	htmlTag     = regexp.MustCompile(`<(/?)([A-Za-z]+)`)
)

// read notes what a piece of HTML opens and closes.
func (h *silentHTML) read(raw string) {
	for _, tag := range htmlTag.FindAllStringSubmatch(htmlComment.ReplaceAllString(raw, ""), -1) {
		name := strings.ToLower(tag[2])
		if !slices.Contains([]string{"blockquote", "q", "code", "pre", "samp", "kbd", "tt", "del", "s", "strike", "script", "style"}, name) {
			continue
		}
		if h.opened == nil {
			h.opened = map[string]int{}
		}
		if tag[1] == "" {
			h.opened[name]++
		} else {
			h.opened[name] = max(h.opened[name]-1, 0)
		}
	}
}

// open reports whether any such element is open.
func (h *silentHTML) open() bool {
	for _, n := range h.opened {
		if n > 0 {
			return true
		}
	}
	return false
}

package github

import (
	"slices"
	"strings"
)

// nextLink returns the address of the next page from a Link header, empty on
// the last page: `<https://…>; rel="next", <https://…>; rel="last"`. An address
// may hold commas and semicolons, so that the brackets alone bound it.
func nextLink(header string) string {
	for {
		_, rest, found := strings.Cut(header, "<")
		if !found {
			return ""
		}
		var target string
		target, header, _ = strings.Cut(rest, ">")
		params, _, _ := strings.Cut(header, "<")
		if isNext(params) {
			return target
		}
	}
}

// isNext looks for the relation among the parameters behind an address; one
// address can have several relations.
func isNext(params string) bool {
	for param := range strings.SplitSeq(strings.ToLower(params), ";") {
		name, value, _ := strings.Cut(param, "=")
		if strings.TrimSpace(name) == "rel" && slices.Contains(strings.Fields(strings.Trim(value, `", `)), "next") {
			return true
		}
	}
	return false
}

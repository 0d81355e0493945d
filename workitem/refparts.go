package workitem

import (
	"fmt"
	"strconv"
	"strings"
)

func checkProvider(s string) error {
	ok := s != "" && len(s) <= maxProvider && 'a' <= s[0] && s[0] <= 'z'
	for i := range len(s) {
		c := s[i]
		ok = ok && ('a' <= c && c <= 'z' || isDigit(c) || c == '-')
	}
	if !ok {
		return fmt.Errorf("the provider %s must be 1 to %d lower-case letters, digits and hyphens, a letter first", echo(s), maxProvider)
	}
	return nil
}

// checkHost accepts a DNS name with a dot, localhost, or either one or a bare
// name with a port. A bare name alone is refused: it is an owner that somebody
// put a path behind.
func checkHost(s string) error {
	name, port, hasPort := strings.Cut(s, ":")
	if hasPort {
		n, err := strconv.Atoi(port)
		if err != nil || n < 1 || n > maxPort || strconv.Itoa(n) != port {
			return fmt.Errorf("the port %s of the host must be 1 to %d", echo(port), maxPort)
		}
	}
	if !hasPort && !strings.Contains(name, ".") && lowerASCII(name) != "localhost" {
		return fmt.Errorf("%s cannot be a host (no dot, no port, not localhost), so there is one segment too many", echo(s))
	}
	if len(name) > maxHost {
		return fmt.Errorf("the host has %d bytes, more than %d", len(name), maxHost)
	}
	for label := range strings.SplitSeq(name, ".") {
		if !validLabel(label) {
			return fmt.Errorf("the host %s must be letters, digits and hyphens, parted by dots", echo(s))
		}
	}
	return nil
}

func validLabel(s string) bool {
	if s == "" || len(s) > maxLabel || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

// checkOwner accepts GitHub's logins: the underscore is that of managed users,
// and old accounts have hyphens at the end or in a row.
func checkOwner(s string) error {
	ok := s != "" && len(s) <= maxOwner && s[0] != '-'
	for i := range len(s) {
		ok = ok && (isAlnum(s[i]) || s[i] == '_' || s[i] == '-')
	}
	if !ok {
		return fmt.Errorf("the owner %s must be 1 to %d letters, digits, hyphens and underscores, no hyphen first", echo(s), maxOwner)
	}
	return nil
}

// checkRepo accepts GitHub's repository names but those that a command could
// take for an option or a folder for its parent (A5).
func checkRepo(s string) error {
	ok := s != "" && len(s) <= maxRepo && s[0] != '-' && s != "." && s != ".."
	for i := range len(s) {
		ok = ok && (isAlnum(s[i]) || s[i] == '.' || s[i] == '_' || s[i] == '-')
	}
	if !ok {
		return fmt.Errorf("the repository %s must be 1 to %d letters, digits, dots, hyphens and underscores, neither dots alone nor a hyphen first", echo(s), maxRepo)
	}
	return nil
}

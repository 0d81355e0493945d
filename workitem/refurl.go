package workitem

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

const urlExample = "https://github.com/octo/repo/issues/15"

// URL returns the web address of a github item of that kind, "" for a provider
// whose addresses are not known. It is https always; what a tracker itself gave
// as an item's address goes before it.
func (r Ref) URL(kind Kind) string {
	if lowerASCII(r.Provider) != githubProvider {
		return ""
	}
	host := r.foreignHost()
	if host == "" {
		host = githubHost
	}
	section := "issues"
	if kind == PullRequest {
		section = "pull"
	}
	return "https://" + host + "/" + r.Owner + "/" + r.Repo + "/" + section + "/" + strconv.Itoa(r.Number)
}

// URLs returns every web address the item can have, the issue's first: its
// number alone does not say which of the two it is.
func (r Ref) URLs() []string {
	if r.URL(Issue) == "" {
		return nil
	}
	return []string{r.URL(Issue), r.URL(PullRequest)}
}

// ParseRefOrURL reads a ref, or the web address of a GitHub issue or pull
// request on any host: also with `www.`, a query, a fragment such as
// `#issuecomment-1`, a trailing slash, or a page of the item behind the number.
func ParseRefOrURL(s string) (Ref, error) {
	lower := lowerASCII(s)
	if !strings.HasPrefix(lower, "https://") && !strings.HasPrefix(lower, "http://") {
		return ParseRef(s)
	}
	r, err := parseURL(s)
	if err != nil {
		return Ref{}, fmt.Errorf("address %s: %w; it looks like %s", echo(s), err, urlExample)
	}
	return r, nil
}

func parseURL(s string) (Ref, error) {
	if end := strings.IndexAny(s, "?#"); end >= 0 {
		s = s[:end] // of any length and script, and no part of the ref
	}
	if err := checkText(s); err != nil {
		return Ref{}, err
	}
	u, err := url.Parse(s)
	if err != nil {
		return Ref{}, errors.New("it is not a web address")
	}
	if u.Host == "" {
		return Ref{}, errors.New("there is no host")
	}
	if u.User != nil {
		return Ref{}, errors.New("there is a user name in front of the host")
	}
	parts := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	if len(parts) < 4 || !isItemSection(parts[2]) {
		return Ref{}, errors.New("the path is not owner/repo/issues/number or owner/repo/pull/number")
	}
	n, err := parseNumber(parts[3])
	if err != nil {
		return Ref{}, err
	}
	r := Ref{Provider: githubProvider, Host: webHost(u), Owner: parts[0], Repo: parts[1], Number: n}
	if err := r.check(); err != nil {
		return Ref{}, err
	}
	r.Host = r.foreignHost()
	return r, nil
}

func isItemSection(s string) bool { return s == "issues" || s == "pull" || s == "pulls" }

// webHost is the host as a ref spells it: without the port of the scheme, and
// without the www that only browsers see.
func webHost(u *url.URL) string {
	host := strings.TrimSuffix(u.Host, map[string]string{"https": ":443", "http": ":80"}[u.Scheme])
	if lowerASCII(host) == "www."+githubHost {
		return githubHost
	}
	return host
}

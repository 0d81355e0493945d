package github

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
)

const (
	publicHost = "github.com"
	publicBase = "https://api.github.com"
	// enterprisePath is where a GitHub Enterprise server answers (P6).
	enterprisePath = "/api/v3"
	// enterpriseVersion is the end of that path, where its GraphQL is instead.
	enterpriseVersion = "/v3/"
)

// defaultBase returns the base URL of a host whose configuration names none.
func defaultBase(host string) string {
	if isPublic(host) {
		return publicBase
	}
	return "https://" + host + enterprisePath
}

func isPublic(host string) bool {
	return host == "" || strings.EqualFold(host, publicHost)
}

// parseBase reads a base URL and refuses one that would put a token at risk
// (P9). The result has a path with a slash at its end.
func parseBase(raw string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("baseUrl is not a URL; one looks like " + publicBase)
	}
	if err := checkBase(u); err != nil {
		return nil, err
	}
	u.Path = strings.TrimRight(u.Path, "/") + "/"
	return u, nil
}

// graphQL returns where the server of a base URL answers queries:
// https://api.github.com/graphql, and on GitHub Enterprise beside the REST API
// (P6), https://HOST/api/graphql. It is of the same origin (P9).
func graphQL(base *url.URL) *url.URL {
	u := *base
	above, _ := strings.CutSuffix(u.Path, enterpriseVersion)
	u.Path = strings.TrimRight(above, "/") + "/graphql"
	return &u
}

func checkBase(u *url.URL) error {
	switch {
	case u.User != nil:
		return errors.New("baseUrl carries a user or password; leave it out, the token has a variable of its own")
	case u.Hostname() == "":
		return errors.New("baseUrl names no host; one looks like " + publicBase)
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return errors.New("baseUrl must not have a query or a fragment")
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && isLoopback(u.Hostname()):
		return nil
	case u.Scheme == "http":
		return fmt.Errorf("baseUrl %q would send the token in clear text; plain http is for loopback only, use https", u.Redacted())
	default:
		return fmt.Errorf("baseUrl has the scheme %q; use https", u.Scheme)
	}
}

// isLoopback reports whether a host name can mean this machine alone. That
// localhost really does is checked again when it is dialled.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// sameOrigin reports whether scheme, host and port of u are base's and u
// carries no account of its own.
func sameOrigin(base, u *url.URL) bool {
	return u.User == nil && strings.EqualFold(u.Scheme, base.Scheme) &&
		strings.EqualFold(u.Hostname(), base.Hostname()) && portOf(u) == portOf(base)
}

func portOf(u *url.URL) string {
	if p := u.Port(); p != "" {
		return p
	}
	if strings.EqualFold(u.Scheme, "http") {
		return "80"
	}
	return "443"
}

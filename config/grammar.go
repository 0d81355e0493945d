package config

import (
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goccy/go-yaml/ast"
)

const (
	maxOwner  = 39 // GitHub's limit
	maxHost   = 253
	maxLabel  = 50 // GitHub's limit
	repoRules = "OWNER/REPO; OWNER: letters, digits, - or _ between them, at most 39; " +
		"REPO: letters, digits, . _ -, at most 100, not . or .."
	hostRules = "a host name such as ghe.corp.example, without scheme, port or path"
	urlRules  = "https://HOST[:PORT][/PATH], or http:// on a loopback address"
)

// The underscore is that of enterprise managed users (name_company).
var (
	ownerGrammar = regexp.MustCompile(`^[A-Za-z0-9](?:[-_]?[A-Za-z0-9])*$`)
	repoGrammar  = regexp.MustCompile(`^[A-Za-z0-9._-]{1,100}$`)
	hostGrammar  = regexp.MustCompile(`^(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$`)
	pathGrammar  = regexp.MustCompile(`^(?:/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)*/?$`)
	loginGrammar = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}(?:\[bot\])?$`)
	envGrammar   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	wordGrammar  = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`)
	// A dash in front would be an option to tmux, a slash another folder.
	socketGrammar = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)
)

// parseRepo reads OWNER/REPO (A5).
func parseRepo(s string) (RepoSpec, bool) {
	owner, name, ok := strings.Cut(s, "/")
	ok = ok && len(owner) <= maxOwner && ownerGrammar.MatchString(owner) &&
		repoGrammar.MatchString(name) && name != "." && name != ".."
	return RepoSpec{Owner: owner, Name: name}, ok
}

func isHost(s string) bool {
	return len(s) <= maxHost && hostGrammar.MatchString(s)
}

// isLoopback is true of the names and addresses that cannot leave this machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Zone() == "" && ip.IsLoopback()
}

// isBaseURL keeps tokens off the network in clear, and out of hosts nobody
// meant (P9).
func isBaseURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Opaque != "" || u.User != nil || strings.ContainsAny(s, "?#%\\") || !pathGrammar.MatchString(u.Path) {
		return false
	}
	host, ip := u.Hostname(), netip.Addr{}
	if strings.Contains(host, ":") {
		if ip, err = netip.ParseAddr(host); err != nil || ip.Zone() != "" {
			return false
		}
	} else if !isHost(host) {
		return false
	}
	if strings.HasSuffix(u.Host, ":") || (u.Port() != "" && !isPort(u.Port())) {
		return false
	}
	return u.Scheme == "https" || (u.Scheme == "http" && isLoopback(host))
}

func isPort(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n >= 1 && n <= 65535
}

// oneLine is text without control or invisible characters and with no space
// around it.
func oneLine(s string, longest int) bool {
	return s != "" && utf8.ValidString(s) && utf8.RuneCountInString(s) <= longest &&
		strings.TrimSpace(s) == s && strings.IndexFunc(s, func(c rune) bool { return !unicode.IsPrint(c) }) < 0
}

func repoKind() kind[RepoSpec] {
	s := text(repoRules, func(s string) bool { _, ok := parseRepo(s); return ok })
	return kind[RepoSpec]{typ: "OWNER/REPO", allowed: s.allowed, show: RepoSpec.String,
		read: func(r *reader, path string, n ast.Node) (RepoSpec, bool) {
			v, ok := s.read(r, path, n)
			repo, _ := parseRepo(v)
			repo.Line = r.at[path].line
			return repo, ok
		}}
}

// hostKind is the host of a source, as refs spell it.
func hostKind() kind[string] {
	return mapped(text(hostRules, isHost), strings.ToLower)
}

func urlKind() kind[string] {
	return mapped(text(urlRules, isBaseURL), func(s string) string { return strings.TrimRight(s, "/") })
}

// labelKind is the label of a work item. Trackers list by labels parted by
// commas: one with a comma in it would never be found.
func labelKind() kind[string] {
	return text("a label: one line of 1 to 50 characters, no comma, no space around it", func(s string) bool {
		return oneLine(s, maxLabel) && !strings.Contains(s, ",")
	})
}

// keywordKind is the words of a command; policy compares them one by one, so
// spaces are brought down to one.
func keywordKind() kind[string] {
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	k := mapped(text("words on one line, at most 100 characters, or '' to turn the command off", func(s string) bool {
		s = words(strings.ReplaceAll(s, "\n", "\x00"))
		return s == "" || oneLine(s, 100)
	}), words)
	k.emptyMeans = true
	return k
}

// pathKind is a path as given; Resolve makes it absolute.
func pathKind() kind[string] {
	k := text("a path on one line", func(s string) bool { return oneLine(s, 4096) })
	k.typ = "path"
	return k
}

// bindKind is an address to listen on.
func bindKind() kind[string] {
	return text("a host name or an IP address", isBind)
}

func isBind(s string) bool {
	_, err := netip.ParseAddr(s)
	return err == nil || isHost(s)
}

// listenKind is HOST:PORT; without a host it is this machine alone.
func listenKind() kind[string] {
	k := kind[string]{typ: "text", allowed: "HOST:PORT, or a port alone for 127.0.0.1, or off", show: func(string) string { return "off" }}
	k.read = func(r *reader, path string, n ast.Node) (string, bool) {
		s, ok := scalar(n)
		if _, isBool := n.(*ast.BoolNode); ok && (strings.EqualFold(s, "off") || (isBool && strings.EqualFold(s, "false"))) {
			return "", true
		}
		if isPort(s) {
			s = ":" + s
		}
		host, port, err := net.SplitHostPort(s)
		if host == "" {
			host = "127.0.0.1"
		}
		if !ok || err != nil || !isPort(port) || !isBind(host) {
			r.invalid(path, n, k.allowed)
			return "", false
		}
		return net.JoinHostPort(host, port), true
	}
	return k
}

// envKind is the name of an environment variable. A token pasted in its place
// is not shown again.
func envKind() kind[string] {
	return text("the name of an environment variable, not its value", func(s string) bool {
		return envGrammar.MatchString(s) && !looksSecret(s)
	})
}

// mapped is k with its values brought into one spelling.
func mapped(k kind[string], spell func(string) string) kind[string] {
	read := k.read
	k.read = func(r *reader, path string, n ast.Node) (string, bool) {
		s, ok := read(r, path, n)
		return spell(s), ok
	}
	return k
}

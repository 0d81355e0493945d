package view

import (
	"net/url"
	"strings"

	"theloop/escape"
)

// Link shows rawURL as it stands, for a terminal to make a link of, when it is
// http or https, plain ASCII without user information, and leads to one of
// hosts (A8). Anything else is shown as text that no terminal takes for a
// link: like [escape.Line], and with the slashes after the scheme escaped.
//
// A host may carry a port, which then has to be the same; without one it
// stands for the scheme's own. Names are compared without ASCII case.
func Link(rawURL string, hosts []string) string {
	if leadsTo(rawURL, hosts) {
		return rawURL
	}
	return strings.ReplaceAll(escape.Line(rawURL), "://", `:\u002f\u002f`)
}

// Links shows a text on one line, as [escape.Line] does, and of what a terminal would make
// links of in it leaves alone what [Link] would (A8). A link ends at a blank, a
// quote or a bracket; letters that are not ASCII belong to it, since a name may hold
// them.
func Links(text string, hosts []string) string {
	text = escape.Line(text)
	var b strings.Builder
	for {
		at := strings.Index(text, "://")
		if at < 0 {
			return b.String() + text
		}
		begin := at
		for begin > 0 && inScheme(text[begin-1]) {
			begin--
		}
		end := len(text)
		if n := strings.IndexAny(text[at:], " \"<>`"); n >= 0 {
			end = at + n
		}
		address := strings.TrimRight(text[begin:end], ".,;:!?'*_~)]")
		b.WriteString(text[:begin] + Link(address, hosts))
		text = text[begin+len(address):]
	}
}

// inScheme reports bytes that a scheme may have.
func inScheme(b byte) bool {
	return 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || '0' <= b && b <= '9' || strings.IndexByte("+.-", b) >= 0
}

// leadsTo reports whether rawURL is a plain link to one of hosts.
func leadsTo(rawURL string, hosts []string) bool {
	if strings.ContainsFunc(rawURL, notInLink) {
		return false
	}
	u, err := url.Parse(rawURL)
	if err != nil || u.User != nil || u.Hostname() == "" {
		return false
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return false
	}
	for _, host := range hosts {
		if strings.EqualFold(host, u.Host) || strings.EqualFold(host, withoutDefaultPort(u)) {
			return true
		}
	}
	return false
}

// notInLink reports characters that a well-formed URL percent-encodes. A raw
// one is a reason not to trust what the eye makes of the rest.
func notInLink(r rune) bool {
	return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r)
}

// withoutDefaultPort is the host of u, with its port unless that is the one
// the scheme implies.
func withoutDefaultPort(u *url.URL) string {
	switch {
	case u.Scheme == "https":
		return strings.TrimSuffix(u.Host, ":443")
	default:
		return strings.TrimSuffix(u.Host, ":80")
	}
}

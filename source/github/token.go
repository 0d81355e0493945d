package github

import (
	"context"
	"fmt"
	"os"
	"strings"
)

// Token is what proves who we are to a tracker. However it is printed, nested
// in other values or not, the secret does not show (P9): it is behind a
// function, which prints as an address.
type Token struct {
	secret func() string
	// From says where the token was found: a variable's name or "gh auth login".
	From string
}

// NewToken makes a Token of a secret, with the place it comes from.
func NewToken(secret, from string) Token {
	return Token{secret: func() string { return secret }, From: from}
}

// String names the place that the token comes from, never the token.
func (t Token) String() string { return "token from " + t.From }

// GoString is String, for %#v.
func (t Token) GoString() string { return t.String() }

// reveal returns the secret; empty for the zero Token.
func (t Token) reveal() string {
	if t.secret == nil {
		return ""
	}
	return t.secret()
}

// shortestSecret is the shortest that is looked for in texts: a shorter one is
// no secret, and would be found in every word.
const shortestSecret = 8

// redact takes the secret out of a text that somebody else wrote: a server can
// repeat what it was sent.
func (t Token) redact(text string) string {
	if secret := t.reveal(); len(secret) >= shortestSecret {
		return strings.ReplaceAll(text, secret, "[token]")
	}
	return text
}

// The variables that other hosts than github.com have their token in (P9).
var enterpriseVariables = [...]string{"GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"}

// FindToken returns the token for a host (empty means github.com): from the
// first of the variables that is set, which are tokenEnv for github.com and
// GH_ENTERPRISE_TOKEN, GITHUB_ENTERPRISE_TOKEN for any other host, else the one
// that `gh auth login` keeps for it. When there is none the error names what
// was tried and what to do (P9). It takes a few seconds at most.
func FindToken(ctx context.Context, host string, tokenEnv []string) (Token, error) {
	f := finder{env: os.Getenv, login: ghLogin}
	return f.find(ctx, host, tokenEnv)
}

// finder is FindToken with its surroundings as parameters.
type finder struct {
	env   func(name string) string
	login func(ctx context.Context, host string) string
}

func (f finder) find(ctx context.Context, host string, tokenEnv []string) (Token, error) {
	names := tokenEnv
	if isPublic(host) {
		host = publicHost
	} else {
		host, names = strings.ToLower(host), enterpriseVariables[:]
	}
	for _, name := range names {
		if secret := strings.TrimSpace(f.env(name)); secret != "" {
			return checkToken(secret, name)
		}
	}
	if secret := strings.TrimSpace(f.login(ctx, host)); secret != "" {
		return checkToken(secret, "gh auth login")
	}
	return Token{}, noToken(host, names)
}

func noToken(host string, names []string) error {
	login := "gh auth login --hostname " + host
	if len(names) == 0 {
		return fmt.Errorf("no token for %s: tokenEnv names no variable and gh keeps no login for it; name one, or run: %s", host, login)
	}
	return fmt.Errorf("no token for %s: %s not set, and gh keeps no login for it; set one, or run: %s",
		host, isOrAre(names), login)
}

func isOrAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// checkToken refuses what cannot stand in a header, without repeating it.
func checkToken(secret, from string) (Token, error) {
	for i := range len(secret) {
		if secret[i] <= ' ' || secret[i] > '~' {
			return Token{}, fmt.Errorf("the token from %s has a character at byte %d that no token has (a space, a line break?); set it again", from, i+1)
		}
	}
	return NewToken(secret, from), nil
}

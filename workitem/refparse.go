package workitem

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of the parts of a ref. Owner and repo are GitHub's own; the others
// keep a key far below what a ledger's key may be.
const (
	maxRef      = 512
	maxProvider = 32
	maxHost     = 253
	maxLabel    = 63
	maxOwner    = 39
	maxRepo     = 100
	maxPort     = 65535
	// maxNumber is the greatest whole number that every JSON reader keeps.
	maxNumber = int64(1) << 53
	// maxEcho bounds how much of a bad ref its error repeats.
	maxEcho = 120

	refExample = "github:octo/repo#15 or github:ghe.corp.example/octo/repo#15"
)

// ParseRef reads `provider:[host/]owner/repo#number`. There is a host only when
// there are three segments, and it is one with a dot, `localhost`, or one with
// a port; github.com is left out of a github ref. The error says which part is
// wrong and why, repeats the text escaped, and shows an example.
func ParseRef(s string) (Ref, error) {
	r, err := parseRef(s)
	if err != nil {
		return Ref{}, fmt.Errorf("ref %s: %w; a ref looks like %s", echo(s), err, refExample)
	}
	return r, nil
}

// NewRef makes a Ref of its parts, by ParseRef's grammar (P4). An empty host is
// the provider's own.
func NewRef(provider, host, owner, repo string, number int) (Ref, error) {
	r := Ref{Provider: provider, Host: host, Owner: owner, Repo: repo, Number: number}
	if err := r.check(); err != nil {
		return Ref{}, fmt.Errorf("ref %s: %w; a ref looks like %s", echo(r.String()), err, refExample)
	}
	r.Host = r.foreignHost()
	return r, nil
}

func parseRef(s string) (Ref, error) {
	if err := checkText(s); err != nil {
		return Ref{}, err
	}
	provider, rest, ok := strings.Cut(s, ":")
	if !ok {
		return Ref{}, errors.New("there is no provider (such as github:) in front")
	}
	path, number, ok := strings.Cut(rest, "#")
	if !ok {
		return Ref{}, errors.New("there is no #number at the end")
	}
	n, err := parseNumber(number)
	if err != nil {
		return Ref{}, err
	}
	r := Ref{Provider: provider, Number: n}
	switch parts := strings.Split(path, "/"); len(parts) {
	case 2:
		r.Owner, r.Repo = parts[0], parts[1]
	case 3:
		r.Host, r.Owner, r.Repo = parts[0], parts[1], parts[2]
		if r.Host == "" {
			return Ref{}, errors.New("the host, in front of the first slash, is empty")
		}
	default:
		return Ref{}, fmt.Errorf("there must be owner/repo, or host/owner/repo, between provider and number, not %d segments", len(parts))
	}
	if err := r.check(); err != nil {
		return Ref{}, err
	}
	r.Host = r.foreignHost()
	return r, nil
}

// check holds every part against its grammar.
func (r Ref) check() error {
	if err := checkProvider(r.Provider); err != nil {
		return err
	}
	if r.Host != "" {
		if err := checkHost(r.Host); err != nil {
			return err
		}
	}
	if err := checkOwner(r.Owner); err != nil {
		return err
	}
	if err := checkRepo(r.Repo); err != nil {
		return err
	}
	if r.Number < 1 || int64(r.Number) > maxNumber {
		return numberError(strconv.Itoa(r.Number))
	}
	return nil
}

// checkText refuses what no part may hold, and names it: a look-alike of a
// letter cannot be seen in the text itself.
func checkText(s string) error {
	switch {
	case s == "":
		return errors.New("it is empty")
	case len(s) > maxRef:
		return fmt.Errorf("it has %d bytes, more than %d", len(s), maxRef)
	}
	if !utf8.ValidString(s) {
		return errors.New("it is not UTF-8 text")
	}
	for i, c := range s {
		switch {
		case c == ' ':
			return fmt.Errorf("there is a space at byte %d", i)
		case c < ' ' || c == 0x7f:
			return fmt.Errorf("there is a control character (%U) at byte %d", c, i)
		case c > 0x7f:
			return fmt.Errorf("the character at byte %d is %U and not ASCII, whatever it looks like", i, c)
		}
	}
	return nil
}

// parseNumber reads a number in the one way of writing it; check bounds it.
func parseNumber(s string) (int, error) {
	if s == "" || s[0] == '0' || strings.ContainsFunc(s, func(c rune) bool { return c < '0' || c > '9' }) {
		return 0, numberError(s)
	}
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || int64(int(n)) != n {
		return 0, numberError(s)
	}
	return int(n), nil
}

func numberError(s string) error {
	return fmt.Errorf("the number %s must be 1 to %d, in digits without a sign or leading zeros", echo(s), maxNumber)
}

// echo repeats text in an error: escaped and bounded.
func echo(s string) string {
	if len(s) > maxEcho {
		s = s[:maxEcho] + "..."
	}
	return strconv.QuoteToASCII(s)
}

package policy

import (
	"strings"

	"theloop/workitem"
)

// DefaultMaxRetries is how often a delivery is tried when the configuration
// does not say: one bad minute of tmux is survived, a broken session is not
// typed at for ever.
const DefaultMaxRetries = 3

// Spawn says for which items the poller may start a session.
type Spawn string

// The spawn policies. SpawnNever is not lifted by a start either.
const (
	SpawnNever   Spawn = "never"
	SpawnLabeled Spawn = "labeled"
	SpawnAlways  Spawn = "always"
)

// Options is what the configuration says about whom to obey. The zero value
// obeys nobody and knows no keyword.
type Options struct {
	// AuthorizedUsers are logins, in any case, a leading @ allowed. Bots and apps
	// are listed as `name[bot]`.
	AuthorizedUsers []string
	// ControlEnabled turns keywords on.
	ControlEnabled bool
	// RequireStart says that a label alone does not start a session. It means
	// nothing without ControlEnabled.
	RequireStart bool
	// Keywords replaces the default keyword of the commands it holds; an empty
	// text turns that command off. Commands it does not hold keep their default.
	Keywords map[Command]string
	// SpawnOnUnmatched is SpawnLabeled when empty, SpawnNever when unknown.
	SpawnOnUnmatched Spawn
	// MaxRetries is DefaultMaxRetries when it is not positive.
	MaxRetries int
}

// Policy answers whom to obey. It is immutable and safe for concurrent use; the
// zero Policy obeys nobody.
type Policy struct {
	users        map[string]bool
	keywords     []keyword
	texts        map[Command]string
	requireStart bool
	spawn        Spawn
	maxRetries   int
}

// New makes a Policy; it keeps nothing of the options that could be changed
// behind its back.
func New(o Options) Policy {
	p := Policy{
		users:        accounts(o.AuthorizedUsers),
		requireStart: o.ControlEnabled && o.RequireStart,
		spawn:        o.SpawnOnUnmatched,
		maxRetries:   o.MaxRetries,
	}
	if p.spawn == "" {
		p.spawn = SpawnLabeled
	}
	if p.maxRetries < 1 {
		p.maxRetries = DefaultMaxRetries
	}
	if o.ControlEnabled {
		p.texts = keywordTexts(o.Keywords)
		p.keywords = compile(p.texts)
	}
	return p
}

// Empty reports whether nobody at all is obeyed, which is worth a warning (A1).
func (p Policy) Empty() bool { return len(p.users) == 0 }

// Authorized reports whether the author's words are obeyed (A1): only accounts
// that are listed, compared in ASCII without case; nobody (a deleted account)
// never. A bot or an app must be listed as `name[bot]`, however the tracker
// spells its login: the name without it is somebody else's account.
func (p Policy) Authorized(a workitem.Author) bool {
	if a.Nobody() {
		return false
	}
	login := lowerASCII(a.Login)
	if a.Bot && !strings.HasSuffix(login, botSuffix) {
		login += botSuffix
	}
	return p.users[login]
}

// RequireStart reports whether a labelled item waits for a start (X5); never
// when control is off.
func (p Policy) RequireStart() bool { return p.requireStart }

// MaySpawn reports whether the spawn policy allows a session for an item that
// carries its source's label now, or does not.
func (p Policy) MaySpawn(labelled bool) bool {
	return p.spawn == SpawnAlways || p.spawn == SpawnLabeled && labelled
}

// MaxRetries returns how many attempts an event has; at least 1.
func (p Policy) MaxRetries() int { return max(p.maxRetries, 1) }

// Keyword returns the text that gives the command, for telling people what to
// write; "" when it is turned off.
func (p Policy) Keyword(c Command) string { return p.texts[c] }

// botSuffix ends the login of every GitHub app.
const botSuffix = "[bot]"

func accounts(logins []string) map[string]bool {
	users := make(map[string]bool, len(logins))
	for _, login := range logins {
		login = strings.TrimPrefix(strings.TrimSpace(login), "@")
		if login != "" {
			users[lowerASCII(login)] = true
		}
	}
	return users
}

// lowerASCII folds A-Z alone: in Unicode the Kelvin sign folds to k, and would
// make one account of two.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

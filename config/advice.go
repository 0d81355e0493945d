package config

import (
	"fmt"
	"slices"
	"strings"
)

// NoSourcesError is returned when the configuration is sound and names nothing
// to watch.
type NoSourcesError struct {
	File string
	Line int // of polling.sources; 0 when it is not there
}

// Error says what to add, ready to paste.
func (e *NoSourcesError) Error() string {
	where := e.File
	if e.Line > 0 {
		where = fmt.Sprintf("%s:%d", e.File, e.Line)
	}
	return where + `: polling.sources is empty: there is nothing to watch. Name a repository (or a folder) and whom to obey:
` + example
}

const example = `
polling:
  sources:
    - provider: github
      repos: [OWNER/REPO]
routing:
  authorizedUsers: [YOUR-LOGIN]
`

// RequireSources returns a *NoSourcesError when there is nothing to watch:
// other commands work without a source, the poller does not.
func (c Config) RequireSources() error {
	if len(c.Polling.Sources) > 0 {
		return nil
	}
	return &NoSourcesError{File: c.File, Line: c.Polling.SourcesLine}
}

// advise says what is allowed and probably not meant.
func advise(r *reader, c Config) {
	advice := func(path, message string) {
		r.addAt(path, Problem{Kind: Advice, Message: message})
	}
	if len(c.Polling.Sources) == 0 && !r.refused[sourcesPath] {
		r.addAt(sourcesPath, nothingToWatch(r.at[sourcesPath] != place{}))
	}
	if len(c.Routing.AuthorizedUsers) == 0 && !r.refused["routing.authorizedUsers"] {
		advice("routing.authorizedUsers", "is empty: nobody is obeyed; list the logins whose comments count")
	}
	tokens := append(slices.Clone(c.GitHubAPI.TokenEnv), "GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")
	for i, name := range c.Routing.Tmux.PassEnv {
		if slices.Contains(tokens, name) {
			advice(fmt.Sprintf("routing.tmux.passEnv[%d]", i), "hands the token in "+name+" to every session")
		}
	}
	if t := c.Routing.WebTerminal; t.Enabled && t.Writable && !isLoopback(t.Host) {
		advice("routing.webTerminal.writable", "whoever reaches "+t.Host+" can type into every session")
	}
}

// nothingToWatch tells a list that was left empty, as in the file that is shipped, from
// a file that says nothing of it.
func nothingToWatch(listed bool) Problem {
	const rest = "nothing is watched, and the poller does not start; name a source, such as {provider: github, repos: [OWNER/REPO]}"
	if listed {
		return Problem{Kind: Advice, Message: "is empty: " + rest}
	}
	return Problem{Kind: Missing, Message: "is missing: " + rest}
}

// finishKeywords refuses that one text is two commands: no comment with it
// could ever be obeyed (X3).
func finishKeywords(r *reader, c Control) {
	if !c.Enabled {
		return
	}
	first := map[string]string{}
	for _, word := range c.Keywords.byVerb() {
		text := strings.ToLower(word.text)
		if text == "" {
			continue
		}
		other, twice := first[text]
		if !twice {
			first[text] = word.verb
			continue
		}
		at := keywordPath(word.verb)
		if _, ok := r.at[at]; !ok {
			at, other = keywordPath(other), word.verb
		}
		r.addAt(at, Problem{Found: "text " + quote(word.text),
			Message: "is the keyword of " + other + " as well: neither would be obeyed"})
	}
}

func keywordPath(verb string) string { return "routing.control.keywords." + verb }

type keyword struct{ verb, text string }

func (k Keywords) byVerb() []keyword {
	return []keyword{{"start", k.Start}, {"do", k.Do}, {"contribute", k.Contribute}, {"stop", k.Stop},
		{"pause", k.Pause}, {"resume", k.Resume}, {"cleanup", k.Cleanup}}
}

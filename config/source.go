package config

import (
	"fmt"
	"path"
	"strings"
)

const defaultInbox = "local/demo"

// checkSource says what is missing of one source, and what does not belong to
// its provider.
func checkSource(r *reader, path string, s Source) Source {
	has := func(name string) bool { _, ok := r.at[path+"."+name]; return ok }
	need := func(name, allowed string) {
		if !has(name) {
			r.addAt(path, Problem{Message: name + " is missing", Allowed: allowed})
		}
	}
	foreign := func(names ...string) {
		for _, name := range names {
			if has(name) {
				r.addAt(path+"."+name, Problem{Kind: Unknown, Message: "means nothing to provider " + s.Provider + ": remove it"})
			}
		}
	}
	switch s.Provider {
	case ProviderGitHub:
		foreign("path", "name")
		return checkGitHub(r, path, s, need)
	case ProviderInbox:
		foreign("repos", "host", "baseUrl", "monitor.issues", "monitor.pullRequests")
		need("path", "the folder that holds the work items")
		return Source{Provider: s.Provider, Line: s.Line, Label: s.Label, Path: s.Path, Name: s.Name}
	}
	need("provider", ProviderGitHub+", "+ProviderInbox)
	return s
}

func checkGitHub(r *reader, path string, s Source, need func(name, allowed string)) Source {
	need("repos", "a list of "+repoRules)
	if at := path + ".repos"; r.at[at] != (place{}) && len(s.Repos) == 0 && !r.refused[at] {
		r.addAt(at, Problem{Message: "names no repository", Allowed: "a list of " + repoRules})
	}
	if !s.Monitor.Issues && !s.Monitor.PullRequests {
		r.addAt(path, Problem{Kind: Advice, Message: "watches nothing: monitor turns both issues and pullRequests off"})
	}
	switch s.Host {
	case "":
		s.Host = defaultHost
	case "www.github.com", "api.github.com":
		r.addAt(path+".host", Problem{Found: "text " + quote(s.Host), Message: "that is github.com, which needs no host"})
	}
	s.Path, s.Name = "", ""
	return s
}

// finishSources fills what sources take from elsewhere in the file and refuses
// that one work item has two sources.
func finishSources(r *reader, c *Config) {
	repos, names, folders := map[string]string{}, map[string]string{}, map[string]string{}
	for i := range c.Polling.Sources {
		s := &c.Polling.Sources[i]
		at := fmt.Sprintf("%s[%d]", sourcesPath, i)
		if s.Label == "" {
			s.Label = c.Routing.AutoExecuteLabel
		}
		switch s.Provider {
		case ProviderGitHub:
			s.BaseURL = baseURL(*s, c.GitHubAPI)
			r.reposOnce(repos, *s, at)
		case ProviderInbox:
			r.inboxOnce(names, folders, *s, at)
		}
	}
}

// baseURL is where a source's API is when it does not say (P6).
func baseURL(s Source, api GitHubAPI) string {
	switch {
	case s.BaseURL != "":
		return s.BaseURL
	case s.Host == defaultHost:
		return api.BaseURL
	}
	return "https://" + s.Host + "/api/v3"
}

func (r *reader) reposOnce(seen map[string]string, s Source, at string) {
	for i, repo := range s.Repos {
		if repo == (RepoSpec{}) {
			continue // refused
		}
		r.once(seen, s.Host+"/"+strings.ToLower(repo.String()), fmt.Sprintf("%s.repos[%d]", at, i), repo.String())
	}
}

func (r *reader) inboxOnce(names, folders map[string]string, s Source, at string) {
	named := at + ".name"
	if _, ok := r.at[named]; !ok {
		named = at // by default: reported where the source begins
	}
	r.once(names, strings.ToLower(s.Name), named, s.Name)
	if s.Path != "" {
		r.once(folders, path.Clean(s.Path), at+".path", s.Path)
	}
}

// once refuses the second of two values that mean the same.
func (r *reader) once(seen map[string]string, value, at, spelled string) {
	if first, twice := seen[value]; twice {
		r.addAt(at, Problem{Found: quote(spelled),
			Message: fmt.Sprintf("is named a second time; first on line %d, %s: keep one", r.at[first].line, first)})
		return
	}
	seen[value] = at
}

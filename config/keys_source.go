package config

import "github.com/goccy/go-yaml/ast"

// sourceRows is the table of one entry of polling.sources.
func sourceRows() []key[Source] {
	return []key[Source]{
		field("provider", oneOf(ProviderGitHub, ProviderInbox), "",
			"the tracker",
			func(s *Source) *string { return &s.Provider }),
		field("label", labelKind(), "",
			"items that carry it are watched; empty: routing.autoExecuteLabel",
			func(s *Source) *string { return &s.Label }),
		field("repos[]", list(repoKind()), nil,
			"github: the repositories",
			func(s *Source) *[]RepoSpec { return &s.Repos }),
		field("monitor.issues", boolean(), true,
			"github: watch issues",
			func(s *Source) *bool { return &s.Monitor.Issues }),
		field("monitor.pullRequests", boolean(), true,
			"github: watch pull requests",
			func(s *Source) *bool { return &s.Monitor.PullRequests }),
		field("host", hostKind(), "",
			"github: a GitHub Enterprise host, as refs name it; empty: github.com",
			func(s *Source) *string { return &s.Host }),
		field("baseUrl", urlKind(), "",
			"github: the REST API; empty: https://HOST/api/v3, for github.com integrations.github.api.baseUrl",
			func(s *Source) *string { return &s.BaseURL }),
		field("path", pathKind(), "",
			"inbox: the folder that holds the work items",
			func(s *Source) *string { return &s.Path }),
		field("name", text("OWNER/REPO, as for a repository", func(s string) bool { _, ok := parseRepo(s); return ok }), defaultInbox,
			"inbox: what refs call it",
			func(s *Source) *string { return &s.Name }),
	}
}

// sourceKind reads one source and checks what its own keys say of each other.
func sourceKind() kind[Source] {
	table := newSchema(sourceRows(), []string{"ghBinary"}, nil)
	k := kind[Source]{typ: "source", allowed: "a mapping that begins with provider: github or provider: inbox",
		show: func(s Source) string { return s.Provider }}
	k.read = func(r *reader, path string, n ast.Node) (Source, bool) {
		m, ok := n.(*ast.MappingNode)
		if !ok {
			r.invalid(path, n, k.allowed)
			return Source{}, false
		}
		s := walk(r, table, path, m)
		s.Line = r.at[path].line
		return checkSource(r, path, s), true
	}
	return k
}

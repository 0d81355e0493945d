package config

import "time"

// Paths that code outside the table speaks of.
const (
	sourcesPath   = "polling.sources"
	harnessesPath = "routing.harnesses"
	eventLogPath  = "eventLog.path"
	defaultRoot   = ".the-loop"
	defaultAPI    = "https://api.github.com"
	defaultHost   = "github.com"
	defaultLabel  = "the-loop: auto-execute"
)

func configSchema() schema[Config] {
	return newSchema(configRows(), unusedKeys(), movedKeys())
}

// configRows is the table: what a file may hold. One row is one key.
func configRows() []key[Config] {
	rows := []key[Config]{
		restart(field("state.root", pathKind(), defaultRoot,
			"everything generated lives below it; relative to the working directory",
			func(c *Config) *string { return &c.State.Root })),
		field("polling.intervalSeconds", seconds(), 60*time.Second,
			"between the starts of two cycles; 10 % jitter either way",
			func(c *Config) *time.Duration { return &c.Polling.Interval }),
		field("polling.maxRetries", integer(1, 1000), 3,
			"delivery attempts per event before giving up",
			func(c *Config) *int { return &c.Polling.MaxRetries }),
		field("polling.fullResyncSeconds", seconds(), time.Hour,
			"even unchanged items are read in full this often",
			func(c *Config) *time.Duration { return &c.Polling.FullResync }),
		field(sourcesPath+"[]", list(sourceKind()), nil,
			"what is watched; the poller does not start without one",
			func(c *Config) *[]Source { return &c.Polling.Sources }),
	}
	rows = append(rows, routingRows()...)
	return append(rows,
		field("integrations.github.api.tokenEnv", list(envKind()), []string{"GH_TOKEN", "GITHUB_TOKEN"},
			"where the token for github.com is looked for, before the login of gh",
			func(c *Config) *[]string { return &c.GitHubAPI.TokenEnv }),
		field("integrations.github.api.baseUrl", urlKind(), defaultAPI,
			"the REST API of sources on github.com",
			func(c *Config) *string { return &c.GitHubAPI.BaseURL }),
		field("eventLog.enabled", boolean(), true,
			"write the decision trail",
			func(c *Config) *bool { return &c.EventLog.Enabled }),
		restart(field(eventLogPath, pathKind(), "",
			"where; empty: logs/events.jsonl below state.root",
			func(c *Config) *string { return &c.EventLog.Path })),
		field("eventLog.maxMegabytes", megabytes(1, 100_000), 64<<20,
			"a file is rotated at this size",
			func(c *Config) *int64 { return &c.EventLog.MaxBytes }),
		field("eventLog.keep", integer(1, 1000), 5,
			"rotated files kept",
			func(c *Config) *int { return &c.EventLog.Keep }),
		restart(field("metrics.listen", listenKind(), "",
			"Prometheus endpoint; this machine only unless a host is named",
			func(c *Config) *string { return &c.Metrics.Listen })),
	)
}

// unusedKeys belong to the wider the-loop: accepted, with all that is below
// them, and named at start.
func unusedKeys() []string {
	return []string{
		"version", "graph", "channels", "standingSessions", "service", "webhooks", "notifications",
		"collaborators", "selfDiagnosis", "polling.enabled",
		"routing.enabled", "routing.registryDir", "routing.dedupCacheSize", "routing.graph", "routing.harnessPlugins",
		"routing.control.keywords.execute", "routing.workspace.defaultHost", "routing.workspace.gitBinary",
		"routing.tmux.sessionPerPr",
		"integrations.jira", "integrations.slack", "integrations.github.transport", "integrations.github.cli",
	}
}

// movedKeys once held what is kept elsewhere now. Going on without it would
// obey nobody, or do old work again: they stop the start.
func movedKeys() map[string]string {
	return map[string]string{
		"webhooks.ghWebhook.routing": "no longer read: move what is below it to the top-level key routing, then remove it here",
		"polling.stateFile": "no longer read: the ledger below state.root holds this now; " +
			"bring the old records over with 'the-loop migrate import-json', then remove this line",
	}
}

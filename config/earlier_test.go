package config_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"theloop/config"
)

// Where an earlier release kept its state is read from its configuration, also
// from one that the poller does not start with.
func TestLoadEarlier(t *testing.T) {
	for name, c := range map[string]struct {
		text                       string
		root, state, registry, bad string
	}{
		"nothing":         {"", ".the-loop", "", "", ""},
		"all of it":       {"state: {root: old}\npolling: {stateFile: polls.json}\nrouting: {registryDir: reg}\n", "old", "polls.json", "reg", ""},
		"an older place":  {"webhooks: {ghWebhook: {routing: {registryDir: reg}}}\n", ".the-loop", "", "reg", ""},
		"both places":     {"routing: {registryDir: new}\nwebhooks: {ghWebhook: {routing: {registryDir: old}}}\n", ".the-loop", "", "new", ""},
		"another fault":   {"polling: {stateFile: polls.json, intervalSeconds: -1}\n", "", "", "", "polling.intervalSeconds"},
		"no name":         {"polling: {stateFile: [polls.json]}\n", "", "", "", "where an earlier release kept its state"},
		"it is no YAML":   {"state: {root\n", "", "", "", ":1"},
		"no such file":    {"-", "", "", "", "no such file"},
		"no poll sources": {"polling: {sources: []}\n", ".the-loop", "", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cli-config.yaml")
			if c.text != "-" {
				if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			e, err := config.LoadEarlier(path)
			if c.bad != "" {
				var invalid *config.InvalidError
				if err == nil || !strings.Contains(err.Error(), c.bad) || strings.Contains(err.Error(), "no longer read") {
					t.Errorf("%v does not say %q", err, c.bad)
				}
				if name == "another fault" && (!errors.As(err, &invalid) || len(invalid.Problems) != 1) {
					t.Errorf("problems: %v", err)
				}
				return
			}
			if err != nil || e.Config.State.Root != c.root || e.StateFile != c.state || e.RegistryDir != c.registry {
				t.Errorf("%q %q %q, %v", e.Config.State.Root, e.StateFile, e.RegistryDir, err)
			}
		})
	}
}

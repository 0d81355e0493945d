package config

import (
	"fmt"
	"slices"

	"github.com/goccy/go-yaml"
)

// Earlier is what a configuration says of the state of an earlier release. Keys
// are as they stand in the file; an empty one is not there.
type Earlier struct {
	// Config is what this release takes from the file.
	Config Config
	// StateFile is the poll state (polling.stateFile), RegistryDir the folder of
	// control and session records (routing.registryDir).
	StateFile, RegistryDir string
}

// moved are the keys that keep the poller from starting, since what they named
// has moved into the ledger. They do not keep it from being brought over.
var moved = []string{"polling.stateFile", "webhooks.ghWebhook.routing"}

// LoadEarlier reads the file at path for an import. The error is an
// *InvalidError for anything that is wrong with it but for the keys that have
// to go once the import is done.
func LoadEarlier(path string) (Earlier, error) {
	data, err := read(path)
	if err != nil {
		return Earlier{}, err
	}
	c, r := parse(path, data)
	problems, _ := r.split()
	problems = slices.DeleteFunc(problems, func(p Problem) bool { return slices.Contains(moved, p.Key) })
	if len(problems) > 0 {
		return Earlier{}, &InvalidError{Problems: capped(problems)}
	}
	var old struct {
		Polling struct {
			StateFile string `yaml:"stateFile"`
		}
		Routing  oldRouting
		Webhooks struct {
			GhWebhook struct{ Routing oldRouting } `yaml:"ghWebhook"`
		}
	}
	if err := yaml.Unmarshal(data, &old); err != nil {
		return Earlier{}, fmt.Errorf("read where an earlier release kept its state, in %s: %w", path, err)
	}
	e := Earlier{Config: c, StateFile: old.Polling.StateFile, RegistryDir: old.Routing.RegistryDir}
	if e.RegistryDir == "" {
		e.RegistryDir = old.Webhooks.GhWebhook.Routing.RegistryDir
	}
	return e, nil
}

type oldRouting struct {
	RegistryDir string `yaml:"registryDir"`
}

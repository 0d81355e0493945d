package main

import (
	"fmt"
	"runtime"
)

type versionCmd struct{ format }

// Help is shown by --help.
func (versionCmd) Help() string {
	return "Example: the-loop version\n\nExit codes: 0 always."
}

// Run prints the release and what it was built with.
func (c *versionCmd) Run(d *deps) error {
	if c.json() {
		return d.printJSON(struct {
			Version  string `json:"version"`
			Go       string `json:"go"`
			Platform string `json:"platform"`
		}{release(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH})
	}
	return d.print(fmt.Sprintf("the-loop %s (%s, %s/%s)\n", release(), runtime.Version(), runtime.GOOS, runtime.GOARCH))
}

package main

import (
	"net/url"
	"slices"
	"strings"

	"theloop/config"
	"theloop/escape"
	"theloop/view"
	"theloop/workitem"
)

// hosts are where links may lead: the trackers of the configuration (A8). Without a
// configuration that can be read there are none.
func (d *deps) hosts(g *Global) []string {
	cfg, _, err := d.load(g)
	if err != nil {
		return nil
	}
	return hostsOf(cfg)
}

// hostsOf are the hosts of the sources: where people look at them, and where they
// answer programs.
func hostsOf(cfg config.Config) []string {
	var hosts []string
	for _, s := range cfg.Polling.Sources {
		if s.Provider != config.ProviderGitHub {
			continue
		}
		hosts = append(hosts, s.Host)
		if base, err := url.Parse(s.BaseURL); err == nil && base.Host != "" {
			hosts = append(hosts, base.Host)
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

// linkOf shows where an item, or a comment of it, is to be seen; also a note that may
// say so. What is in an inbox is a file of this machine.
func linkOf(ref, text string, hosts []string) string {
	if strings.HasPrefix(text, "file:///") && !strings.Contains(text, " ") {
		if r, err := workitem.ParseRef(ref); err == nil && r.Provider == config.ProviderInbox {
			return escape.Line(text)
		}
	}
	return view.Links(text, hosts)
}

package main

import (
	"regexp"
	"strings"

	"theloop/config"
	"theloop/workitem"
)

// refArg is a work item on the command line.
type refArg struct {
	Ref      string `arg:"" optional:"" placeholder:"REF" help:"A work item: github:octo/repo#15, inbox:local/demo#1, or the URL of an issue or pull request."`
	WorkItem string `placeholder:"REF" help:"The same as REF."`
}

func (r refArg) parse(d *deps, g *Global) (workitem.Ref, error) {
	text := r.Ref
	switch {
	case r.Ref != "" && r.WorkItem != "":
		return workitem.Ref{}, usage("the work item is given twice: %s and --work-item %s", r.Ref, r.WorkItem)
	case r.Ref == "":
		text = r.WorkItem
	}
	if text == "" {
		return workitem.Ref{}, usage("which work item? name it like github:octo/repo#15; 'the-loop ledger list' shows those that are known")
	}
	return d.ref(g, text)
}

// ref reads a work item of the command line. Of one that is spelled otherwise the error
// says how it is written.
func (d *deps) ref(g *Global, text string) (workitem.Ref, error) {
	ref, err := workitem.ParseRefOrURL(text)
	if err == nil {
		return ref, nil
	}
	if meant := d.meant(g, text); meant != "" {
		return ref, usage("%w; did you mean %s?", err, meant)
	}
	return ref, usage("%w", err)
}

// numbered is a number at the end as addresses have it.
var numbered = regexp.MustCompile(`(?:^|/(?:issues/|pulls?/)?)([0-9]+)$`)

// meant is the ref that a text is another spelling of, empty when that is not clear: a
// provider in capitals, a number behind a slash, an address without its scheme, or what
// stands behind the name of a source, when there is one such source only.
func (d *deps) meant(g *Global, text string) string {
	text = strings.TrimSpace(text)
	short := numbered.ReplaceAllString(text, "#$1")
	provider, rest, _ := strings.Cut(short, ":")
	for _, spelled := range []string{text, strings.ToLower(provider) + ":" + rest, "https://" + text} {
		if ref, err := workitem.ParseRefOrURL(spelled); err == nil {
			return ref.String()
		}
	}
	cfg, _, err := d.load(g)
	if err != nil {
		return ""
	}
	name, number, _ := strings.Cut(short, "#")
	var found []string
	for _, source := range watched(cfg) {
		_, path, _ := strings.Cut(source, ":")
		if name != "" && !strings.HasSuffix(strings.ToLower("/"+path), strings.ToLower("/"+name)) {
			continue
		}
		if ref, err := workitem.ParseRef(source + "#" + number); err == nil {
			found = append(found, ref.String())
		}
	}
	if len(found) == 1 {
		return found[0]
	}
	return ""
}

// watched are the repositories and folders of a configuration, as refs begin.
func watched(cfg config.Config) []string {
	var names []string
	for _, s := range cfg.Polling.Sources {
		if s.Provider == config.ProviderInbox {
			names = append(names, s.Provider+":"+s.Name)
		}
		for _, repo := range s.Repos {
			name := s.Provider + ":" + s.Host + "/" + repo.String()
			if ref, err := workitem.ParseRef(name + "#1"); err == nil { // leaves out a host that needs not be said
				name = strings.TrimSuffix(ref.String(), "#1")
			}
			names = append(names, name)
		}
	}
	return names
}

package main

import (
	"fmt"
	"slices"

	"theloop/config"
	"theloop/escape"
	"theloop/view"
)

type configGroup struct {
	Check  configCheckCmd  `cmd:"" help:"Check every key, with line and column."`
	Init   configInitCmd   `cmd:"" help:"Write a commented starter file."`
	Schema configSchemaCmd `cmd:"" help:"Every key, its default and its meaning."`
}

type configCheckCmd struct{ format }

// Help is shown by --help.
func (configCheckCmd) Help() string {
	return `Names what is wrong, with line and column, and what is allowed there. Keys that nobody knows are errors here and
warnings when the poller starts.

Example: the-loop config check -c cli-config.yaml

Exit codes: 0 the poller would take it, once a list of sources that was left empty names something to watch; 1 it would
not (nothing is said of what to watch, say), or a key is unknown.`
}

// Run prints the problems of the file.
func (c *configCheckCmd) Run(d *deps, g *Global) error {
	path, err := d.configFile(g)
	if err != nil {
		return err
	}
	problems, err := config.Check(path)
	if err != nil {
		return err
	}
	bad := 0
	for _, p := range problems {
		if p.Level == config.LevelError {
			bad++
		}
	}
	if c.json() {
		err = d.printJSON(checked(path, problems, bad == 0))
	} else {
		err = c.text(d, path, problems, bad)
	}
	if err == nil && bad > 0 {
		return no
	}
	return err
}

func (c *configCheckCmd) text(d *deps, path string, problems []config.Problem, bad int) error {
	text := ""
	for _, p := range problems {
		text += fmt.Sprintf("%s: %s\n", p.Level, escape.Text(p.String()))
	}
	return d.print(text + escape.Line(path) + ": " + verdict(problems, bad) + "\n")
}

// verdict is the last line of a check.
func verdict(problems []config.Problem, bad int) string {
	idle := slices.ContainsFunc(problems, func(p config.Problem) bool { return p.Key == "polling.sources" && p.Kind == config.Advice })
	switch {
	case bad > 0:
		return view.Count(bad, "error", "errors")
	case idle:
		return "good, but that it names nothing to watch"
	}
	return "good"
}

type checkedDoc struct {
	File     string       `json:"file"`
	Good     bool         `json:"good"`
	Problems []problemDoc `json:"problems"`
}

type problemDoc struct {
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Key     string `json:"key"`
	Level   string `json:"level"`
	Kind    string `json:"kind"`
	Message string `json:"message"`
	Found   string `json:"found"`
	Allowed string `json:"allowed"`
}

func checked(path string, problems []config.Problem, good bool) checkedDoc {
	doc := checkedDoc{File: path, Good: good, Problems: []problemDoc{}}
	for _, p := range problems {
		doc.Problems = append(doc.Problems, problemDoc{
			p.Line, p.Column, p.Key, string(p.Level), string(p.Kind), p.Message, p.Found, p.Allowed,
		})
	}
	return doc
}

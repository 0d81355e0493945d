package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"theloop/config"
	"theloop/escape"
	"theloop/view"
)

type configInitCmd struct {
	Inbox bool   `help:"Watch a folder of Markdown files instead of a repository; an example is made too."`
	To    string `placeholder:"FILE" help:"Where to write it (else what --config names, else .the-loop/cli-config.yaml)."`
}

// Help is shown by --help.
func (configInitCmd) Help() string {
	return `Nothing that exists is overwritten.

Example: the-loop config init --inbox

Exit codes: 0 written, 1 not (a file is in the way, or cannot be made).`
}

// starterPath is where every command looks first.
const starterPath = ".the-loop/cli-config.yaml"

// The modes of what belongs to the user alone.
const (
	privateFile   = 0o600
	privateFolder = 0o700
)

// Run writes the starter file, and the example inbox when it is asked for.
func (c *configInitCmd) Run(d *deps, g *Global) error {
	path, err := d.resolve(cmp.Or(c.To, g.Config, starterPath))
	if err != nil {
		return err
	}
	files := []starterFile{{path, config.Starter(c.Inbox)}}
	if c.Inbox {
		files = append(files, starterFile{filepath.Join(d.cwd, "inbox", "1", "item.md"), exampleItem})
	}
	for _, f := range files {
		if err := f.write(); err != nil {
			return err
		}
		if err := d.print("wrote " + escape.Line(f.path) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

type starterFile struct{ path, text string }

func (f starterFile) write() error {
	if err := os.MkdirAll(filepath.Dir(f.path), privateFolder); err != nil {
		return fmt.Errorf("make the folder of %s: %w", f.path, err)
	}
	file, err := os.OpenFile(f.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, privateFile)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s is there already and is left as it is; name another file with --to", f.path)
	}
	if err != nil {
		return fmt.Errorf("write the starter file: %w", err)
	}
	_, err = file.WriteString(f.text)
	return errors.Join(err, file.Close())
}

// exampleItem is the work item of `config init --inbox`.
const exampleItem = `---
title: Say hello
author: you
labels:
  - "the-loop: auto-execute"
state: open
---
Describe the work here. To start a session on it, write a file such as
comments/20260101T090000Z-you.md beside this one that says: the-loop start
`

type configSchemaCmd struct{ format }

// Help is shown by --help.
func (configSchemaCmd) Help() string {
	return "Example: the-loop config schema --format json\n\nExit codes: 0 always."
}

// Run prints every key.
func (c *configSchemaCmd) Run(d *deps) error {
	if c.json() {
		docs := []keyDoc{}
		for _, k := range config.Keys() {
			docs = append(docs, keyDoc(k))
		}
		return d.printJSON(docs)
	}
	t := view.Table{Columns: []view.Column{
		{Title: "KEY"}, {Title: "DEFAULT"}, {Title: "ALLOWED", Flexible: true}, {Title: "MEANING", Flexible: true},
	}}
	for _, k := range config.Keys() {
		t.Add(k.Path, dash(k.Default), k.Allowed, k.Doc)
	}
	return d.print(t.Render(d.style(), d.width()))
}

type keyDoc struct {
	Path         string `json:"path"`
	Type         string `json:"type"`
	Default      string `json:"default"`
	Allowed      string `json:"allowed"`
	Doc          string `json:"doc"`
	NeedsRestart bool   `json:"needsRestart"`
}

package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// misread says what is wrong with the command line, and where the help is of the
// command that it got as far as.
func misread(err error) error {
	var at *kong.ParseError
	command, node := "the-loop", (*kong.Node)(nil)
	if errors.As(err, &at) && at.Context != nil {
		node = at.Context.Model.Node
		for _, step := range at.Context.Path {
			if step.Command != nil {
				command, node = command+" "+step.Command.Name, step.Command
			}
		}
	}
	return usage("%s (see '%s --help')", plainly(err.Error(), node), command)
}

// plainly puts the library's words into a person's; what it has no better ones for stays.
func plainly(text string, node *kong.Node) string {
	if flag, _, found := strings.Cut(text, ": expected "); found && strings.HasSuffix(text, "(<EOL>)") {
		return flag + ": a value is missing behind it"
	}
	if flag, got, found := strings.Cut(text, ": expected a valid 64 bit int but got "); found {
		return flag + ": " + got + " is no whole number"
	}
	var missing []string
	switch {
	case node == nil:
	case strings.HasPrefix(text, "expected one of "):
		for _, child := range node.Children {
			if !child.Hidden {
				missing = append(missing, fmt.Sprintf("%q", child.Name))
			}
		}
		return "expected one of " + strings.Join(missing, ", ")
	case strings.HasPrefix(text, `expected "<`):
		for _, arg := range node.Positional {
			if strings.Contains(text, "<"+arg.Name+">") {
				missing = append(missing, "<"+arg.Name+"> is missing: "+sentence(arg.Help))
			}
		}
	case strings.HasPrefix(text, "missing flags: "):
		for _, flag := range node.Flags {
			if strings.Contains(text+"=", "--"+flag.Name+"=") {
				missing = append(missing, "--"+flag.Name+" is missing: "+sentence(flag.Help))
			}
		}
	}
	if len(missing) == 0 {
		return text
	}
	return strings.Join(missing, "; ")
}

// sentence is a help text within another sentence.
func sentence(help string) string {
	help = strings.TrimSuffix(help, ".")
	if len(help) < 2 || 'A' <= help[1] && help[1] <= 'Z' { // an abbreviation
		return help
	}
	return strings.ToLower(help[:1]) + help[1:]
}

// elsewhere are the verbs of the wider the-loop that agents, hooks and tickets may still
// say: what each belonged to, and what there is here.
var elsewhere = map[string]string{
	"ask":            "an agent's questions: here it writes them as a comment on its work item",
	"graph":          "the graph of work items, which is not kept here: 'the-loop ledger inspect REF' shows what is known of one",
	"check":          "the graph of work items, which is not kept here: 'the-loop config check' checks the configuration, 'the-loop ledger check' the ledger",
	"standing":       "standing sessions, which are not kept here: 'the-loop sessions start REF' starts a work item's, 'the-loop sessions list' shows them",
	"channels":       "channels, which are not kept here: people and agents talk on the work item",
	"start":          "the service: here it is 'the-loop poll start', or 'the-loop sessions start REF' for a session",
	"stop":           "the service: here it is 'the-loop poll stop', or 'the-loop sessions stop REF' for a session",
	"status":         "the service: here it is 'the-loop poll status'",
	"restart":        "the service: here it is 'the-loop poll stop && the-loop poll start --daemon'",
	"migrate-config": "configurations of before: here 'the-loop config check' says what has to be changed in one",
}

// belongedElsewhere is an error for those verbs; nil for every other line.
func belongedElsewhere(args []string) error {
	if len(args) > 1 && args[0] == "help" {
		args = args[1:]
	}
	if len(args) == 0 || elsewhere[args[0]] == "" {
		return nil
	}
	return usage("'%s' belonged to %s", args[0], elsewhere[args[0]])
}

package main

import (
	"errors"
	"strconv"
	"time"
)

// cli is the grammar.
type cli struct {
	Global

	Poll     pollGroup     `cmd:"" help:"Start, stop and look at the poller."`
	Ledger   ledgerGroup   `cmd:"" help:"What the poller has seen and done."`
	Sessions sessionsGroup `cmd:"" help:"The agent sessions."`
	Migrate  migrateGroup  `cmd:"" help:"Bring records of earlier releases in and take them out."`

	Events      eventsCmd   `cmd:"" help:"The decision trail: what was decided, when and why."`
	Config      configGroup `cmd:"" help:"The configuration file."`
	Version     versionCmd  `cmd:"" help:"Which release this is."`
	SessionExec execCmd     `cmd:"" hidden:"" help:"Runs in the pane of a session; not for people."`
	SessionView viewCmd     `cmd:"" hidden:"" help:"Runs in the web terminal; not for people."`
	LedgerLook  lookCmd     `cmd:"" hidden:"" help:"Looks at a ledger after an unclean stop; not for people."`
}

// Global are the flags that every command has, before or after the verb.
type Global struct {
	Config string `short:"c" placeholder:"FILE" help:"The configuration file (else $$THE_LOOP_CLI_CONFIG, ./.the-loop/cli-config.yaml, ~/.the-loop/cli-config.yaml)."`
}

// format is the flag of the commands that report.
type format struct {
	Format string `enum:"text,json" default:"text" help:"text for people, json for programs."`
}

func (f format) json() bool { return f.Format == "json" }

// duration is a length of time; a bare number is seconds.
type duration time.Duration

// UnmarshalText reads 90, 90s or 1m30s.
func (d *duration) UnmarshalText(text []byte) error {
	if n, err := strconv.ParseFloat(string(text), 64); err == nil && n >= 0 && n < 1e9 {
		*d = duration(n * float64(time.Second))
		return nil
	}
	parsed, err := time.ParseDuration(string(text))
	if err != nil || parsed < 0 {
		return errors.New(strconv.Quote(string(text)) + " is no length of time; write 30s, 5m, or a number of seconds")
	}
	*d = duration(parsed)
	return nil
}

package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"theloop/lock"
	"theloop/store"
)

// holder is another program that holds what the-loop wants, until it is told to
// stop:
//
//	holder lock PIDFILE COMMAND [TEXT]   the run lock; TEXT is put into the pidfile,
//	                                     $PID in it is its own, $VICTIM what victim.pid
//	                                     holds, $NL a newline
//	holder ledger FILE                   the ledger
//
// It makes a file holder.ready once it has it.
func holder() {
	if err := hold(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "holder:", err)
		os.Exit(1)
	}
}

func hold(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	release, err := grab(ctx, args)
	if err != nil {
		return err
	}
	if err := os.WriteFile("holder.ready", []byte("ready\n"), 0o600); err != nil {
		return err
	}
	<-ctx.Done()
	return release()
}

func spelledInPidfile(name string) string {
	switch name {
	case "VICTIM":
		pid, _ := os.ReadFile("victim.pid") // without it the pidfile names nobody
		return strings.TrimSpace(string(pid))
	case "NL":
		return "\n"
	}
	return fmt.Sprint(os.Getpid())
}

func grab(ctx context.Context, args []string) (release func() error, err error) {
	switch {
	case len(args) >= 3 && args[0] == "lock":
		l, err := lock.Acquire(ctx, args[1], args[2], nil)
		if err != nil {
			return nil, err
		}
		if len(args) == 4 { // over what Acquire wrote, into the locked file itself
			text := os.Expand(args[3], spelledInPidfile)
			err = os.WriteFile(args[1], []byte(text), 0o600)
		}
		return l.Release, err
	case len(args) == 2 && args[0] == "ledger":
		l, err := store.Open(ctx, store.Options{Path: args[1], Writer: "holder"})
		if err != nil {
			return nil, err
		}
		return l.Close, nil
	}
	return nil, fmt.Errorf("it does not know %q", args)
}
